// SPDX-License-Identifier: Apache-2.0
#include "report/sarif.h"

#include <algorithm>

#include "report/json.h"

namespace heddle::report {

using nlohmann::json;

json sarif_location(const analysis::FoundAccess& access, const std::string& message) {
  json location = {{"message", {{"text", text_json(message)}}}};
  if (!access.frame.file.empty()) {
    json region = {{"startLine", std::max(1u, access.frame.line)}};
    if (access.frame.column > 0) region["startColumn"] = access.frame.column;
    location["physicalLocation"] = {{"artifactLocation", {{"uri", text_json(access.frame.file)}}},
                                    {"region", region}};
    location["logicalLocations"] = {{{"name", text_json(access.frame.function)}}};
  }
  return location;
}

json sarif_log(const json& rules, const json& results, const std::string& version) {
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs",
           {{{"tool",
              {{"driver", {{"name", "heddle"}, {"semanticVersion", version}, {"rules", rules}}}}},
             {"columnKind", "utf16CodeUnits"},
             {"results", results}}}}};
}

}  // namespace heddle::report
