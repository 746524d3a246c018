// SPDX-License-Identifier: Apache-2.0
//
// What a recorded run was told from outside, as its replay is told it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "abi/channel.h"

namespace heddle::driver {

/// A plain file that the program read.
struct InputFile {
  std::string given;   // as the program named it
  std::string path;    // where that is
  std::string sha256;  // of its contents
  std::uint64_t size = 0;
  std::string copy;     // where the contents are kept; empty: nowhere
  std::string instead;  // what the program gets; empty: the file itself
  bool operator==(const InputFile&) const = default;
};

struct Outside {
  std::map<std::string, std::string> answers;  // by thread path: abi::Answers
  std::vector<InputFile> files;
  std::int32_t process = 0;  // its id
  bool operator==(const Outside&) const = default;
};

/// Decides for each file whether it is still what it was or its copy has to stand in for it.
/// user_error when there is neither.
void resolve_files(Outside& outside);

/// The regions of the channel that tell it.
struct ToldRegions {
  std::vector<abi::AnswerStream> streams;
  std::string answers;
  std::vector<abi::FileCopy> copies;
  std::string names;
};
ToldRegions told_regions(const Outside& outside);

}  // namespace heddle::driver
