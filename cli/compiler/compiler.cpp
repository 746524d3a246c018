// SPDX-License-Identifier: Apache-2.0
//
// heddle-cc and heddle-c++: clang with three differences. Objects also hold bitcode, there is debug
// information unless the user chose otherwise, and links go through heddle-ld, which keeps what is
// needed to repeat them. Everything else is clang's own business: this program becomes clang, so
// that exit status, signals and messages are clang's.
//
// Wrapping the linker instead of reading clang's command line was chosen because only clang knows
// for certain whether it links, what, and into which file.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "driver/build/response_file.h"
#include "driver/build/toolchain.h"

namespace {

using Words = std::vector<std::string>;

// -gz, -gsplit-dwarf and the like say how, not how much.
bool chooses_debug_level(std::string_view word) {
  static constexpr std::string_view kExact[] = {"-g",
                                                "-gline-tables-only",
                                                "-gline-directives-only",
                                                "-gmlt",
                                                "-gdwarf",
                                                "-glldb",
                                                "-gsce",
                                                "-gdbx",
                                                "--debug"};
  if (std::ranges::find(kExact, word) != std::end(kExact)) return true;
  const bool is_level =
      word.size() == 3 && word.starts_with("-g") && word[2] >= '0' && word[2] <= '9';
  return is_level || word.starts_with("-ggdb") || word.starts_with("-gdwarf-");
}

constexpr std::string_view kSanitize = "-fsanitize=";

std::vector<std::string> sanitizers_of(const std::string& word) {
  std::vector<std::string> sanitizers;
  if (!word.starts_with(kSanitize)) return sanitizers;
  std::istringstream names(word.substr(kSanitize.size()));
  for (std::string name; std::getline(names, name, ',');) sanitizers.push_back(name);
  return sanitizers;
}

// What the user wants to read (or feed to another tool) is left as clang would make it. What is
// meant for another tool says nothing of that.
bool wants_text_or_bitcode(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "-S" || word == "--assemble" || word == "-emit-llvm") return true;
    if (word == "-Xlinker" || word == "-Xassembler" || word == "-Xpreprocessor") ++i;
  }
  return false;
}

// These are passes, and clang runs such passes twice over an object that holds bitcode as well: it
// is slow, and AddressSanitizer's does not link. Heddle cannot control such a program anyway.
bool instruments(const Words& words) {
  static constexpr std::string_view kPasses[] = {"address", "kernel-address", "hwaddress",
                                                 "memory",  "kernel-memory",  "dataflow",
                                                 "fuzzer",  "fuzzer-no-link"};
  return std::ranges::any_of(words, [](const std::string& word) {
    if (word.starts_with("-fsanitize-coverage=")) return true;
    const std::vector<std::string> names = sanitizers_of(word);
    return std::ranges::any_of(names, [](const std::string& name) {
      return std::ranges::find(kPasses, name) != std::end(kPasses);
    });
  });
}

bool is_internal_tool(const Words& words) {
  return !words.empty() && words.front().starts_with("-cc1");
}

// Heddle's own instrumentation takes the place of ThreadSanitizer's, and its entry points that of
// its runtime: an object of another compiler that has them is linked as it is.
Words without_thread_sanitizer(const Words& words) {
  Words kept;
  for (const std::string& word : words) {
    if (!word.starts_with(kSanitize)) {
      kept.push_back(word);
      continue;
    }
    std::string others;
    for (const std::string& name : sanitizers_of(word)) {
      if (name != "thread") others += (others.empty() ? "" : ",") + name;
    }
    if (!others.empty()) kept.push_back(std::string(kSanitize) + others);
  }
  return kept;
}

Words clang_command(const Words& as_typed) {
  const Words typed = heddle::build::expand_response_files(as_typed);
  const Words all = without_thread_sanitizer(typed);
  // Long command lines stay in their files, unless there is something to take out of them.
  const Words given = all == typed ? as_typed : all;
  Words command = {heddle::build::llvm_tool(HEDDLE_CLANG_NAME).string()};
  if (is_internal_tool(all) || wants_text_or_bitcode(all)) {
    command.insert(command.end(), given.begin(), given.end());
    return command;
  }
  if (std::ranges::none_of(all, chooses_debug_level)) {
    for (const char* word : {"--start-no-unused-arguments", "-g", "--end-no-unused-arguments"}) {
      command.emplace_back(word);
    }
  }
  // Ours come last, because the last of contradicting options wins; but after "--" there are only
  // file names.
  const auto end_of_options = std::ranges::find(given, "--");
  command.insert(command.end(), given.begin(), end_of_options);
  const std::string linker =
      fmt::format("--ld-path={}", heddle::build::own_library("heddle-ld").string());
  Words ours = {"--start-no-unused-arguments", "-fuse-ld=lld", linker};
  if (!instruments(all)) ours.insert(ours.end(), {"-flto=full", "-ffat-lto-objects"});
  ours.emplace_back("--end-no-unused-arguments");
  command.insert(command.end(), ours.begin(), ours.end());
  command.insert(command.end(), end_of_options, given.end());
  return command;
}

[[noreturn]] void become(const Words& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
  throw heddle::environment_error(
      fmt::format("cannot start {}: {}", command.front(), std::strerror(errno)));
}

}  // namespace

int main(int count, char** words) {
  try {
    become(clang_command(Words(words + 1, words + count)));
  } catch (const heddle::Error& error) {
    fmt::print(stderr, "{}: error: {}\n", HEDDLE_COMPILER_NAME, error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: error: {}\n", HEDDLE_COMPILER_NAME, error.what());
    return static_cast<int>(heddle::ExitCode::Defect);
  }
}
