// SPDX-License-Identifier: Apache-2.0
#include "cli/packed_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "cli/packed_process.h"
#include "cli/run_options.h"
#include "store/pack_file.h"
#include "store/run_json.h"
#include "trace/schedule_text.h"
#include "trace/trace_file.h"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

store::RunSummary read_summary(const fs::path& file, const fs::path& unpacked) {
  store::unpack(file, unpacked);
  const fs::path run = unpacked / kPackRun;
  store::RunSummary summary = store::summary_from_json(
      store::read_run_file(run, store::kSummaryFile), (run / store::kSummaryFile).string());
  summary.id = file.filename().string();
  return summary;
}

/// As the program had them, but for what is only where it was recorded.
driver::Inputs read_inputs(const fs::path& unpacked) {
  store::RunInputs stored = store::read_inputs(unpacked / kPackRun);
  std::error_code error;
  if (!fs::is_directory(stored.directory, error)) {
    fs::create_directories(unpacked / "directory");
    stored.directory = fs::absolute(unpacked / "directory").string();
  }
  if (stored.checkpoint.empty()) stored.checkpoint = unpacked_beginning(unpacked).string();
  return from_stored(stored);
}

driver::Image image_in(const fs::path& unpacked, const fs::path& checkpoint) {
  driver::Image image{fs::absolute(unpacked / kPackProgram),
                      {},
                      unpacked_restorer(fs::absolute(unpacked), checkpoint)};
  std::error_code none;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(unpacked / kPackVariants, none)) {
    if (!entry.is_regular_file()) continue;
    image.libraries.push_back({entry.path().filename().string(), fs::absolute(entry.path())});
  }
  std::ranges::sort(image.libraries, {}, &driver::Image::Library::file);
  return image;
}

}  // namespace

PackedRun::PackedRun(const fs::path& file)
    : directory_(fs::temp_directory_path()),
      summary_(read_summary(file, directory_.path())),
      inputs_(read_inputs(directory_.path())),
      program_(driver::Program::open_image(image_in(directory_.path(), inputs_.checkpoint),
                                           inputs_.arguments.at(0), summary_.build_id)) {}

driver::Expectation PackedRun::expectation() const {
  const std::string trace = (run() / store::kTraceFile).string();
  const std::string schedule = (run() / store::kScheduleFile).string();
  return {trace::parse_trace(store::read_run_file(run(), store::kTraceFile), trace),
          trace::parse_schedule(store::read_run_file(run(), store::kScheduleFile), schedule),
          store::read_run_file(run(), store::kOutputFile),
          store::read_run_file(run(), store::kErrorFile)};
}

}  // namespace heddle::cli
