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

bool is_the_same(const fs::path& one, const fs::path& other) {
  std::error_code error;
  return fs::file_size(one, error) == fs::file_size(other, error) && !error &&
         trace::read_file(one) == trace::read_file(other);
}

/// Programs that are not the same may have the same build-id: it was given by the user, or covers
/// only what is left of a program that is stripped. What was made of the other is not of this one.
void keep(const Cache& cache, const fs::path& link, const fs::path& entry,
          const std::string& build_id) {
  if (!fs::exists(entry)) return cache.publish(link, entry);
  if (is_the_same(link, entry)) return cache.touch(entry);
  const FileLock lock(cache, build_id);
  cache.publish(link, entry);
  cache.forget_variants(build_id);
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
  keep(cache, compressed, entry, build_id);
  cache.evict();
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
    const fs::path words = directory.path() / "response.txt";
    if (!fs::exists(words, error)) continue;
    return {directory.path(), split_reproduced(trace::read_file(words))};
  }
  throw damaged_link(entry, program, "it holds no command line");
}

}  // namespace heddle::build
