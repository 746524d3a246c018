// SPDX-License-Identifier: Apache-2.0
//
// Names of memory as the user wrote them: members of globals from DWARF; for memory without a name
// of its own the expression on the source line, when DWARF agrees that its member lies there.
#pragma once

#include <string>

#include "analysis/finding.h"
#include "ir/member_table.h"
#include "report/text/source_lines.h"

namespace heddle::cli {

class VariableNames {
 public:
  explicit VariableNames(const std::filesystem::path& program)
      : members_(ir::MemberTable::of_file(program)) {}

  /// "queue->mut", "g_cfg.limit"; as the trace names it where neither says more.
  std::string of(const analysis::FoundPair& pair);

  /// The expression of `line` closest to `column` whose last member lies at `offset`; empty: none.
  static std::string expression(const std::string& line, std::uint32_t column,
                                const ir::MemberTable& members, std::uint64_t offset);

 private:
  ir::MemberTable members_;
  report::SourceLines sources_;
};

/// Puts them into all pairs.
void name_variables(analysis::Localisation& localisation, const std::filesystem::path& program);

}  // namespace heddle::cli
