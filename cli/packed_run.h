// SPDX-License-Identifier: Apache-2.0
//
// A run that `heddle pack` made a file of, unpacked for as long as this lives: it brings its
// program, that program's libraries and its input files along.
#pragma once

#include <filesystem>

#include "driver/program.h"
#include "driver/replayer.h"
#include "driver/target.h"
#include "store/run_files.h"

namespace heddle::cli {

inline constexpr char kPackProgram[] = "program";
inline constexpr char kPackLoader[] = "loader";
inline constexpr char kPackLibraries[] = "libraries";
inline constexpr char kPackVariants[] = "variants";  // of libraries: one numbered directory each
inline constexpr char kPackRun[] = "run";

class PackedRun {
 public:
  explicit PackedRun(const std::filesystem::path& file);

  const store::RunSummary& summary() const { return summary_; }
  const driver::Program& program() const { return program_; }
  const driver::Inputs& inputs() const { return inputs_; }
  driver::Expectation expectation() const;

 private:
  std::filesystem::path run() const { return directory_.path() / kPackRun; }

  store::TemporaryDirectory directory_;
  store::RunSummary summary_;
  driver::Inputs inputs_;
  driver::Program program_;
};

}  // namespace heddle::cli
