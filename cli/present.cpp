// SPDX-License-Identifier: Apache-2.0
#include "cli/present.h"

#include <fmt/format.h>

#include "report/text/story.h"

namespace heddle::cli {

std::string story_text(const trace::Trace& trace, const Terminal& terminal,
                       const std::vector<bool>& shown) {
  report::StoryOptions options;
  options.colour = terminal.colour;
  options.unicode = terminal.unicode;
  options.width = terminal.width;
  options.shown = shown;
  return report::story(trace, options);
}

void print_next(const std::string& run, bool is_reduced) {
  fmt::print("Bring it back:   heddle replay {0}\n", run);
  if (!is_reduced) fmt::print("Make it smaller: heddle reduce {0}\n", run);
  fmt::print(
      "Find the cause:  heddle locate {0}\n"
      "Every event:     heddle show {0} --events\n",
      run);
}

bool is_reduced(const store::RunSummary& run) {
  return run.command == "reduce";
}

void print_leak(std::uint64_t schedule, const std::string& difference) {
  fmt::print(stderr,
             "heddle: schedule {} gave another run when it was repeated: something reaches the "
             "program that Heddle does not control (docs/limits.md)\nFirst difference: {}\n",
             schedule, difference);
}

std::string size_text(const store::RunSummary& run) {
  return fmt::format("{} threads, {} events, {} switches, {} preemptions", run.threads, run.events,
                     run.switches, run.preemptions);
}

}  // namespace heddle::cli
