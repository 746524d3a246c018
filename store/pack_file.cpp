// SPDX-License-Identifier: Apache-2.0
#include "store/pack_file.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>

#include "base/error.h"
#include "trace/bytes.h"
#include "trace/file.h"
#include "trace/packed_log.h"

namespace heddle::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "HEDDLE-PACK ";
constexpr int kVersion = 2;  // 1: how the program stands before its first instruction is missing

/// Whoever made the pack decides what is in it, not where it goes.
bool stays_inside(const std::string& name) {
  const fs::path path(name);
  if (name.empty() || path.is_absolute()) return false;
  for (const fs::path& part : path) {
    if (part == "..") return false;
  }
  return true;
}

[[noreturn]] void refuse(const fs::path& file, std::string_view why) {
  throw user_error(
      fmt::format("{}: {}; take another copy of it, or make it again with: heddle pack RUN",
                  file.string(), why));
}

/// What follows the first line.
std::string_view payload(const fs::path& file, std::string_view whole) {
  if (!whole.starts_with(kMagic)) refuse(file, "not a pack of Heddle");
  whole.remove_prefix(kMagic.size());
  int version = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), version);
  if (error != std::errc{} || end == whole.data() + whole.size() || *end != '\n') {
    refuse(file, "damaged, or cut off");
  }
  if (version > kVersion) {
    throw user_error(fmt::format("{}: a pack of version {}, this Heddle reads {}; update Heddle",
                                 file.string(), version, kVersion));
  }
  if (version < kVersion) {
    throw user_error(
        fmt::format("{}: a pack of version {}, this Heddle reads {}; replay it with the one that "
                    "made it, or make it again with: heddle pack RUN",
                    file.string(), version, kVersion));
  }
  return whole.substr(static_cast<std::size_t>(end - whole.data()) + 1);
}

void write_unpacked(trace::ByteReader& in, const fs::path& file, const fs::path& directory) {
  const std::string name = in.text();
  const bool executable = in.varint() != 0;
  const std::string bytes = in.text();
  if (!stays_inside(name)) refuse(file, "a file in it would be written elsewhere");
  const fs::path target = directory / name;
  fs::create_directories(target.parent_path());
  trace::write_file(target, bytes);
  if (executable) {
    fs::permissions(target, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                                fs::perms::others_read | fs::perms::others_exec);
  }
}

}  // namespace

std::string to_pack(const std::vector<PackedFile>& files) {
  trace::ByteWriter out;
  out.varint(files.size());
  for (const PackedFile& file : files) {
    out.text(file.name);
    out.varint(file.executable ? 1 : 0);
    out.text(file.bytes);
  }
  return fmt::format("{}{}\n", kMagic, kVersion) + trace::pack_log(out.bytes());
}

bool is_pack(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  return in.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kMagic;
}

void unpack(const fs::path& file, const fs::path& directory) {
  const std::string whole = trace::read_file(file);
  const trace::UnpackedLog log = trace::unpack_log(payload(file, whole), file.string());
  if (!log.complete) refuse(file, "cut off");
  try {
    trace::ByteReader in(log.bytes);
    for (std::uint64_t left = in.varint(); left > 0; --left) write_unpacked(in, file, directory);
  } catch (const trace::MalformedBytes& problem) {
    refuse(file, problem.what());
  }
}

void add_directory(std::vector<PackedFile>& files, const fs::path& directory,
                   const std::string& name) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    const std::string inside = entry.path().lexically_relative(directory).generic_string();
    files.push_back({name + "/" + inside, false, trace::read_file(entry.path())});
  }
}

}  // namespace heddle::store
