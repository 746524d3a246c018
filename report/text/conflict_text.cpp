// SPDX-License-Identifier: Apache-2.0
#include "report/text/conflict_text.h"

#include <fmt/format.h>

#include "report/text/finding_text.h"
#include "report/text/source_lines.h"
#include "trace/words.h"

namespace heddle::report {
namespace {

using analysis::Conflict;
using analysis::ConflictKind;
using analysis::Effect;
using analysis::FoundAccess;
using analysis::OrderTrial;

std::string place(const FoundAccess& access) {
  return fmt::format("{}:{}", trace::base_name(access.frame.file), access.frame.line);
}

std::string conclusion(const OrderTrial& order) {
  switch (order.effect) {
    case Effect::Fails: return "the program fails when this happens";
    case Effect::Often: return "it fails more often";
    case Effect::Elsewhere: return "it fails without meeting there: another conflict is behind it";
    case Effect::Harmless: return "harmless";
    case Effect::NotMet: return "the two hardly ever meet";
    case Effect::Untried: break;
  }
  return "not tried";
}

std::string order_text(const FoundAccess& first, const FoundAccess& second) {
  return fmt::format("{} {} -> {} {}", place(first), deed(first.role), place(second),
                     deed(second.role));
}

std::string percent(std::uint32_t count, std::uint32_t runs) {
  return runs == 0 ? "-" : fmt::format("{:.0f} %", 100.0 * count / runs);
}

}  // namespace

std::string headline_of(ConflictKind kind) {
  switch (kind) {
    case ConflictKind::Race: return "data race";
    case ConflictKind::Lifetime: return "use and end of the same object, unordered";
    case ConflictKind::Lock: return "contention for a lock";
    case ConflictKind::Condition: return "wait and notification, unordered";
    case ConflictKind::Semaphore: return "contention for a semaphore";
    case ConflictKind::Atomic: return "contention for an atomic variable";
  }
  return "conflict";
}

std::string headline_of(const Conflict& conflict) {
  const char* const doubt = conflict.observed ? "" : " (potential: no run has shown it)";
  return fmt::format("{}: {}{}", headline_of(conflict.kind), conflict.pair.variable, doubt);
}

std::string order_text(const Conflict& conflict, const OrderTrial& order) {
  const FoundAccess& first = order.is_reversed ? conflict.pair.second : conflict.pair.first;
  const FoundAccess& second = order.is_reversed ? conflict.pair.first : conflict.pair.second;
  return order_text(first, second);
}

std::string effect_text(const OrderTrial& order) {
  return fmt::format("fails in {} of {} runs, hit in {}", order.native.failures, order.native.runs,
                     order.native.hits);
}

std::string conflict_text(const Conflict& conflict, std::size_t rank, const Style& style) {
  SourceLines sources;
  std::string text = style.paint(Paint::Bold, fmt::format("{}. {}", rank, headline_of(conflict)));
  text += '\n';
  for (const FoundAccess* access : {&conflict.pair.first, &conflict.pair.second}) {
    std::string source = sources(access->frame.file, access->frame.line);
    source.erase(0, source.find_first_not_of(" \t"));
    text += fmt::format("     {:<7} {:<9} {} ({})  {}\n", access->thread, deed(access->role),
                        style.paint(Paint::Place, place(*access)), access->frame.function,
                        style.paint(Paint::Dim, source));
  }
  for (const analysis::FoundPair& pair : conflict.about) {
    text += fmt::format("     about {}: {} {}, {} {}\n", pair.variable, place(pair.first),
                        deed(pair.first.role), place(pair.second), deed(pair.second.role));
  }
  for (const OrderTrial& order : conflict.orders) {
    const bool fails = order.effect == Effect::Fails || order.effect == Effect::Often;
    const std::string controlled =
        order.controlled_failures == 0
            ? ""
            : fmt::format("; under control {} of {}", order.controlled_failures,
                          order.controlled_runs);
    text += fmt::format("   {:<44} fails {:>5}  hit {:>5}  {}{}\n", order_text(conflict, order),
                        percent(order.native.failures, order.native.runs),
                        percent(order.native.hits, order.native.runs),
                        style.paint(fails ? Paint::Failure : Paint::Plain, conclusion(order)),
                        controlled);
    if (order.after) {
      text += fmt::format("     after {}\n", order_text(order.after->first, order.after->second));
    }
  }
  return text;
}

}  // namespace heddle::report
