// SPDX-License-Identifier: Apache-2.0
#include "driver/build/build_id.h"

#include <elf.h>
#include <fmt/format.h>

#include <functional>

#include "base/error.h"
#include "driver/build/cache.h"
#include "ir/elf_file.h"
#include "trace/file.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;

/// Empty: it has none.
std::string find_build_id(const fs::path& program) {
  const ir::ElfFile file(program);
  std::string text;
  for (const char byte : file.note(ELF_NOTE_GNU, NT_GNU_BUILD_ID).value_or("")) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

}  // namespace

std::string read_build_id(const fs::path& program) {
  std::string id = find_build_id(program);
  if (id.empty()) {
    throw user_error(fmt::format(
        "{} has no build-id, by which Heddle knows programs that were built with it; build it with "
        "heddle-cc or heddle-c++ (CC=heddle-cc CXX=heddle-c++), and do not remove it",
        program.string()));
  }
  return id;
}

std::string read_identity(const fs::path& program) {
  std::string id = find_build_id(program);
  if (!id.empty()) return id;
  return fmt::format("{:016x}", std::hash<std::string>{}(trace::read_file(program)));
}

bool is_heddle_built(const fs::path& program) {
  if (ir::ElfFile(program).note(kMarkOwner, kMarkType).has_value()) return true;
  // A link by the user's own script leaves no mark.
  const std::string id = find_build_id(program);
  const std::optional<Cache> cache = Cache::if_any();
  std::error_code error;
  return cache && !id.empty() && fs::exists(cache->link(id), error);
}

}  // namespace heddle::build
