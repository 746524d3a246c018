// SPDX-License-Identifier: Apache-2.0
#include "ir/core_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "ir/elf_notes.h"
#include "ir/machine_registers.h"

namespace heddle::ir {
namespace {

template <typename Type>
Type taken_from(std::string_view bytes, std::size_t at = 0) {
  Type value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

CoreFile::CoreFile(std::string_view bytes, std::string name)
    : name_(std::move(name)), bytes_(bytes) {
  parse();
}

CoreFile::CoreFile(const std::filesystem::path& path) : name_(path.string()) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw user_error(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
  struct stat status{};
  fstat(file, &status);
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    ::close(file);
    refuse("it is not a file with contents");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  mapped_ = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    throw environment_error(fmt::format("cannot map {}: {}", name_, std::strerror(errno)));
  }
  bytes_ = {static_cast<const char*>(mapped_), size};
  try {
    parse();
  } catch (...) {
    munmap(mapped_, size);
    throw;
  }
}

CoreFile::~CoreFile() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_.size());
}

void CoreFile::refuse(const std::string& why) const {
  throw user_error(fmt::format(
      "{} cannot be used as a core file: {}; take the one that the kernel wrote (ulimit -c "
      "unlimited, then run the program again) or make one with gcore",
      name_, why));
}

std::string_view CoreFile::slice(std::uint64_t offset, std::uint64_t length,
                                 const char* what) const {
  if (offset > bytes_.size() || length > bytes_.size() - offset) {
    refuse(fmt::format("it is cut off or damaged ({} bytes, {} should end at {})", bytes_.size(),
                       what, offset + length));
  }
  return bytes_.substr(offset, length);
}

void CoreFile::parse() {
  if (bytes_.size() < sizeof(Elf64_Ehdr) || !bytes_.starts_with(ELFMAG))
    refuse("it is no ELF file");
  const auto header = taken_from<Elf64_Ehdr>(bytes_);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64) {
    refuse("it is of another machine than x86-64");
  }
  if (header.e_type != ET_CORE) refuse("it is a program or library, not a core");
  if (header.e_phentsize != sizeof(Elf64_Phdr)) refuse("its program headers are damaged");
  std::uint64_t count = header.e_phnum;
  if (count == PN_XNUM) {
    count = taken_from<Elf64_Shdr>(slice(header.e_shoff, sizeof(Elf64_Shdr), "a header")).sh_info;
  }
  const std::string_view parts =
      slice(header.e_phoff, count * sizeof(Elf64_Phdr), "its program headers");
  std::vector<std::string_view> notes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto part = taken_from<Elf64_Phdr>(parts, i * sizeof(Elf64_Phdr));
    if (part.p_type == PT_NOTE) {
      notes.push_back(slice(part.p_offset, part.p_filesz, "its notes"));
    } else if (part.p_type == PT_LOAD && part.p_filesz != 0) {
      segments_.push_back({part.p_vaddr, slice(part.p_offset, part.p_filesz, "its memory")});
    }
  }
  std::ranges::sort(segments_, {}, &Segment::address);
  for (const std::string_view note : notes) parse_notes(note);
  std::ranges::sort(mappings_, {}, &Mapping::begin);
  if (threads_.empty()) refuse("it holds no thread");
  if (mappings_.empty()) refuse("it does not say which files were loaded");
}

void CoreFile::parse_notes(std::string_view notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    const std::optional<Note> note = take_note(notes);
    if (!note) refuse("a note is damaged");
    if (!note->owner.starts_with("CORE")) continue;
    switch (note->type) {
      case NT_PRSTATUS: add_thread(note->contents); break;
      case NT_FILE: add_files(note->contents); break;
      case NT_AUXV: add_vector(note->contents); break;
      default: break;
    }
  }
}

void CoreFile::add_thread(std::string_view status) {
  if (status.size() < sizeof(elf_prstatus)) refuse("the registers of a thread are damaged");
  const auto contents = taken_from<elf_prstatus>(status);
  static_assert(sizeof(contents.pr_reg) == sizeof(user_regs_struct));
  user_regs_struct machine;
  std::memcpy(&machine, &contents.pr_reg, sizeof machine);
  if (threads_.empty()) signal_ = contents.pr_cursig;
  threads_.push_back({contents.pr_pid, registers_of(machine)});
}

// Number of files and page size; for each file begin, end, offset in pages; then all names.
void CoreFile::add_files(std::string_view list) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const auto word = [&](std::size_t index) {
    return taken_from<std::uint64_t>(list, index * kWord);
  };
  if (list.size() < 2 * kWord) refuse("its list of loaded files is damaged");
  const std::uint64_t count = word(0);
  const std::uint64_t page = word(1);
  if (count > (list.size() / kWord - 2) / 3) refuse("its list of loaded files is damaged");
  std::string_view names = list.substr((2 + 3 * count) * kWord);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t end = names.find('\0');
    if (end == names.npos) refuse("its list of loaded files is damaged");
    mappings_.push_back({word(2 + 3 * i), word(3 + 3 * i), word(4 + 3 * i) * page,
                         std::string(names.substr(0, end))});
    if (mappings_.back().end <= mappings_.back().begin) refuse("its list of files is damaged");
    names.remove_prefix(end + 1);
  }
}

void CoreFile::add_vector(std::string_view entries) {
  for (; entries.size() >= sizeof(Elf64_auxv_t); entries.remove_prefix(sizeof(Elf64_auxv_t))) {
    const auto entry = taken_from<Elf64_auxv_t>(entries);
    if (entry.a_type == AT_PHDR) program_headers_ = entry.a_un.a_val;
  }
}

std::size_t CoreFile::read(std::uint64_t address, std::span<char> to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const std::uint64_t at = address + done;
    const auto after = std::ranges::upper_bound(segments_, at, {}, &Segment::address);
    if (after == segments_.begin()) break;
    const Segment& segment = *std::prev(after);
    if (at - segment.address >= segment.bytes.size()) break;
    const std::string_view rest = segment.bytes.substr(at - segment.address);
    const std::size_t length = std::min(rest.size(), to.size() - done);
    std::memcpy(to.data() + done, rest.data(), length);
    done += length;
  }
  return done;
}

const MachineState::Mapping* CoreFile::program() const {
  const auto holds_headers = [&](const Mapping& mapping) {
    return mapping.begin <= program_headers_ && program_headers_ < mapping.end;
  };
  const auto found = std::ranges::find_if(mappings_, holds_headers);
  return found == mappings_.end() ? nullptr : &*found;
}

}  // namespace heddle::ir
