// SPDX-License-Identifier: Apache-2.0
#include "driver/build/saved_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "driver/build/build_id.h"
#include "driver/build/link_archive.h"
#include "driver/build/response_file.h"
#include "trace/file.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;

Error no_link(const Cache& cache, const fs::path& program) {
  if (!is_heddle_built(program)) {
    return user_error(fmt::format(
        "{} was not built with Heddle; build it with heddle-cc or heddle-c++ (CC=heddle-cc "
        "CXX=heddle-c++)",
        program.string()));
  }
  return user_error(fmt::format(
      "what Heddle kept of the build of {} is no longer in its cache {} (deleted, displaced by "
      "newer builds, or built with another HEDDLE_CACHE); rebuild the program",
      program.string(), cache.root().string()));
}

Error damaged_link(const fs::path& entry, const fs::path& program, const char* why) {
  return user_error(
      fmt::format("what Heddle kept of the build of {} is damaged: {} ({}); rebuild the program",
                  program.string(), entry.string(), why));
}

bool holds_bitcode(const fs::path& archive) {
  constexpr std::uint32_t kBeginning = 0x4243c0de;  // "BC" and two bytes that are no text
  constexpr unsigned kByte = 8;
  std::ifstream file(archive, std::ios::binary);
  std::uint32_t last = 0;
  return std::any_of(std::istreambuf_iterator<char>(file), {}, [&last](char byte) {
    last = last << kByte | static_cast<unsigned char>(byte);
    return last == kBeginning;
  });
}

constexpr std::string_view kCommandLine = "response.txt";
constexpr std::string_view kVersion = "version.txt";

/// Of the linker's words, those that neither name an input nor the output: compilers name objects
/// at random, and people link the same program in several places.
std::vector<std::string> nameless(const std::vector<std::string>& words,
                                  const std::set<std::string>& inputs) {
  std::vector<std::string> kept;
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (*word == "-o" && word + 1 != words.end()) {
      ++word;
    } else if (!inputs.contains(*word)) {
      kept.push_back(*word);
    }
  }
  return kept;
}

std::uint64_t contents_of(const fs::path& archive) {
  constexpr std::hash<std::string_view> kHash;
  std::string sums;
  std::set<std::string> inputs;
  std::string command_line;
  visit_archive(archive, [&](const std::string& path, const std::string& contents) {
    // The linker puts everything below one directory.
    const std::string name = path.substr(path.find('/') + 1);
    if (name == kVersion) return;
    if (name == kCommandLine) {
      command_line = contents;
    } else {
      inputs.insert(name);
      sums += fmt::format("{:016x} ", kHash(contents));
    }
  });
  return kHash(sums + join_words(nameless(split_reproduced(command_line), inputs)));
}

bool holds(const fs::path& entry, std::uint64_t contents) {
  try {
    return fs::exists(entry) && read_label(entry) == contents && contents_of(entry) == contents;
  } catch (const DamagedArchive&) {
    return false;
  }
}

/// Programs that are not the same may have the same build-id: it was given by the user, or covers
/// only what is left of a program that is stripped. The last one has it.
void keep(const Cache& cache, const fs::path& link, const std::string& build_id) {
  const std::uint64_t contents = contents_of(link);
  const fs::path entry = cache.link(build_id);
  if (holds(entry, contents)) return cache.touch(entry);
  add_label(link, contents);
  const FileLock lock(cache, build_id);  // who derives a variant has the same link all along
  cache.publish(link, entry);
}

/// Of something that could not be written there.
Error with_advice(const Error& error, const Cache& cache) {
  return {error.code(), fmt::format("{}; {}", error.what(), cache.advice())};
}

}  // namespace

void save_link(const Cache& cache, const WorkDirectory& work, const fs::path& tar,
               const std::string& build_id) {
  // The same program may also have been linked of objects without bitcode (of a partial link): what
  // it was linked of before is worth more.
  const fs::path entry = cache.link(build_id);
  if (fs::exists(entry) && !holds_bitcode(tar)) return cache.touch(entry);
  const fs::path compressed = work.path() / "link.tar.zst";
  try {
    compress_archive(tar, compressed);
  } catch (const Error& error) {
    throw with_advice(error, cache);
  }
  keep(cache, compressed, build_id);
  cache.evict();
}

std::optional<std::uint64_t> linked_contents(const Cache& cache, const std::string& build_id) {
  std::error_code error;
  const fs::path entry = cache.link(build_id);
  if (!fs::exists(entry, error)) return std::nullopt;
  return read_label(entry).value_or(0);
}

SavedLink load_link(const Cache& cache, const WorkDirectory& work, const fs::path& program,
                    const std::string& build_id) {
  const fs::path entry = cache.link(build_id);
  std::error_code error;
  if (!fs::exists(entry, error)) throw no_link(cache, program);
  cache.touch(entry);
  const fs::path unpacked = work.path() / "link";
  try {
    unpack_archive(entry, unpacked);
  } catch (const DamagedArchive& damage) {
    throw damaged_link(entry, program, damage.what());
  } catch (const Error& error) {
    throw with_advice(error, cache);
  }
  // The linker puts everything below one directory, named after the archive.
  for (const fs::directory_entry& directory : fs::directory_iterator(unpacked, error)) {
    const fs::path words = directory.path() / kCommandLine;
    if (!fs::exists(words, error)) continue;
    return {directory.path(), split_reproduced(trace::read_file(words))};
  }
  throw damaged_link(entry, program, "it holds no command line");
}

}  // namespace heddle::build
