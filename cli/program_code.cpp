// SPDX-License-Identifier: Apache-2.0
#include "cli/program_code.h"

#include <optional>
#include <utility>

#include "base/error.h"

namespace heddle::cli {

std::unique_ptr<ProgramCode> ProgramCode::open(const std::string& program,
                                               const std::string& build_id,
                                               const driver::Progress& progress) {
  try {
    driver::Program opened =
        driver::Program::open(program, progress, abi::Variant::Full.with(abi::Variant::Depends));
    if (opened.sites() == nullptr || opened.build_id() != build_id) return nullptr;
    return std::unique_ptr<ProgramCode>(new ProgramCode(std::move(opened)));
  } catch (const Error& error) {
    if (error.code() == ExitCode::Defect) throw;
    return nullptr;
  }
}

ProgramCode::ProgramCode(driver::Program program)
    : program_(std::move(program)),
      graph_(ir::DependenceGraph::of_program(program_.executable())) {}

std::vector<bool> ProgramCode::slice_of_failure(const trace::Trace& trace) const {
  analysis::Code code{graph_, {}};
  for (const trace::Site& site : trace.sites) {
    const std::optional<abi::SiteId> id = program_.sites()->by_key(site.key);
    const auto info = id ? program_.sites()->find(*id) : std::nullopt;
    const bool is_known = info && info->instruction <= graph_.instruction_count();
    code.instructions.push_back(is_known ? info->instruction : 0);
  }
  return analysis::slice_of_failure(trace, &code).contains;
}

}  // namespace heddle::cli
