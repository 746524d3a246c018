// SPDX-License-Identifier: Apache-2.0
#include "cli/run_code.h"

#include <optional>
#include <utility>

#include "base/error.h"

namespace heddle::cli {

std::unique_ptr<RunCode> RunCode::open(const driver::StartedProgram& program,
                                       const std::string& build_id, abi::Variant variant,
                                       const driver::Progress& progress) {
  try {
    driver::Program opened = driver::Program::open(program, progress, variant);
    if (opened.sites() == nullptr || opened.build_id() != build_id) return nullptr;
    return std::unique_ptr<RunCode>(new RunCode(std::move(opened)));
  } catch (const Error& error) {
    if (error.code() == ExitCode::Defect) throw;
    return nullptr;
  }
}

RunCode::RunCode(driver::Program program)
    : program_(std::move(program)),
      graph_(ir::DependenceGraph::of_program(program_.executable())) {}

analysis::Code RunCode::of(const trace::Trace& trace) const {
  analysis::Code code{graph_, {}};
  for (const trace::Site& site : trace.sites) {
    const std::optional<abi::SiteId> id = program_.sites()->by_key(site.key);
    const auto info = id ? program_.sites()->find(*id) : std::nullopt;
    const bool is_known = info && info->instruction <= graph_.instruction_count();
    code.instructions.push_back(is_known ? info->instruction : 0);
  }
  return code;
}

}  // namespace heddle::cli
