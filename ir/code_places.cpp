// SPDX-License-Identifier: Apache-2.0
#include "ir/code_places.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "ir/symbol_table.h"

namespace heddle::ir {
namespace {

char* debug_path = nullptr;  // libdwfl wants an address of it; null: the usual places
const Dwfl_Callbacks kCallbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                   dwfl_offline_section_address, &debug_path};

std::string attribute_text(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  const char* const text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
  return text == nullptr ? "" : text;
}

std::string function_name(Dwarf_Die* die) {
  std::string name = attribute_text(die, DW_AT_linkage_name);
  if (name.empty()) name = attribute_text(die, DW_AT_name);
  return demangle(name);
}

std::uint32_t attribute_number(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0) return 0;
  return static_cast<std::uint32_t>(value);
}

std::string call_file(Dwarf_Die* unit, Dwarf_Die* inlined) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(unit, &files, &count) != 0) return {};
  const char* const name =
      dwarf_filesrc(files, attribute_number(inlined, DW_AT_call_file), nullptr, nullptr);
  return name == nullptr ? "" : name;
}

/// Clang writes no index of its units (.debug_aranges), so that each has to be asked.
Dwarf_Die* unit_of(Dwfl_Module* module, std::uint64_t address, Dwarf_Addr& bias) {
  if (Dwarf_Die* const unit = dwfl_module_addrdie(module, address, &bias)) return unit;
  for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr;) {
    if (dwarf_haspc(unit, address - bias) == 1) return unit;
  }
  return nullptr;
}

trace::Frame line_at(Dwarf_Die* unit, std::uint64_t address) {
  trace::Frame frame;
  Dwarf_Line* const found = dwarf_getsrc_die(unit, address);
  const char* const file = found == nullptr ? nullptr : dwarf_linesrc(found, nullptr, nullptr);
  if (file == nullptr) return frame;
  int number = 0;
  frame.file = file;
  if (dwarf_lineno(found, &number) == 0) frame.line = static_cast<std::uint32_t>(number);
  if (dwarf_linecol(found, &number) == 0) frame.column = static_cast<std::uint32_t>(number);
  return frame;
}

/// Adds a frame for each function of the scopes round the address; `at` is where in the innermost.
void add_scopes(Dwarf_Die* unit, std::uint64_t address, trace::Frame at,
                std::vector<trace::Frame>& frames) {
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes(unit, address, &scopes);
  for (int i = 0; i < count; ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    at.function = function_name(&scopes[i]);
    frames.push_back(at);
    if (tag == DW_TAG_subprogram) break;
    at = {"", call_file(unit, &scopes[i]), attribute_number(&scopes[i], DW_AT_call_line),
          attribute_number(&scopes[i], DW_AT_call_column)};
  }
  std::free(scopes);
}

}  // namespace

void DwflCloser::operator()(Dwfl* dwfl) const {
  dwfl_end(dwfl);
}

std::vector<trace::Frame> frames_at(Dwfl_Module* module, std::uint64_t address) {
  std::vector<trace::Frame> frames;
  Dwarf_Addr bias = 0;
  if (Dwarf_Die* const unit = unit_of(module, address, bias)) {
    add_scopes(unit, address - bias, line_at(unit, address - bias), frames);
  }
  if (frames.empty()) {
    if (const char* const symbol = dwfl_module_addrname(module, address)) {
      frames.push_back({demangle(symbol), "", 0, 0});
    }
  }
  return frames;
}

CodePlaces::CodePlaces(const std::filesystem::path& file) : dwfl_(dwfl_begin(&kCallbacks)) {
  if (!dwfl_) return;
  dwfl_report_begin(dwfl_.get());
  module_ = dwfl_report_elf(dwfl_.get(), "program", file.c_str(), -1, 0, true);
  dwfl_report_end(dwfl_.get(), nullptr, nullptr);
}

std::vector<trace::Frame> CodePlaces::frames(std::uint64_t address) const {
  return module_ == nullptr ? std::vector<trace::Frame>{} : frames_at(module_, address);
}

std::string CodePlaces::key(std::uint64_t address) const {
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* const name =
      module_ == nullptr
          ? nullptr
          : dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name != nullptr) {
    std::string named = fmt::format("{}+{:#x}", name, offset);
    if (this->address(named) == address) return named;
  }
  return fmt::format("+{:#x}", address);
}

std::optional<std::uint64_t> CodePlaces::address(std::string_view key) const {
  const std::size_t plus = key.rfind("+0x");
  if (plus == std::string_view::npos || module_ == nullptr) return std::nullopt;
  std::uint64_t offset = 0;
  const char* const end = key.data() + key.size();
  if (std::from_chars(key.data() + plus + 3, end, offset, 16).ptr != end) return std::nullopt;
  const std::string_view name = key.substr(0, plus);
  if (name.empty()) return offset;
  const int count = dwfl_module_getsymtab(module_);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* const found =
        dwfl_module_getsym_info(module_, i, &symbol, &address, nullptr, nullptr, nullptr);
    if (found != nullptr && name == found && GELF_ST_TYPE(symbol.st_info) == STT_FUNC) {
      return address + offset;
    }
  }
  return std::nullopt;
}

}  // namespace heddle::ir
