// SPDX-License-Identifier: Apache-2.0
#include "driver/build/saved_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "driver/build/build_id.h"
#include "driver/build/link_archive.h"
#include "driver/build/response_file.h"

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
  cache.publish(compressed, entry);
  cache.evict();
}

SavedLink load_link(const Cache& cache, const WorkDirectory& work, const fs::path& program,
                    const std::string& build_id) {
  const fs::path entry = cache.link(build_id);
  if (!fs::exists(entry)) throw no_link(cache, program);
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
  std::error_code error;
  for (const fs::directory_entry& directory : fs::directory_iterator(unpacked, error)) {
    std::ifstream file(directory.path() / "response.txt", std::ios::binary);
    if (!file) continue;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return {directory.path(), split_words(text)};
  }
  throw damaged_link(entry, program, "it holds no command line");
}

}  // namespace heddle::build
