// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/slice.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "store/store.h"
#include "trace/words.h"

namespace heddle::cli {
namespace {

struct SliceFlags {
  std::string run = "latest";
  std::optional<std::uint64_t> at;
};

ExitCode slice(const SliceFlags& flags, bool json) {
  const store::Store store = store::Store::open_existing();
  const store::RunSummary run = store.find(flags.run);
  const trace::Trace trace = store.load_trace(run.id);
  const auto begin = std::chrono::steady_clock::now();
  const analysis::Slice slice =
      analysis::slice(trace, flags.at.value_or(analysis::failing_event(trace)));
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto where = [&](std::size_t event) {
    const trace::Frame* const frame = trace::source_frame(trace, trace.events[event].site);
    return frame == nullptr ? std::string("-")
                            : fmt::format("{}:{}", trace::base_name(frame->file), frame->line);
  };
  if (json) {
    nlohmann::json object = json_result("slice", "done", run.id, seconds);
    object["at"] = slice.at;
    object["events"] = trace.events.size();
    object["events_in_slice"] = slice.size;
    object["slice"] = nlohmann::json::array();
    for (std::size_t i = 0; i < slice.contains.size(); ++i) {
      if (slice.contains[i]) object["slice"].push_back(i);
    }
    object["reasons"] = nlohmann::json::array();
    for (const analysis::Dependence& reason : slice.reasons) {
      object["reasons"].push_back(
          {{"from", reason.from}, {"to", reason.to}, {"kind", analysis::name_of(reason.kind)}});
    }
    print_json(object);
    return ExitCode::Done;
  }
  fmt::print("Event {} of {} may depend on {} of the {} events up to it:\n\n", slice.at, run.id,
             slice.size - 1, slice.at);
  for (std::size_t i = 0; i < slice.contains.size(); ++i) {
    if (!slice.contains[i]) continue;
    const trace::Event& event = trace.events[i];
    fmt::print("{:>6}  {:<8} {:<16} {}\n", i, trace.threads[event.thread].path, where(i),
               trace::describe(trace, event));
  }
  return ExitCode::Done;
}

}  // namespace

void add_slice_command(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<SliceFlags>();
  CLI::App* const command =
      add_command(app, invocation, "slice", "Show what an event of a kept run may depend on",
                  "heddle slice latest --at 120");
  command->add_option("run", flags->run, "which run: its id, or latest")->capture_default_str();
  command->add_option("--at", flags->at,
                      "number of the event, as `heddle show --events` counts (default: the last "
                      "one of the thread that failed)");
  command->callback([flags, &invocation] {
    invocation.chosen = [flags, &invocation] { return slice(*flags, invocation.json); };
  });
}

}  // namespace heddle::cli
