// SPDX-License-Identifier: Apache-2.0
#include "store/pack_file.h"

#include <fmt/format.h>

#include <fstream>

#include "base/error.h"
#include "trace/bytes.h"
#include "trace/file.h"
#include "trace/packed_log.h"

namespace heddle::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "HEDDLE-PACK 1\n";

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
  return std::string(kMagic) + trace::pack_log(out.bytes());
}

bool is_pack(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  return in.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kMagic;
}

void unpack(const fs::path& file, const fs::path& directory) {
  const std::string whole = trace::read_file(file);
  if (!whole.starts_with(kMagic)) refuse(file, "not a pack of Heddle");
  const trace::UnpackedLog log =
      trace::unpack_log(std::string_view(whole).substr(kMagic.size()), file.string());
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
