// SPDX-License-Identifier: Apache-2.0
#include "report/finding_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "report/json.h"
#include "report/sarif.h"
#include "report/text/finding_text.h"

namespace heddle::report {
namespace {

using analysis::FoundAccess;
using nlohmann::json;

json experience_json(const analysis::Experience& experience) {
  return {{"possible", experience.possible}, {"held", experience.held}};
}

/// Each access of the finding's pairs once, by thread, in the order of the failing run.
json thread_flows(const analysis::Finding& finding) {
  struct Step {
    const FoundAccess* access;
    std::string variable;
  };
  std::vector<Step> steps;
  for (const analysis::FoundPair& pair : finding.pairs) {
    for (const FoundAccess* access : {&pair.first, &pair.second}) {
      const bool known = std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
        return step.access->point == access->point;
      });
      if (!known) steps.push_back({access, pair.variable});
    }
  }
  std::sort(steps.begin(), steps.end(), [](const Step& x, const Step& y) {
    return x.access->event.value_or(~std::size_t{0}) < y.access->event.value_or(~std::size_t{0});
  });
  std::map<std::string, json> flows;
  int order = 0;
  for (const Step& step : steps) {
    json& flow = flows[step.access->thread];
    flow["id"] = step.access->thread;
    flow["locations"].push_back(
        {{"executionOrder", ++order},
         {"location",
          sarif_location(*step.access, fmt::format("{} {} {}", step.access->thread,
                                                   deed(step.access->role), step.variable))}});
  }
  json result = json::array();
  for (auto& [thread, flow] : flows) result.push_back(std::move(flow));
  return result;
}

}  // namespace

json to_json(const FoundAccess& access) {
  json result = {{"thread", access.thread},
                 {"role", access.role},
                 {"site", text_json(access.point.site)},
                 {"occurrence", access.point.occurrence},
                 {"file", nullptr},
                 {"line", nullptr},
                 {"function", nullptr},
                 {"event", nullptr},
                 {"loops", json::array()},
                 {"context", json::array()}};
  if (!access.frame.file.empty()) {
    result["file"] = text_json(access.frame.file);
    result["line"] = access.frame.line;
    result["function"] = text_json(access.frame.function);
  }
  if (access.event) result["event"] = *access.event;
  for (const trace::Frame& function : access.context) {
    result["context"].push_back({{"function", text_json(function.function)},
                                 {"file", text_json(function.file)},
                                 {"line", function.line}});
  }
  for (const analysis::FoundLoop& loop : access.loops) {
    json entry = {{"site", text_json(loop.site)},
                  {"file", nullptr},
                  {"line", nullptr},
                  {"entry", loop.entry},
                  {"iteration", loop.iteration}};
    if (!loop.frame.file.empty()) {
      entry["file"] = text_json(loop.frame.file);
      entry["line"] = loop.frame.line;
    }
    result["loops"].push_back(std::move(entry));
  }
  return result;
}

json to_json(const analysis::Finding& finding) {
  json result = {{"rank", finding.rank},
                 {"procedure", finding.procedure},
                 {"level", finding.level},
                 {"class", analysis::to_text(finding.bug_class)},
                 {"shape", nullptr},
                 {"confirmed", finding.confirmed},
                 {"forbidden", experience_json(finding.forbidden)},
                 {"enforced", experience_json(finding.enforced)},
                 {"pairs", json::array()},
                 {"regions", json::array()}};
  if (finding.score) result["score"] = *finding.score;
  if (finding.shape) result["shape"] = *finding.shape;
  for (const analysis::FoundPair& pair : finding.pairs) {
    result["pairs"].push_back({{"variable", text_json(pair.variable)},
                               {"first", to_json(pair.first)},
                               {"second", to_json(pair.second)},
                               {"in_failed_run", pair.in_failed_run},
                               {"suspicious", pair.suspicious}});
  }
  for (const analysis::Region& region : finding.regions) {
    result["regions"].push_back({{"first", to_json(region.first)}, {"last", to_json(region.last)}});
  }
  return result;
}

json to_sarif(const analysis::Localisation& localisation, const std::string& version) {
  json rules = json::array();
  json results = json::array();
  std::map<std::string, std::size_t> rule_index;
  for (const analysis::Finding& finding : localisation.findings) {
    const std::string id = analysis::to_text(finding.bug_class);
    const auto [entry, is_new] = rule_index.emplace(id, rules.size());
    if (is_new)
      rules.push_back({{"id", id}, {"shortDescription", {{"text", headline_of(finding)}}}});
    json locations = json::array();
    if (!finding.pairs.empty()) {
      locations.push_back(sarif_location(finding.pairs.front().first, headline_of(finding)));
    }
    results.push_back({{"ruleId", id},
                       {"ruleIndex", entry->second},
                       {"rank", std::max(0.0, 100.0 - 10.0 * (finding.rank - 1))},
                       {"level", finding.confirmed ? "error" : "warning"},
                       {"message", {{"text", text_json(sentence_of(finding))}}},
                       {"locations", locations},
                       {"codeFlows", {{{"threadFlows", thread_flows(finding)}}}}});
  }
  return sarif_log(rules, results, version);
}

}  // namespace heddle::report
