// SPDX-License-Identifier: Apache-2.0
//
// Where an instruction comes from, in the words of the person who wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"

namespace heddle::pass {

struct SourceFrame {
  std::string function;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::int64_t relative_line = 0;  // counted from the function's own first line; 0 if unknown
};

/// The name a person writes: `Queue::push` for _ZN5QueueIiE4pushERKi. Parameters, template
/// arguments and unnamed namespaces are dropped; there are no spaces in it.
std::string readable_name(llvm::StringRef symbol);

/// Innermost inlined function first, `function` itself last; never empty. `location` may be null.
std::vector<SourceFrame> source_frames(const llvm::DILocation* location,
                                       const llvm::Function& function);

}  // namespace heddle::pass
