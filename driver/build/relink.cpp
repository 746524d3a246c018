// SPDX-License-Identifier: Apache-2.0
#include "driver/build/relink.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string_view>

#include "driver/build/toolchain.h"
#include "ir/elf_file.h"
#include "trace/file.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> known) {
  return std::ranges::find(known, word) != known.end();
}

/// `word` is this option, with one dash or two, and with its value in the same word or the next.
bool is_option(std::string_view word, std::string_view name) {
  if (!word.starts_with('-')) return false;
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  return word.starts_with(name) && (word.size() == name.size() || word[name.size()] == '=');
}

/// How many words from `at` on are not for a variant: output and choice of code are what changes,
/// stripping would take the names reports are made of, where libraries are looked for is taken from
/// the program, and what else the user wants written is of the native link.
std::size_t dropped(const Words& words, std::size_t at) {
  const std::string_view word = words[at];
  if (is_one_of(word, {"--fat-lto-objects", "--no-fat-lto-objects", "-s", "--strip-all", "-S",
                       "--strip-debug", "--print-map", "-M", "--cref"})) {
    return 1;
  }
  for (const std::string_view name :
       {"o", "output", "rpath", "Map", "dependency-file", "why-extract", "print-symbol-order",
        "print-archive-stats", "time-trace", "opt-remarks-filename"}) {
    if (!is_option(word, name)) continue;
    const bool is_apart = word.find('=') == std::string_view::npos && name != "time-trace";
    return is_apart ? 2 : 1;
  }
  return 0;
}

bool is_shared_library(std::string_view word) {
  return word.starts_with("-l") || word.starts_with("--library") || word.ends_with(".so") ||
         word.find(".so.") != std::string_view::npos;
}

// Options that take the next word as their value, of those whose value could look like a library.
bool takes_library_like_value(std::string_view word) {
  return is_one_of(word, {"-dynamic-linker", "--dynamic-linker", "-soname", "--soname", "-h", "-L",
                          "-z", "-plugin", "-m"});
}

bool leads_out(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.is_relative() && !normal.empty() && *normal.begin() == "..";
}

/// A library that has no name of its own is called by the path it was given by. `word` is its path
/// below the link's directory.
std::string as_named(const std::string& word, const fs::path& directory, const Words& needed) {
  const fs::path file = fs::path(word).filename();
  for (const std::string& name : needed) {
    if (fs::path(name).filename() != file) continue;
    if (name.starts_with('/') || leads_out(name)) return "/" + word;
    std::error_code error;
    const fs::path place = directory / name;
    fs::create_directories(place.parent_path(), error);
    if (!fs::exists(place, error)) fs::create_symlink(directory / word, place, error);
    return name;
  }
  return word;
}

}  // namespace

LibraryNames LibraryNames::of(const fs::path& program) {
  const ir::ElfFile file(program);
  return {file.needed_libraries(), file.run_path()};
}

std::string without_origin(std::string run_path, const std::string& directory) {
  for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"}) {
    for (std::size_t at = 0; (at = run_path.find(origin, at)) != std::string::npos;
         at += directory.size()) {
      run_path.replace(at, origin.size(), directory);
    }
  }
  return run_path;
}

std::string name_in_variant(const std::string& needed, const fs::path& directory) {
  const bool is_path = needed.find('/') != std::string::npos;
  return is_path && leads_out(needed) ? (directory / needed).lexically_normal().string() : needed;
}

// The runtime goes before every other library: what it shares with libc and libstdc++ is its own.
// But it goes after the program's objects and archives given by name, which must be taken from the
// same places as in the native link.
Words relink(const SavedLink& saved, const LibraryNames& names, abi::Variant variant) {
  fs::create_symlink(runtime_library(), saved.directory / kRuntimeName);
  const Words runtime_words = {"--push-state", "-Bdynamic", "--no-as-needed", kRuntimeName,
                               "--pop-state"};
  Words words;
  bool has_runtime = !variant.needs_runtime();
  const auto add_runtime = [&] {
    if (!has_runtime) words.insert(words.end(), runtime_words.begin(), runtime_words.end());
    has_runtime = true;
  };
  for (std::size_t i = 0; i < saved.words.size(); ++i) {
    if (const std::size_t count = dropped(saved.words, i); count > 0) {
      i += count - 1;
      continue;
    }
    std::string word = saved.words[i];
    if (takes_library_like_value(word) && i + 1 < saved.words.size()) {
      words.push_back(std::move(word));
      word = saved.words[++i];
    } else if (is_shared_library(word)) {
      add_runtime();
      if (!word.starts_with('-')) word = as_named(word, saved.directory, names.needed);
    }
    words.push_back(std::move(word));
  }
  add_runtime();
  for (const char* added : {"--fat-lto-objects", "--lto-O2"}) words.emplace_back(added);
  words.push_back(fmt::format("--load-pass-plugin={}", pass_plugin().string()));
  if (!names.run_path.empty()) words.push_back("--rpath=" + names.run_path);
  return words;
}

void name_absolutely(const fs::path& output, const Words& words) {
  const auto is_absolute = [](const std::string& word) {
    return word.starts_with('/') && is_shared_library(word);
  };
  if (std::ranges::none_of(words, is_absolute)) return;
  std::string program = trace::read_file(output);
  for (const std::string& word : words | std::views::filter(is_absolute)) {
    const std::string entry = std::string(1, '\0') + "." + word + std::string(1, '\0');
    const std::size_t at = program.find(entry);
    if (at != std::string::npos)
      program.replace(at + 1, word.size() + 1, word.c_str(), word.size() + 1);
  }
  trace::write_file(output, program);
}

bool is_dynamic(const SavedLink& saved) {
  const bool asks = std::ranges::any_of(saved.words, [](const std::string& word) {
    return is_option(word, "dynamic-linker") || is_option(word, "shared");
  });
  return asks && std::ranges::find(saved.words, "--no-dynamic-linker") == saved.words.end();
}

}  // namespace heddle::build
