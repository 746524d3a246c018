// SPDX-License-Identifier: Apache-2.0
#include "cli/variable_names.h"

#include <cstdlib>
#include <regex>

namespace heddle::cli {

std::string VariableNames::expression(const std::string& line, std::uint32_t column,
                                      const ir::MemberTable& members, std::uint64_t offset) {
  static const std::regex pattern(R"([A-Za-z_]\w*(?:(?:->|\.)[A-Za-z_]\w*|\[[^\]]*\])*)");
  std::string best;
  long best_distance = 0;
  for (std::sregex_iterator it(line.begin(), line.end(), pattern), end; it != end; ++it) {
    std::string text = it->str();
    const auto after = static_cast<std::size_t>(it->position()) + text.size();
    if (after < line.size() && line[after] == '(') {  // a call: its object is what is accessed
      const std::size_t dot = text.find_last_of(".>");
      if (dot == std::string::npos) continue;
      text.resize(text[dot] == '>' ? dot - 1 : dot);
    }
    std::string member =
        text.substr(0, text.find('[') == std::string::npos ? text.size() : text.rfind('['));
    const std::size_t separator = member.find_last_of(".>");
    member = separator == std::string::npos ? member : member.substr(separator + 1);
    if (!members.has(member, offset)) continue;
    const long begin = it->position() + 1;
    const long finish = begin + static_cast<long>(text.size());
    const long at = column;
    // A bare name is a member only where there is no object to write before it.
    const long bare = separator == std::string::npos ? 1000 : 0;
    const long distance = bare + (at < begin ? begin - at : at > finish ? at - finish : 0);
    if (best.empty() || distance < best_distance) {
      best = text;
      best_distance = distance;
    }
  }
  return best;
}

std::string VariableNames::of(const analysis::FoundPair& pair) {
  if (pair.object_kind == trace::ObjectKind::Static) {
    const std::string member = members_.member_of_global(pair.object, pair.offset);
    return member.empty() ? pair.variable : pair.object + member;
  }
  for (const analysis::FoundAccess* access : {&pair.second, &pair.first}) {
    if (access->frame.file.empty()) continue;
    std::string line = sources_(access->frame.file, access->frame.line);
    if (const std::size_t comment = line.find("//"); comment != std::string::npos) {
      line.resize(comment);
    }
    std::string name = expression(line, access->frame.column, members_, pair.offset);
    if (!name.empty()) return name;
  }
  return pair.variable;
}

void name_variables(analysis::Localisation& localisation, const std::filesystem::path& program) {
  VariableNames names(program);
  for (analysis::Finding& finding : localisation.findings) {
    for (analysis::FoundPair& pair : finding.pairs) pair.variable = names.of(pair);
  }
}

}  // namespace heddle::cli
