// SPDX-License-Identifier: Apache-2.0
#include "cli/show_code.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/code_sites.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "driver/build/build.h"
#include "ir/core_file.h"
#include "ir/elf_file.h"
#include "ir/stack_walk.h"
#include "ir/stopped_process.h"

namespace heddle::cli {
namespace {

using Clock = std::chrono::steady_clock;

pid_t parse_process(const std::string& text) {
  pid_t process = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), process);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || process <= 0) {
    throw user_error(fmt::format("'{}' is not a process; give its number, such as 4711", text));
  }
  return process;
}

/// A program in a core or in a process, which has been found to be the one the user named.
class LoadedProgram {
 public:
  LoadedProgram(const std::filesystem::path& program, const CodeSource& source)
      : program_(program) {
    if (!source.core.empty()) {
      auto core = std::make_unique<ir::CoreFile>(std::filesystem::path(source.core));
      signal_ = core->signal();
      if (const ir::MachineState::Mapping* const mapping = core->program()) {
        loaded_from_ = mapping->file;
      }
      state_ = std::move(core);
    } else {
      auto process = std::make_unique<ir::StoppedProcess>(parse_process(source.process));
      std::error_code ignored;
      loaded_from_ = std::filesystem::read_symlink(process->executable(), ignored).string();
      state_ = std::move(process);
    }
    name_ = source.core.empty() ? "process " + source.process : source.core;
    refuse_other_build();
  }

  const ir::MachineState& state() const { return *state_; }
  const std::string& loaded_from() const { return loaded_from_; }
  int signal() const { return signal_; }

  /// An address of the process as one of the program's file; nothing for code of other files.
  std::optional<std::uint64_t> file_address(std::uint64_t address) const {
    for (const ir::MachineState::Mapping& mapping : state_->mappings()) {
      if (mapping.file != loaded_from_ || address < mapping.begin || address >= mapping.end) {
        continue;
      }
      return ir::ElfFile(program_).address_of_offset(address - mapping.begin + mapping.offset);
    }
    return std::nullopt;
  }

 private:
  void refuse_other_build() const {
    const std::string expected = build::read_build_id(program_);
    for (const ir::MachineState::Mapping& mapping : state_->mappings()) {
      if (mapping.file != loaded_from_ || mapping.offset != 0) continue;
      const std::string actual = ir::loaded_build_id(*state_, mapping.begin);
      if (actual.empty() || actual == expected) return;
      throw user_error(
          fmt::format("{} is of another program or another build than {} (build-id {} of {}, not "
                      "{}); name the program that was running",
                      name_, program_.string(), actual, loaded_from_, expected));
    }
    throw user_error(
        fmt::format("{} does not tell which program was running; name a core or a "
                    "process of {}",
                    name_, program_.string()));
  }

  std::filesystem::path program_;
  std::string name_;
  std::unique_ptr<ir::MachineState> state_;
  std::string loaded_from_;
  int signal_ = 0;
};

std::filesystem::path existing(const std::string& program) {
  if (!std::filesystem::is_regular_file(program)) {
    throw user_error(fmt::format("there is no program {}", program));
  }
  return std::filesystem::canonical(program);
}

/// Sites of the file itself, if it has any.
std::optional<CodeSites> sites_in(const std::filesystem::path& file) {
  if (!ir::SiteTable::is_in(file)) return std::nullopt;
  return std::optional<CodeSites>(std::in_place, file);
}

nlohmann::json begin_result(const char* outcome, const std::string& program,
                            Clock::time_point start) {
  const std::chrono::duration<double> seconds = Clock::now() - start;
  nlohmann::json object = json_result("show", outcome, "", seconds.count());
  object["program"] = program;
  return object;
}

nlohmann::json frame_json(const ir::StackFrame& frame, const std::filesystem::path& program,
                          const std::optional<CodeSites>& sites) {
  nlohmann::json object = {{"address", frame.address},
                           {"file_address", frame.file_address},
                           {"file", frame.file},
                           {"frames", frames_json(frame.places)}};
  if (sites && frame.file == program) {
    sites->add_json(frame.file_address, frame.in_call, object);
  }
  return object;
}

std::string site_summary(const ir::StackFrame& frame, const std::filesystem::path& program,
                         const std::optional<CodeSites>& sites) {
  std::string words;
  if (!sites || frame.file != program) return words;
  for (const abi::SiteId id : sites->sites_at(frame.file_address, frame.in_call)) {
    words += fmt::format("  site {} {}", id, sites->table().find(id)->key);
  }
  return words;
}

void print_stack(const ir::ThreadStack& stack, const std::filesystem::path& program,
                 const std::optional<CodeSites>& sites) {
  fmt::print("\nthread {}\n", stack.thread);
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    const ir::StackFrame& frame = stack.frames[i];
    if (frame.places.empty()) {
      fmt::print("  #{:<3} {:#x} {}\n", i, frame.address, frame.file.empty() ? "?" : frame.file);
      continue;
    }
    const trace::Frame& innermost = frame.places.front();
    const std::string place = innermost.line == 0 ? frame.file : place_of(innermost);
    fmt::print("  #{:<3} {} {}{}{}\n", i, innermost.function, place, inline_chain(frame.places),
               site_summary(frame, program, sites));
  }
  if (!stack.is_whole) fmt::print("  and callers that were not found\n");
}

constexpr char kNoSites[] =
    "has no sites in its machine code; to see them in a core or a process, link the program with: "
    "HEDDLE_VARIANT=production make CC=heddle-cc CXX=heddle-c++";

}  // namespace

ExitCode show_stacks(const std::string& name, const CodeSource& source, bool json) {
  const Clock::time_point start = Clock::now();
  const std::filesystem::path program = existing(name);
  const std::optional<CodeSites> sites = sites_in(program);
  std::vector<ir::ThreadStack> stacks;
  int signal = 0;
  {
    // A process goes on as soon as it has been looked at.
    const LoadedProgram loaded(program, source);
    stacks = ir::walk_stacks(loaded.state(), loaded.loaded_from(), program);
    signal = loaded.signal();
  }
  if (!json) {
    const char* const ended = signal == 0 ? nullptr : sigabbrev_np(signal);
    fmt::print("{}: {} thread{}{}{}\n", name, stacks.size(), stacks.size() == 1 ? "" : "s",
               ended == nullptr ? "" : ", ended by SIG", ended == nullptr ? "" : ended);
    for (const ir::ThreadStack& stack : stacks) print_stack(stack, program, sites);
    if (!sites) fmt::print("\n{} {}\n", name, kNoSites);
    return ExitCode::Done;
  }
  nlohmann::json object = begin_result("stacks", name, start);
  object["signal"] = signal;
  object["has_sites"] = sites.has_value();
  object["threads"] = nlohmann::json::array();
  for (const ir::ThreadStack& stack : stacks) {
    nlohmann::json frames = nlohmann::json::array();
    for (const ir::StackFrame& frame : stack.frames) {
      frames.push_back(frame_json(frame, program, sites));
    }
    object["threads"].push_back(
        {{"thread", stack.thread}, {"whole", stack.is_whole}, {"stack", frames}});
  }
  print_json(object);
  return ExitCode::Done;
}

ExitCode show_addresses(const std::string& name, const std::vector<std::string>& addresses,
                        const CodeSource& source, bool json) {
  const Clock::time_point start = Clock::now();
  std::vector<std::uint64_t> parsed;
  for (const std::string& address : addresses) parsed.push_back(parse_address(address));
  std::filesystem::path file = existing(name);
  std::optional<LoadedProgram> loaded;
  if (!source.core.empty() || !source.process.empty()) {
    loaded.emplace(file, source);
    if (!ir::SiteTable::is_in(file)) throw user_error(fmt::format("{} {}", name, kNoSites));
  } else if (!ir::SiteTable::is_in(file)) {
    if (!build::is_heddle_built(file)) throw no_sites(name);
    ProgressLine progress(json);
    file = build::derive_variant(file, abi::Variant::Full,
                                 [&](std::string_view what) { progress.say(what); });
  }
  const CodeSites sites(file);
  nlohmann::json list = nlohmann::json::array();
  for (const std::uint64_t address : parsed) {
    const std::optional<std::uint64_t> in_file = loaded ? loaded->file_address(address) : address;
    if (json) {
      nlohmann::json object = {{"address", address}, {"instruction", nullptr}};
      if (in_file) sites.add_json(*in_file, /*in_call=*/false, object);
      if (in_file) object["file_address"] = *in_file;
      list.push_back(std::move(object));
      continue;
    }
    const std::string words = in_file ? sites.instruction_words(*in_file) : "";
    fmt::print("{:#x}: {}\n", address, words.empty() ? "of no single instruction" : words);
    if (!in_file) continue;
    for (const std::string& site : sites.site_words(*in_file)) fmt::print("  {}\n", site);
  }
  if (!json) return ExitCode::Done;
  nlohmann::json object = begin_result("addresses", name, start);
  object["variant"] = file.string();
  object["addresses"] = std::move(list);
  print_json(object);
  return ExitCode::Done;
}

}  // namespace heddle::cli
