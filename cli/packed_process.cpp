// SPDX-License-Identifier: Apache-2.0
#include "cli/packed_process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <iterator>
#include <map>
#include <sstream>

#include "base/error.h"
#include "driver/build/build_id.h"
#include "driver/build/toolchain.h"
#include "driver/kept_beginning.h"
#include "driver/processor.h"
#include "trace/file.h"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kRuntime[] = "runtime";
constexpr char kRestorer[] = "restorer";
constexpr char kPlacement[] = "placement";
constexpr char kBeginning[] = "beginning";
constexpr char kProcessor[] = "processor";
constexpr char kOpened[] = "opened";  // by number: in the order in which the image names them first
constexpr char kListing[] = "listing";  // stands for what is in a directory
constexpr std::chrono::seconds kStartLimit{60};

std::string numbered(std::size_t number) {
  return fmt::format("{}/{:03}", kOpened, number);
}

/// The paths of plain files in an image, each once.
class NumberedFiles {
 public:
  explicit NumberedFiles(const std::string& image) {
    for (driver::OpenFile& file : driver::open_files(image)) {
      const auto [known, is_new] = numbers_.try_emplace(file.path, files_.size());
      if (is_new) {
        files_.push_back(std::move(file));
      } else {
        files_[known->second].is_read |= file.is_read;
      }
    }
  }
  const std::vector<driver::OpenFile>& files() const { return files_; }
  std::size_t number(const std::string& path) const { return numbers_.at(path); }

 private:
  std::vector<driver::OpenFile> files_;
  std::map<std::string, std::size_t> numbers_;
};

void add_open_files(std::vector<store::PackedFile>& files, const std::string& image) {
  const NumberedFiles numbers(image);
  for (std::size_t i = 0; i < numbers.files().size(); ++i) {
    const driver::OpenFile& file = numbers.files()[i];
    std::error_code error;
    if (!fs::exists(file.path, error)) {
      throw user_error(fmt::format(
          "{}, which the recorded program had open at the checkpoint, is gone: bring it "
          "back, or record again",
          file.path));
    }
    if (fs::is_directory(file.path, error)) {
      files.push_back({numbered(i) + "/" + kListing, false, ""});
    } else {
      // What was only written to is the program's own work.
      files.push_back({numbered(i), false, file.is_read ? trace::read_file(file.path) : ""});
    }
  }
}

std::vector<std::string> words_in(const fs::path& file) {
  std::istringstream words(trace::read_file(file));
  return {std::istream_iterator<std::string>(words), {}};
}

/// libc chooses among its own functions by what the processor can do. A program that travels does
/// without all that not every x86-64 has.
driver::Inputs on_a_plain_processor(driver::Inputs inputs) {
  std::erase_if(inputs.environment,
                [](const std::string& entry) { return entry.starts_with("GLIBC_TUNABLES="); });
  inputs.environment.push_back(driver::plain_processor());
  return inputs;
}

std::string processor_file(const driver::Inputs& inputs) {
  return fmt::format("{}\n", fmt::join(driver::chosen_by(inputs.environment), " "));
}

void add_beginning(std::vector<store::PackedFile>& files, const driver::Program& program,
                   const driver::Inputs& inputs,
                   const std::vector<driver::ProgramFile>& of_program) {
  const driver::Inputs plain = on_a_plain_processor(inputs);
  const driver::KeptBeginning kept(program.image(), plain);
  const std::string image = kept.image();
  files.push_back({kBeginning, false, image});
  files.push_back({kPlacement, false, driver::placement_of(kept.process(), of_program)});
  files.push_back({kProcessor, false, processor_file(plain)});
  add_open_files(files, image);
}

void add_checkpoint(std::vector<store::PackedFile>& files, const driver::Program& program,
                    const driver::Inputs& inputs,
                    const std::vector<driver::ProgramFile>& of_program) {
  const std::string image = driver::read_image(inputs.checkpoint);
  if (driver::runtime_of(image) != build::read_build_id(build::runtime_library())) {
    throw user_error(
        "the run begins at a checkpoint that holds the memory of another build of Heddle: pack it "
        "with that one, or record again");
  }
  const driver::Target target(program.image(), inputs, 1, kStartLimit);
  files.push_back({kPlacement, false, driver::placement_of(target.process(), of_program)});
  files.push_back({kProcessor, false, processor_file(inputs)});
  add_open_files(files, image);
}

}  // namespace

std::vector<store::PackedFile> process_files(const driver::Program& program,
                                             const driver::Inputs& inputs,
                                             std::vector<driver::ProgramFile> of_program) {
  const fs::path runtime = build::runtime_library();
  of_program.push_back(
      {runtime.string(), runtime, fmt::format("{}/{}", kRuntime, runtime.filename().string())});
  std::vector<store::PackedFile> files;
  files.push_back({of_program.back().packed, true, trace::read_file(runtime)});
  files.push_back({kRestorer, true, trace::read_file(build::restorer())});
  const auto add = inputs.checkpoint.empty() ? &add_beginning : &add_checkpoint;
  add(files, program, inputs, of_program);
  return files;
}

fs::path unpacked_beginning(const fs::path& unpacked) {
  return unpacked / kBeginning;
}

driver::Restorer unpacked_restorer(const fs::path& unpacked, const fs::path& image_file) {
  driver::refuse_lesser_processor(words_in(unpacked / kProcessor));
  const fs::path placement = unpacked / kPlacement;
  const std::string packed = trace::read_file(placement);
  driver::Restorer restorer{unpacked / kRestorer, placement,
                            unpacked / kRuntime / build::kRuntimeName,
                            driver::placed_files(packed, unpacked)};
  trace::write_file(placement, driver::placement_in(packed, unpacked));
  const std::string image = driver::read_image(image_file);
  const NumberedFiles numbers(image);
  trace::write_file(image_file, driver::with_open_files_at(image, [&](const std::string& path) {
                      return (unpacked / numbered(numbers.number(path))).string();
                    }));
  return restorer;
}

}  // namespace heddle::cli
