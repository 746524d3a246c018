// SPDX-License-Identifier: Apache-2.0
#include "store/run_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "store/run_json.h"
#include "trace/bytes.h"
#include "trace/file.h"
#include "trace/packed_log.h"
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

std::string packed_answers(const StoredOutside& outside) {
  trace::ByteWriter out;
  out.varint(outside.answers.size());
  for (const auto& [thread, bytes] : outside.answers) {
    out.text(thread);
    out.text(bytes);
  }
  return trace::pack_log(out.bytes());
}

std::map<std::string, std::string> unpacked_answers(std::string_view file,
                                                    const std::string& name) {
  const trace::UnpackedLog log = trace::unpack_log(file, name);
  if (!log.complete) {
    throw user_error(fmt::format(
        "{}: cut off: the run cannot be told what it was told; restore it, or record again", name));
  }
  try {
    trace::ByteReader in(log.bytes);
    std::map<std::string, std::string> answers;
    for (std::uint64_t left = in.varint(); left > 0; --left) {
      const std::string thread = in.text();
      answers[thread] = in.text();
    }
    return answers;
  } catch (const std::runtime_error& problem) {
    throw user_error(
        fmt::format("{}: damaged ({}); restore it, or record again", name, problem.what()));
  }
}

void write_outside(const fs::path& directory, const StoredOutside& outside) {
  write_durably(directory / kEnvironmentFile, packed_answers(outside));
  const fs::path copies = directory / kCopiesDirectory;
  for (const StoredFile& file : outside.files) {
    if (file.copy.empty()) continue;
    fs::create_directories(copies);
    write_durably(copies / file.sha256, trace::read_file(file.copy));
  }
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
  if (run.inputs.outside) write_outside(directory, *run.inputs.outside);
  if (!run.inputs.checkpoint.empty()) {
    const std::string image = trace::read_file(run.inputs.checkpoint);
    write_durably(directory / kCheckpointFile,
                  trace::is_packed_log(image) ? image : trace::pack_log(image));
  }
  write_durably(directory / kSummaryFile, to_json(summary));
  make_durable(directory);
}

// The number of events, then ranges of those in the slice, one a line: "slice 120", "0 4", "7 120".
void write_slice(const fs::path& directory, const std::vector<bool>& contains) {
  std::string text = fmt::format("slice {}\n", contains.size());
  for (std::size_t i = 0; i < contains.size();) {
    std::size_t end = i;
    while (end < contains.size() && contains[end]) ++end;
    if (end > i) text += fmt::format("{} {}\n", i, end);
    i = end + 1;
  }
  const fs::path target = directory / kSliceFile;
  const fs::path draft = fs::path(target).concat(fmt::format(".{}", getpid()));
  trace::write_file(draft, text);
  if (rename(draft.c_str(), target.c_str()) != 0) throw cannot_write(target);
}

std::optional<std::vector<bool>> read_slice(const fs::path& directory) {
  std::ifstream file(directory / kSliceFile);
  std::string word;
  std::size_t events = 0;
  constexpr std::size_t kMostEvents = std::size_t{1} << 32;
  if (!(file >> word >> events) || word != "slice" || events > kMostEvents) return std::nullopt;
  std::vector<bool> contains(events, false);
  for (std::size_t first = 0, end = 0; file >> first >> end;) {
    if (first > end || end > events) return std::nullopt;
    std::fill(contains.begin() + static_cast<std::ptrdiff_t>(first),
              contains.begin() + static_cast<std::ptrdiff_t>(end), true);
  }
  return file.eof() ? std::optional(contains) : std::nullopt;
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

RunInputs read_inputs(const fs::path& directory) {
  RunInputs inputs =
      inputs_from_json(read_run_file(directory, kInputsFile), (directory / kInputsFile).string());
  if (!inputs.checkpoint.empty()) inputs.checkpoint = (directory / kCheckpointFile).string();
  if (!inputs.outside) return inputs;
  inputs.outside->answers = unpacked_answers(read_run_file(directory, kEnvironmentFile),
                                             (directory / kEnvironmentFile).string());
  for (StoredFile& file : inputs.outside->files) {
    if (!file.copy.empty()) file.copy = (directory / kCopiesDirectory / file.sha256).string();
  }
  return inputs;
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
