// SPDX-License-Identifier: Apache-2.0
#include "ir/elf_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace heddle::ir {
namespace {

std::string_view bytes_of(const Elf_Data* data) {
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const char*>(data->d_buf), data->d_size};
}

std::optional<std::string_view> find_note(Elf_Data* data, std::string_view owner,
                                          std::uint32_t type) {
  GElf_Nhdr header;
  std::size_t name_at = 0;
  std::size_t description_at = 0;
  const std::string_view bytes = bytes_of(data);
  std::size_t at = 0;
  while (data != nullptr && (at = gelf_getnote(data, at, &header, &name_at, &description_at)) > 0) {
    // The stored name counts its terminating zero.
    const std::string_view name = bytes.substr(name_at, header.n_namesz);
    if (header.n_type == type && name.substr(0, name.find('\0')) == owner) {
      return bytes.substr(description_at, header.n_descsz);
    }
  }
  return std::nullopt;
}

}  // namespace

ElfFile::ElfFile(const std::filesystem::path& path) : path_(path) {
  elf_version(EV_CURRENT);
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    throw user_error(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  }
  struct stat status{};
  const bool is_file = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  if (is_file) elf_ = elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr);
  GElf_Ehdr header;
  const bool usable =
      elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF && gelf_getehdr(elf_, &header) != nullptr &&
      header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
  if (!usable) {
    elf_end(elf_);
    ::close(descriptor_);
    throw user_error(
        fmt::format("{} is not a 64-bit ELF program or library; give Heddle the compiled program "
                    "itself, not a script that starts it",
                    path.string()));
  }
}

ElfFile::~ElfFile() {
  elf_end(elf_);
  ::close(descriptor_);
}

std::optional<std::string_view> ElfFile::note(std::string_view owner, std::uint32_t type) const {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type != PT_NOTE) continue;
    Elf_Data* data =
        elf_getdata_rawchunk(elf_, static_cast<std::int64_t>(segment.p_offset), segment.p_filesz,
                             segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (auto found = find_note(data, owner, type)) return found;
  }
  return std::nullopt;
}

std::optional<std::string_view> ElfFile::section(std::string_view name) const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0) return std::nullopt;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS) continue;
    const char* found = elf_strptr(elf_, names, header.sh_name);
    if (found != nullptr && name == found) return bytes_of(elf_rawdata(section, nullptr));
  }
  return std::nullopt;
}

std::vector<ElfFile::Symbol> ElfFile::symbols_of(std::uint32_t section_type) const {
  std::vector<Symbol> symbols;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != section_type) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) continue;
    const std::size_t count = data->d_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
      if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = elf_strptr(elf_, header.sh_link, symbol.st_name);
      if (name == nullptr || *name == '\0') continue;
      symbols.push_back({name, symbol.st_value, symbol.st_size});
    }
  }
  return symbols;
}

std::vector<ElfFile::Symbol> ElfFile::data_symbols() const {
  std::vector<Symbol> symbols = symbols_of(SHT_SYMTAB);
  return symbols.empty() ? symbols_of(SHT_DYNSYM) : symbols;
}

bool ElfFile::mentions(std::string_view symbol, bool defined) const {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) continue;
    if (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const std::size_t count = data == nullptr ? 0 : data->d_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym found;
      if (gelf_getsym(data, static_cast<int>(i), &found) == nullptr) break;
      if ((found.st_shndx != SHN_UNDEF) != defined) continue;
      const char* name = elf_strptr(elf_, header.sh_link, found.st_name);
      if (name != nullptr && symbol == name) return true;
    }
  }
  return false;
}

std::vector<std::string> ElfFile::needed_libraries() const {
  return dynamic_strings(DT_NEEDED);
}

std::string ElfFile::run_path() const {
  // The loader does not look at the older kind where there is the newer one.
  for (const std::int64_t tag : {DT_RUNPATH, DT_RPATH}) {
    const std::vector<std::string> found = dynamic_strings(tag);
    if (!found.empty()) return found.front();
  }
  return {};
}

bool ElfFile::is_library() const {
  return !has_interpreter() && !dynamic_strings(DT_SONAME).empty();
}

std::vector<std::string> ElfFile::dynamic_strings(std::int64_t tag) const {
  std::vector<std::string> strings;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Dyn entry;
    for (int i = 0; data != nullptr && gelf_getdyn(data, i, &entry) != nullptr; ++i) {
      if (entry.d_tag != tag) continue;
      const char* text = elf_strptr(elf_, header.sh_link, entry.d_un.d_val);
      if (text != nullptr) strings.emplace_back(text);
    }
  }
  return strings;
}

std::string_view ElfFile::bytes_at(std::uint64_t address) const {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0) return {};
  std::size_t size = 0;
  const char* const file = elf_rawfile(elf_, &size);
  for (std::size_t i = 0; file != nullptr && i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr || segment.p_type != PT_LOAD ||
        address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz) {
      continue;
    }
    const std::uint64_t skipped = address - segment.p_vaddr;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) return {};
    return {file + segment.p_offset + skipped, segment.p_filesz - skipped};
  }
  return {};
}

std::optional<std::uint64_t> ElfFile::address_of_offset(std::uint64_t offset) const {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf_, static_cast<int>(i), &segment) != nullptr && segment.p_type == PT_LOAD &&
        segment.p_offset <= offset && offset - segment.p_offset < segment.p_filesz) {
      return segment.p_vaddr + (offset - segment.p_offset);
    }
  }
  return std::nullopt;
}

bool ElfFile::has_interpreter() const {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0) return false;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf_, static_cast<int>(i), &segment) != nullptr &&
        segment.p_type == PT_INTERP) {
      return true;
    }
  }
  return false;
}

}  // namespace heddle::ir
