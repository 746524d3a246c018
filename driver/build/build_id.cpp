// SPDX-License-Identifier: Apache-2.0
#include "driver/build/build_id.h"

#include <elf.h>
#include <fmt/format.h>

#include "base/error.h"
#include "ir/elf_file.h"

namespace heddle::build {

std::string read_build_id(const std::filesystem::path& program) {
  const ir::ElfFile file(program);
  const auto id = file.note(ELF_NOTE_GNU, NT_GNU_BUILD_ID);
  if (!id || id->empty()) {
    throw user_error(fmt::format(
        "{} has no build-id, so it was not built with Heddle; build it with heddle-cc or "
        "heddle-c++ (CC=heddle-cc CXX=heddle-c++)",
        program.string()));
  }
  std::string text;
  for (const char byte : *id) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

bool is_heddle_built(const std::filesystem::path& program) {
  return ir::ElfFile(program).note(kMarkOwner, kMarkType).has_value();
}

}  // namespace heddle::build
