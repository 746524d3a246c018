// SPDX-License-Identifier: Apache-2.0
//
// The directory of one run. Knows nothing of the catalogue.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "store/run.h"

namespace heddle::store {

inline constexpr char kScheduleFile[] = "schedule";
inline constexpr char kTraceFile[] = "trace";
inline constexpr char kOutputFile[] = "stdout";
inline constexpr char kErrorFile[] = "stderr";
inline constexpr char kInputsFile[] = "inputs";
inline constexpr char kSummaryFile[] = "summary";
inline constexpr char kSliceFile[] = "slice";  // optional
// Of a recorded run: what its threads were told, and copies of the files it read, by sha256.
inline constexpr char kEnvironmentFile[] = "environment";
inline constexpr char kCopiesDirectory[] = "files";

/// A new directory under `parent`, removed again unless it was moved elsewhere.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::filesystem::path& parent);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// environment_error when it cannot be.
  void move_to(const std::filesystem::path& target);

 private:
  std::filesystem::path path_;
};

/// Returns when everything is on the disk.
void write_run(const std::filesystem::path& directory, const NewRun& run,
               const RunSummary& summary);

/// Beside a run that is there already; whole or not at all.
void write_slice(const std::filesystem::path& directory, const std::vector<bool>& contains);
std::optional<std::vector<bool>> read_slice(const std::filesystem::path& directory);

/// Its environment, and where its copies are.
RunInputs read_inputs(const std::filesystem::path& directory);

/// user_error that names the file and what to do when a run lacks it.
std::string read_run_file(const std::filesystem::path& directory, const char* name);

/// Deletes what processes that were killed left under `parent` at least a day ago.
void remove_leftovers(const std::filesystem::path& parent);

}  // namespace heddle::store
