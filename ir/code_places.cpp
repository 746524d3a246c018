// SPDX-License-Identifier: Apache-2.0
#include "ir/code_places.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <charconv>

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

bool may_hold_functions(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
         tag == DW_TAG_module;
}

bool is_function(int tag) {
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/// The functions round an address, outermost first. libdw's own search (dwarf_getscopes of elfutils
/// 0.188) finds nothing in units whose code is in several ranges, as link-time optimisation leaves
/// them.
bool add_scopes(Dwarf_Die* scope, std::uint64_t address, std::vector<Dwarf_Die>& functions) {
  Dwarf_Die die;
  if (dwarf_child(scope, &die) != 0) return false;
  do {
    const int tag = dwarf_tag(&die);
    if (may_hold_functions(tag)) {
      if (add_scopes(&die, address, functions)) return true;
    } else if ((is_function(tag) || tag == DW_TAG_lexical_block) &&
               dwarf_haspc(&die, address) == 1) {
      if (is_function(tag)) functions.push_back(die);
      Dwarf_Die inner = die;
      add_scopes(&inner, address, functions);
      return true;
    }
  } while (dwarf_siblingof(&die, &die) == 0);
  return false;
}

/// `at` is where in the innermost function.
std::vector<trace::Frame> inline_chain(Dwarf_Die* unit, std::uint64_t address, trace::Frame at) {
  std::vector<Dwarf_Die> functions;
  add_scopes(unit, address, functions);
  std::vector<trace::Frame> frames;
  for (auto function = functions.rbegin(); function != functions.rend(); ++function) {
    at.function = function_name(&*function);
    frames.push_back(at);
    if (dwarf_tag(&*function) == DW_TAG_subprogram) break;
    at = {"", call_file(unit, &*function), attribute_number(&*function, DW_AT_call_line),
          attribute_number(&*function, DW_AT_call_column)};
  }
  return frames;
}

}  // namespace

void DwflCloser::operator()(Dwfl* dwfl) const {
  dwfl_end(dwfl);
}

std::vector<trace::Frame> frames_at(Dwfl_Module* module, std::uint64_t address) {
  std::vector<trace::Frame> frames;
  Dwarf_Addr bias = 0;
  if (Dwarf_Die* const unit = unit_of(module, address, bias)) {
    frames = inline_chain(unit, address - bias, line_at(unit, address - bias));
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
