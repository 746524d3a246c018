// SPDX-License-Identifier: Apache-2.0
#include "driver/placement.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>

#include "abi/memory_image.h"
#include "base/error.h"
#include "driver/descriptor.h"
#include "trace/file.h"
#include "trace/packed_log.h"

namespace heddle::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kUserEnd = 0x8000'0000'0000;  // above is the kernel

/// A line of /proc/PID/maps.
struct Line {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string allowed;
  std::uint64_t offset = 0;
  std::string device;
  std::uint64_t inode = 0;
  std::string name;
};

std::vector<Line> maps_of(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/maps", process));
  std::vector<Line> lines;
  for (std::string text; std::getline(in, text);) {
    std::istringstream words(text);
    Line line;
    char dash = 0;
    words >> std::hex >> line.begin >> dash >> line.end >> line.allowed >> line.offset >>
        line.device >> std::dec >> line.inode >> std::ws;
    std::getline(words, line.name);
    lines.push_back(std::move(line));
  }
  return lines;
}

class ProcessMemory {
 public:
  explicit ProcessMemory(pid_t process)
      : file_(open(fmt::format("/proc/{}/mem", process).c_str(), O_RDONLY | O_CLOEXEC)) {
    if (!file_.valid()) {
      throw environment_error(
          fmt::format("cannot read the memory of the program: {}", strerror(errno)));
    }
  }
  /// Nothing for what the kernel does not show: its own variables.
  std::optional<std::string> read(std::uint64_t begin, std::uint64_t end) const {
    std::string bytes(end - begin, '\0');
    const ssize_t got = pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(begin));
    if (got != static_cast<ssize_t>(bytes.size())) return std::nullopt;
    return bytes;
  }

 private:
  Descriptor file_;
};

// --- the kernel's page of code

struct KernelFunction {
  const char* name;
  std::uint32_t call;
};
constexpr KernelFunction kKernelFunctions[] = {
    {"clock_gettime", SYS_clock_gettime},
    {"clock_getres", SYS_clock_getres},
    {"gettimeofday", SYS_gettimeofday},
    {"time", SYS_time},
    {"getcpu", SYS_getcpu},
    {"getrandom", SYS_getrandom},
};

/// mov $call, %eax; syscall; ret.
std::array<char, 8> code_of(std::uint32_t call) {
  std::array<char, 8> code{'\xb8', 0, 0, 0, 0, '\x0f', '\x05', '\xc3'};
  std::memcpy(code.data() + 1, &call, sizeof call);
  return code;
}

template <typename T>
std::span<const T> table_in(const std::string& bytes, std::uint64_t offset, std::uint64_t count) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T)) return {};
  return {reinterpret_cast<const T*>(bytes.data() + offset), count};
}

/// Its functions read variables of the kernel that are elsewhere on another one, in another form.
/// Whoever has their addresses gets the same by system calls.
void call_the_kernel_instead(std::string& code) {
  const std::string original = code;
  const auto headers = table_in<Elf64_Ehdr>(original, 0, 1);
  if (headers.empty()) return;
  const auto sections = table_in<Elf64_Shdr>(original, headers[0].e_shoff, headers[0].e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const std::uint64_t names = sections[section.sh_link].sh_offset;
    for (const Elf64_Sym& symbol :
         table_in<Elf64_Sym>(original, section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || names + symbol.st_name >= original.size()) {
        continue;
      }
      std::string_view name(original.c_str() + names + symbol.st_name);
      if (name.starts_with("__vdso_")) name.remove_prefix(7);
      const auto* const known = std::ranges::find(kKernelFunctions, name, &KernelFunction::name);
      // Of one that is not known there is no such call: it says so (ENOSYS).
      const auto instead = code_of(known == std::end(kKernelFunctions) ? 0xffff : known->call);
      if (symbol.st_value > code.size() || instead.size() > code.size() - symbol.st_value) continue;
      std::ranges::copy(instead, code.begin() + static_cast<std::ptrdiff_t>(symbol.st_value));
    }
  }
}

// --- making one

using PathText = char[abi::kImagePathBytes];

void copy_path(PathText& to, const std::string& path) {
  if (path.size() >= sizeof to) {
    throw user_error(fmt::format("{}: the path is too long for a pack", path));
  }
  std::memset(to, 0, sizeof to);
  std::memcpy(to, path.data(), path.size());
}

std::string path_of(const PathText& text) {
  return {text, strnlen(text, sizeof text)};
}

class PlacementMaker {
 public:
  PlacementMaker(pid_t process, const std::vector<ProgramFile>& files) : memory_(process) {
    for (const ProgramFile& file : files) {
      candidates_.push_back({fs::canonical(file.file).string(), &file});
    }
    for (const Line& line : maps_of(process)) add(line);
  }

  std::string bytes() const {
    abi::PlacementHeader header{};
    std::memcpy(header.magic, abi::kPlacementMagic, sizeof header.magic);
    header.files = static_cast<std::uint32_t>(files_.size());
    header.pieces = static_cast<std::uint32_t>(pieces_.size());
    std::string all;
    append(all, &header, sizeof header);
    append(all, files_.data(), files_.size() * sizeof files_[0]);
    append(all, pieces_.data(), pieces_.size() * sizeof pieces_[0]);
    const abi::ImageRun last{};
    all += runs_;
    append(all, &last, sizeof last);
    return all;
  }

 private:
  static void append(std::string& to, const void* bytes, std::size_t count) {
    to.append(static_cast<const char*>(bytes), count);
  }

  void add(const Line& line) {
    const bool is_private = line.allowed.size() == 4 && line.allowed[3] == 'p';
    if (!is_private || line.end > kUserEnd) return;
    const bool is_writable = line.allowed[1] == 'w', is_readable = line.allowed[0] == 'r';
    const bool has_file = line.inode != 0;
    if (!has_file && (is_writable || !is_readable)) return;  // is in the image, or empty
    const std::uint32_t file = has_file ? file_named(line.name) : abi::kNoPlacedFile;
    pieces_.push_back({line.begin, line.end, line.offset, file, 0});
    if (is_writable || !is_readable) return;
    std::optional<std::string> held = memory_.read(line.begin, line.end);
    if (!held) return;
    if (line.name == "[vdso]") call_the_kernel_instead(*held);
    add_changed(line, *held, has_file ? trace::read_file(line.name) : std::string());
  }

  /// Pages that are what the file says need not be there twice.
  void add_changed(const Line& line, const std::string& held, const std::string& file) {
    for (std::uint64_t at = 0; at < held.size(); at += kPage) {
      std::string page(kPage, '\0');
      if (line.offset + at < file.size()) {
        const std::string_view there = std::string_view(file).substr(line.offset + at, kPage);
        std::ranges::copy(there, page.begin());
      }
      const std::string_view now = std::string_view(held).substr(at, kPage);
      if (now == page) continue;
      const abi::ImageRun run{line.begin + at, line.begin + at + now.size()};
      append(runs_, &run, sizeof run);
      runs_ += now;
    }
  }

  std::uint32_t file_named(const std::string& path) {
    const auto known = std::ranges::find(candidates_, path, &Candidate::canonical);
    if (known == candidates_.end()) {
      throw user_error(
          fmt::format("{} is mapped when the program begins, and is none of its libraries: the "
                      "run cannot be packed with it",
                      path));
    }
    if (known->number == abi::kNoPlacedFile) {
      known->number = static_cast<std::uint32_t>(files_.size());
      abi::PlacedFile placed{};
      copy_path(placed.name, known->file->name);
      copy_path(placed.path, known->file->packed);
      files_.push_back(placed);
    }
    return known->number;
  }

  struct Candidate {
    std::string canonical;
    const ProgramFile* file;
    std::uint32_t number = abi::kNoPlacedFile;  // among those that are mapped
  };

  ProcessMemory memory_;
  std::vector<Candidate> candidates_;
  std::vector<abi::PlacedFile> files_;
  std::vector<abi::PlacedPiece> pieces_;
  std::string runs_;
};

// --- following one

[[noreturn]] void refuse_damaged() {
  throw user_error(
      "the checkpoint of this run is damaged, or of another version of Heddle; take another copy "
      "of "
      "the run, or record again");
}

/// Calls `visit` for each of `count` records of a file, which may change it, from `offset` on.
template <typename Record, typename Visit>
void each_record(std::string& bytes, std::size_t offset, std::size_t count, Visit visit) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(Record)) refuse_damaged();
  for (std::size_t i = 0; i < count; ++i) {
    Record record;
    char* const at = bytes.data() + offset + i * sizeof record;
    std::memcpy(&record, at, sizeof record);
    visit(record);
    std::memcpy(at, &record, sizeof record);
  }
}

template <typename Visit>
void each_file(std::string& placement, Visit visit) {
  std::uint32_t files = 0;
  each_record<abi::PlacementHeader>(
      placement, 0, 1, [&](const abi::PlacementHeader& header) { files = header.files; });
  each_record<abi::PlacedFile>(placement, sizeof(abi::PlacementHeader), files, visit);
}

abi::ImageHeader header_of(const std::string& image) {
  abi::ImageHeader header{};
  if (image.size() < sizeof header) refuse_damaged();
  std::memcpy(&header, image.data(), sizeof header);
  if (!std::ranges::equal(header.magic, abi::kImageMagic)) refuse_damaged();
  return header;
}

template <typename Visit>
void each_open_file(std::string& image, Visit visit) {
  const abi::ImageHeader header = header_of(image);
  each_record<abi::ImageDescriptor>(image, sizeof header + header.mappings * sizeof(abi::Mapping),
                                    header.descriptors, [&](abi::ImageDescriptor& descriptor) {
                                      if (descriptor.kind == abi::DescriptorKind::File) {
                                        visit(descriptor);
                                      }
                                    });
}

}  // namespace

std::string placement_of(pid_t process, const std::vector<ProgramFile>& files) {
  return PlacementMaker(process, files).bytes();
}

std::map<std::string, fs::path> placed_files(std::string placement, const fs::path& unpacked) {
  std::map<std::string, fs::path> files;
  each_file(placement, [&](const abi::PlacedFile& file) {
    files.emplace(path_of(file.name), unpacked / path_of(file.path));
  });
  return files;
}

std::string placement_in(std::string placement, const fs::path& unpacked) {
  each_file(placement, [&](abi::PlacedFile& file) {
    copy_path(file.path, (unpacked / path_of(file.path)).string());
  });
  return placement;
}

std::string read_image(const fs::path& file) {
  std::string bytes = trace::read_file(file);
  if (!trace::is_packed_log(bytes)) return bytes;
  trace::UnpackedLog log = trace::unpack_log(bytes, file.string());
  if (!log.complete) {
    throw user_error(
        fmt::format("{}: cut off: the run cannot begin where it did; restore it, or record again",
                    file.string()));
  }
  return std::move(log.bytes);
}

std::vector<OpenFile> open_files(std::string image) {
  std::vector<OpenFile> files;
  each_open_file(image, [&](const abi::ImageDescriptor& file) {
    const bool is_read = (file.status_flags & O_ACCMODE) != O_WRONLY;
    files.push_back({path_of(file.path), is_read});
  });
  return files;
}

std::string runtime_of(const std::string& image) {
  const abi::ImageHeader header = header_of(image);
  return {header.runtime, strnlen(header.runtime, sizeof header.runtime)};
}

std::string with_open_files_at(std::string image,
                               const std::function<std::string(const std::string& path)>& moved) {
  each_open_file(image, [&](abi::ImageDescriptor& file) {
    const std::string now = moved(path_of(file.path));
    if (!now.empty()) copy_path(file.path, now);
  });
  return image;
}

}  // namespace heddle::driver
