// SPDX-License-Identifier: Apache-2.0
#include "cli/search_status.h"

#include <fmt/format.h>

namespace heddle::cli {
namespace {

std::string schedules_text(const driver::ExploreStatus& status, std::uint64_t limit) {
  const double rate =
      status.seconds > 0 ? static_cast<double>(status.schedules) / status.seconds : 0;
  return fmt::format("{}{} schedules, {:.0f} a second", status.schedules,
                     limit == 0 ? "" : fmt::format(" of {}", limit), rate);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string status_line(const driver::ExploreStatus& status, const driver::SearchStatus& search,
                        std::uint64_t limit) {
  std::string text = fmt::format("{}, {} failing ({} distinct), {} reads-from pairs",
                                 schedules_text(status, limit), status.failing,
                                 status.distinct_failures, search.pairs);
  if (search.bound) {
    text += fmt::format(", {} waiting at bound {}", search.waiting, *search.bound);
  }
  return text;
}

std::string status_panel(const driver::ExploreStatus& status, const driver::SearchStatus& search,
                         std::uint64_t limit) {
  std::string text =
      fmt::format("{}  {}\n", clock_text(status.seconds), schedules_text(status, limit));
  text += fmt::format("  depth      {:.0f} events a schedule\n", search.mean_events);
  text += fmt::format("  seen       {} reads-from pairs, {} sets of them\n", search.pairs,
                      search.behaviours);
  if (search.bound) {
    text += fmt::format("  bound {:<4} {} schedules known to be left at it\n", *search.bound,
                        search.waiting);
  }
  if (search.exhausted) {
    text += fmt::format("  tried      every schedule within bound {}\n", *search.exhausted);
  }
  for (const driver::StrategyStatus& strategy : search.strategies) {
    text += fmt::format("  {:<10} {} schedules, {} new pairs, {} failing\n", strategy.name,
                        strategy.trials, strategy.new_pairs, strategy.failing);
  }
  text += fmt::format("  failures   {} of {} signature{}", status.failing, status.distinct_failures,
                      status.distinct_failures == 1 ? "" : "s");
  for (const auto& [signature, count] : status.failures) {
    text += fmt::format("\n  {:>9}x {}", count, signature);
  }
  return text;
}

}  // namespace heddle::cli
