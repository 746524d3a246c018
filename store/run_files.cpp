// SPDX-License-Identifier: Apache-2.0
#include "store/run_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "base/error.h"
#include "store/run_json.h"
#include "trace/file.h"
#include "trace/schedule_text.h"
#include "trace/trace_file.h"

namespace heddle::store {
namespace {

namespace fs = std::filesystem;

Error cannot_write(const fs::path& path) {
  return environment_error(fmt::format(
      "cannot write {}: {}; free space or make it writable, or set HEDDLE_DIR to another directory",
      path.string(), std::strerror(errno)));
}

/// A rename is only worth something if what it names reached the disk before.
void make_durable(const fs::path& path) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw cannot_write(path);
  int result = fsync(descriptor);
  close(descriptor);
  // Some file systems cannot; then the disk is as safe as its owner chose it to be.
  if (result != 0 && errno != EINVAL && errno != EROFS) throw cannot_write(path);
}

void write_durably(const fs::path& path, std::string_view bytes) {
  trace::write_file(path, bytes);
  make_durable(path);
}

}  // namespace

TemporaryDirectory::TemporaryDirectory(const fs::path& parent) {
  std::error_code ignored;
  fs::create_directories(parent, ignored);
  std::string name = (parent / "add-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw cannot_write(parent);
  path_ = name;
  // mkdtemp makes it private; a run is as readable as anything else the user makes.
  fs::permissions(path_,
                  fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                      fs::perms::others_exec,
                  fs::perm_options::add, ignored);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void TemporaryDirectory::move_to(const fs::path& target) {
  if (rename(path_.c_str(), target.c_str()) != 0) throw cannot_write(target);
  path_.clear();
  make_durable(target.parent_path());
}

void write_run(const fs::path& directory, const NewRun& run, const RunSummary& summary) {
  std::ostringstream trace_bytes;
  trace::write_trace(run.trace, trace_bytes);
  write_durably(directory / kTraceFile, trace_bytes.view());
  write_durably(directory / kScheduleFile, trace::to_text(run.schedule));
  write_durably(directory / kOutputFile, run.output.standard_output);
  write_durably(directory / kErrorFile, run.output.standard_error);
  write_durably(directory / kInputsFile, to_json(run.inputs));
  write_durably(directory / kSummaryFile, to_json(summary));
  make_durable(directory);
}

std::string read_run_file(const fs::path& directory, const char* name) {
  fs::path path = directory / name;
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw user_error(fmt::format(
        "run {0} lacks its file {1}; restore it, or remove what is left with `heddle rm {0}`",
        directory.filename().string(), path.string()));
  return trace::read_file(path);
}

void remove_leftovers(const fs::path& parent) {
  std::error_code error;
  auto day_ago = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    auto changed = fs::last_write_time(entry->path(), ignored);
    if (!ignored && changed < day_ago) fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace heddle::store
