// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include "base/error.h"
#include "store/catalogue.h"
#include "store/run_files.h"
#include "store/run_json.h"
#include "trace/counts.h"
#include "trace/file.h"
#include "trace/schedule_text.h"
#include "trace/trace_file.h"

namespace heddle::store {
namespace {

namespace fs = std::filesystem;

constexpr char kCatalogueFile[] = "catalogue.db";
constexpr char kRuns[] = "runs";
constexpr char kTemporary[] = "tmp";

/// The number in "r12" or "12".
std::optional<std::uint64_t> number_of(std::string_view name) {
  if (name.starts_with('r')) name.remove_prefix(1);
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || name.front() == '0')
    return std::nullopt;
  return number;
}

RunId id_of(std::uint64_t number) {
  return fmt::format("r{}", number);
}

RunSummary summarise(const NewRun& run) {
  RunSummary summary;
  summary.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  summary.command = run.command;
  summary.program = run.trace.header.program;
  summary.build_id = run.trace.header.build_id;
  summary.outcome = run.trace.outcome.kind;
  summary.signature = trace::signature(run.trace);
  summary.events = run.trace.events.size();
  summary.threads = trace::program_threads(run.trace, run.schedule);
  summary.switches = trace::context_switches(run.trace);
  summary.preemptions = trace::preemptions(run.schedule);
  summary.seconds = run.seconds;
  return summary;
}

void make_directories(const fs::path& directory) {
  std::error_code error;
  for (const char* part : {kRuns, kTemporary}) {
    fs::create_directories(directory / part, error);
    if (error)
      throw environment_error(fmt::format(
          "cannot make {}: {}; make its parent writable, or set HEDDLE_DIR to another directory",
          (directory / part).string(), error.message()));
  }
}

}  // namespace

fs::path Store::default_directory() {
  const char* chosen = std::getenv("HEDDLE_DIR");
  return chosen != nullptr && *chosen != '\0' ? fs::path(chosen) : fs::path(".heddle");
}

Store Store::open_or_create(const fs::path& directory) {
  make_directories(directory);
  Store store(directory, Catalogue::create(directory / kCatalogueFile));
  // Runs are no part of the user's source; `git add .` should not take them.
  if (fs::path ignore = directory / ".gitignore"; !fs::exists(ignore))
    trace::write_file(ignore, "*\n");
  remove_leftovers(directory / kTemporary);
  store.settle_orphans();
  return store;
}

Store Store::open_existing(const fs::path& directory) {
  std::error_code ignored;
  if (!fs::exists(directory / kCatalogueFile, ignored))
    throw user_error(
        fmt::format("there are no runs in {}; `heddle explore -- PROGRAM` makes some, HEDDLE_DIR "
                    "says where else to look",
                    directory.string()));
  Store store(directory, Catalogue::open(directory / kCatalogueFile));
  if (store.catalogue_->writable()) store.settle_orphans();
  return store;
}

Store::Store(fs::path directory, std::unique_ptr<Catalogue> catalogue)
    : directory_(std::move(directory)), catalogue_(std::move(catalogue)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

fs::path Store::run_directory(const RunId& id) const {
  return directory_ / kRuns / id;
}

RunId Store::add(const NewRun& run) {
  RunSummary summary = summarise(run);
  TemporaryDirectory files(directory_ / kTemporary);
  write_run(files.path(), run, summary);

  Catalogue::Transaction transaction(*catalogue_);
  std::uint64_t number = catalogue_->last_number() + 1;
  // What a killed process left there is a run of its own.
  while (fs::exists(run_directory(id_of(number)))) {
    settle_orphan(number);
    number = catalogue_->last_number() + 1;
  }
  files.move_to(run_directory(id_of(number)));
  catalogue_->insert(number, summary);
  transaction.commit();
  return id_of(number);
}

/// Directories without a row. Looks before it locks: usually there are none.
void Store::settle_orphans() {
  auto orphans = [this] {
    std::vector<std::uint64_t> numbers;
    std::error_code error;
    for (fs::directory_iterator entry(directory_ / kRuns, error), end; !error && entry != end;
         entry.increment(error)) {
      std::optional<std::uint64_t> number = number_of(entry->path().filename().string());
      if (number && !catalogue_->get(*number)) numbers.push_back(*number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  };
  if (orphans().empty()) return;
  // Another process may be between rename and row; with the lock it is past both.
  Catalogue::Transaction transaction(*catalogue_);
  for (std::uint64_t number : orphans()) settle_orphan(number);
  transaction.commit();
}

/// Called with the write lock held.
void Store::settle_orphan(std::uint64_t number) {
  fs::path directory = run_directory(id_of(number));
  std::error_code ignored;
  if (number <= catalogue_->last_number()) {
    fs::remove_all(directory, ignored);
    return;
  }
  try {
    catalogue_->insert(number, summary_from_json(read_run_file(directory, kSummaryFile),
                                                 (directory / kSummaryFile).string()));
  } catch (const Error& error) {
    if (error.code() != ExitCode::UserMistake) throw;
    // Not a whole run, so not of our making. Its place is needed, its content may be wanted.
    fs::path aside = directory;
    aside += ".damaged";
    fs::rename(directory, aside, ignored);
    if (ignored)
      throw environment_error(fmt::format("{} is in the way: {}; move it elsewhere",
                                          directory.string(), ignored.message()));
  }
}

std::vector<RunSummary> Store::list() const {
  return catalogue_->all();
}

RunSummary Store::find(std::string_view name) const {
  std::optional<RunSummary> newest = catalogue_->newest();
  if (!newest)
    throw user_error(fmt::format("there are no runs in {}; `heddle explore -- PROGRAM` makes some",
                                 directory_.string()));
  if (name == "latest") return *newest;
  if (std::optional<std::uint64_t> number = number_of(name))
    if (std::optional<RunSummary> found = catalogue_->get(*number)) return *found;
  throw user_error(
      fmt::format("there is no run {} in {}; the latest is {} ({}), `heddle ls` lists them all",
                  name, directory_.string(), newest->id, newest->signature));
}

void Store::remove(const RunId& id) {
  RunSummary run = find(id);
  Catalogue::Transaction transaction(*catalogue_);
  catalogue_->erase(*number_of(run.id));
  transaction.commit();
  std::error_code error;
  fs::remove_all(run_directory(run.id), error);
  if (error)
    throw environment_error(
        fmt::format("run {} is removed, but not its files: cannot delete {}: {}", run.id,
                    run_directory(run.id).string(), error.message()));
}

trace::Trace Store::load_trace(const RunId& id) const {
  RunSummary run = find(id);
  fs::path directory = run_directory(run.id);
  std::string file = (directory / kTraceFile).string();
  trace::Trace trace = trace::parse_trace(read_run_file(directory, kTraceFile), file);
  if (trace.events.size() != run.events)
    throw user_error(fmt::format(
        "{}: cut off: {} of {} events; restore it, or remove the run with `heddle rm {}`", file,
        trace.events.size(), run.events, run.id));
  return trace;
}

trace::Schedule Store::load_schedule(const RunId& id) const {
  fs::path directory = run_directory(find(id).id);
  return trace::parse_schedule(read_run_file(directory, kScheduleFile),
                               (directory / kScheduleFile).string());
}

RunInputs Store::load_inputs(const RunId& id) const {
  return read_inputs(run_directory(find(id).id));
}

RunOutput Store::load_output(const RunId& id) const {
  fs::path directory = run_directory(find(id).id);
  return {read_run_file(directory, kOutputFile), read_run_file(directory, kErrorFile)};
}

void Store::keep_slice(const RunId& id, const std::vector<bool>& contains) {
  write_slice(run_directory(find(id).id), contains);
}

std::optional<std::vector<bool>> Store::load_slice(const RunId& id) const {
  return read_slice(run_directory(find(id).id));
}

}  // namespace heddle::store
