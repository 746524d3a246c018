// SPDX-License-Identifier: Apache-2.0
//
// What the code of a program depends on (pass/dependences.h), for the sites of a trace of it.
#pragma once

#include <memory>

#include "analysis/slice/slice.h"
#include "driver/program.h"

namespace heddle::cli {

class ProgramCode {
 public:
  /// nullptr where there is no such table for the program that was run: it was not built by
  /// heddle-cc, it is not there any more, or it is another build than `build_id`.
  static std::unique_ptr<ProgramCode> open(const std::string& program, const std::string& build_id,
                                           const driver::Progress& progress);

  /// The events of the trace that its failure may depend on.
  std::vector<bool> slice_of_failure(const trace::Trace& trace) const;

 private:
  explicit ProgramCode(driver::Program program);

  driver::Program program_;
  ir::DependenceGraph graph_;
};

}  // namespace heddle::cli
