// SPDX-License-Identifier: Apache-2.0
//
// What the code of a program that was run depends on (pass/dependences.h), for traces of it.
#pragma once

#include <memory>
#include <string>

#include "analysis/slice/slice.h"
#include "driver/program.h"

namespace heddle::cli {

class RunCode {
 public:
  /// nullptr where there is no such table for the program that was run: it was not built by
  /// heddle-cc, it is not there any more, or it is another build than `build_id`. `variant` has the
  /// extra `depends`.
  static std::unique_ptr<RunCode> open(const driver::StartedProgram& program,
                                       const std::string& build_id, abi::Variant variant,
                                       const driver::Progress& progress);
  RunCode(const RunCode&) = delete;
  RunCode& operator=(const RunCode&) = delete;

  const driver::Program& program() const { return program_; }
  /// Refers to this object.
  analysis::Code of(const trace::Trace& trace) const;

 private:
  explicit RunCode(driver::Program program);

  driver::Program program_;
  ir::DependenceGraph graph_;
};

}  // namespace heddle::cli
