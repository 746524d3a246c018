// SPDX-License-Identifier: Apache-2.0
#include "report/conflict_json.h"

#include <fmt/format.h>

#include <map>

#include "report/finding_json.h"
#include "report/json.h"
#include "report/pin_json.h"
#include "report/sarif.h"
#include "report/text/conflict_text.h"
#include "report/text/finding_text.h"

namespace heddle::report {
namespace {

using analysis::Conflict;
using analysis::Effect;
using analysis::OrderTrial;
using nlohmann::json;

const analysis::FoundAccess& first_of(const Conflict& conflict, const OrderTrial& order) {
  return order.is_reversed ? conflict.pair.second : conflict.pair.first;
}
const analysis::FoundAccess& second_of(const Conflict& conflict, const OrderTrial& order) {
  return order.is_reversed ? conflict.pair.first : conflict.pair.second;
}

json row_json(const Conflict& conflict, const OrderTrial& order, std::size_t rank) {
  const json native = to_json(order.native);
  json row = {
      {"conflict", rank},
      {"kind", analysis::to_text(conflict.kind)},
      {"variable", text_json(conflict.pair.variable)},
      {"observed", conflict.observed},
      {"seen_in_runs", conflict.runs},
      {"first", to_json(first_of(conflict, order))},
      {"second", to_json(second_of(conflict, order))},
      {"order", text_json(order_text(conflict, order))},
      {"failure_percent", native["failure_percent"]},
      {"hit_percent", native["hit_percent"]},
      {"effect", analysis::to_text(order.effect)},
      {"native", native},
      {"controlled", {{"runs", order.controlled_runs}, {"failures", order.controlled_failures}}},
      {"breakpoints", json::array()}};
  row["native"]["failed_hits"] = order.native.failed_hits;
  row["about"] = json::array();
  for (const analysis::FoundPair& pair : conflict.about) {
    row["about"].push_back({{"variable", text_json(pair.variable)},
                            {"first", to_json(pair.first)},
                            {"second", to_json(pair.second)}});
  }
  if (order.after) {
    row["after"] = {{"first", to_json(order.after->first)},
                    {"second", to_json(order.after->second)}};
  }
  for (const trace::PinBreakpoint& breakpoint : order.pins) {
    row["breakpoints"].push_back(to_json(breakpoint));
  }
  return row;
}

bool makes_it_fail(const OrderTrial& order) {
  return order.effect == Effect::Fails || order.effect == Effect::Often;
}

json flow_json(const Conflict& conflict, const OrderTrial& order) {
  json flows = json::array();
  int number = 0;
  for (const analysis::FoundAccess* access :
       {&first_of(conflict, order), &second_of(conflict, order)}) {
    const std::string what =
        fmt::format("{} {} {}", access->thread, deed(access->role), conflict.pair.variable);
    flows.push_back(
        {{"id", fmt::format("{} ({})", access->thread, number + 1)},
         {"locations",
          {{{"executionOrder", number + 1}, {"location", sarif_location(*access, what)}}}}});
    ++number;
  }
  return {{"message", {{"text", text_json(order_text(conflict, order))}}}, {"threadFlows", flows}};
}

}  // namespace

json rows_json(const analysis::Conflicts& conflicts) {
  json rows = json::array();
  for (std::size_t i = 0; i < conflicts.found.size(); ++i) {
    for (const OrderTrial& order : conflicts.found[i].orders) {
      rows.push_back(row_json(conflicts.found[i], order, i + 1));
    }
  }
  return rows;
}

json to_sarif(const analysis::Conflicts& conflicts, const std::string& version) {
  json rules = json::array();
  json results = json::array();
  std::map<std::string, std::size_t> rule_index;
  for (std::size_t i = 0; i < conflicts.found.size(); ++i) {
    const Conflict& conflict = conflicts.found[i];
    const std::string id = fmt::format("conflict-{}", analysis::to_text(conflict.kind));
    const auto [entry, is_new] = rule_index.emplace(id, rules.size());
    if (is_new) {
      rules.push_back({{"id", id}, {"shortDescription", {{"text", headline_of(conflict.kind)}}}});
    }
    json flows = json::array();
    std::string text = headline_of(conflict);
    for (const OrderTrial& order : conflict.orders) {
      text += fmt::format("; {}: {}", order_text(conflict, order), effect_text(order));
      if (makes_it_fail(order)) flows.push_back(flow_json(conflict, order));
    }
    json result = {
        {"ruleId", id},
        {"ruleIndex", entry->second},
        {"level", flows.empty() ? "note" : "error"},
        {"message", {{"text", text_json(text)}}},
        {"locations", {sarif_location(conflict.pair.first, headline_of(conflict))}},
        {"relatedLocations", {sarif_location(conflict.pair.second, headline_of(conflict))}}};
    if (!flows.empty()) result["codeFlows"] = flows;
    results.push_back(std::move(result));
  }
  return sarif_log(rules, results, version);
}

}  // namespace heddle::report
