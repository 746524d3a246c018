// SPDX-License-Identifier: Apache-2.0
//
// A program that becomes another one: that of an image (checkpoint.h), where nothing of it is
// installed (heddle pack). It is no part of the runtime library, has no libc, and is linked to
// where neither programs nor the runtime put anything (runtime/CMakeLists.txt). So it can give up
// all memory but its own and have that of the other process instead: code from the files that came
// with the pack, everything else from the image. What the runtime library in there does next is
// what it does in a process that was restored in place (checkpoint.cpp).
#include <asm/prctl.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "abi/recording.h"
#include "runtime/base/address_space.h"
#include "runtime/base/system.h"
#include "runtime/checkpoint/image_reader.h"
#include "runtime/reset/page_tracker.h"
#include "runtime/session/channel_state.h"

extern "C" void heddle_call_on_stack(void** save_sp, void* stack_top, void (*entry)());

// Where this program itself is, by the linker.
extern "C" [[gnu::visibility("hidden")]] const char __executable_start[];
extern "C" [[gnu::visibility("hidden")]] const char _end[];

namespace heddle::runtime {
namespace {

using abi::PlacedFile;
using abi::PlacedPiece;

constexpr int kPlacementDescriptor = abi::kCheckpointDescriptor + 1;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kStackBytes = 256 << 10;
constexpr std::size_t kMostMappings = 16 << 10;
constexpr std::size_t kMostFiles = 1 << 10;

/// Where the work is done.
struct Room {
  abi::ImageHeader header;
  abi::Mapping mappings[kMostMappings];
  DescriptorTable descriptors;
  abi::PlacementHeader placement;
  PlacedFile files[kMostFiles];
  PlacedPiece pieces[kMostMappings];
  int opened[kMostFiles];
  abi::ChannelHeader* channel;
  alignas(64) char stack[kStackBytes];
};
static_assert(sizeof(Room) <= kCheckpointBytes);

Room& room() {
  return *reinterpret_cast<Room*>(kCheckpointBase);
}

[[noreturn]] void give_up(const char* why) {
  cannot_restore(*room().channel, why);
}

bool in_room(const abi::Mapping& mapping) {
  return mapping.begin >= kCheckpointBase && mapping.end <= kCheckpointBase + kCheckpointBytes;
}

/// The channel and the log, which this process has or does without; the room; what no process can
/// map (the kernel's page for old system calls).
bool is_left_alone(const abi::Mapping& mapping) {
  return mapping.shared || in_room(mapping) || mapping.end > kMemoryEnd;
}

void read_pieces(ImageReader& in) {
  Room& work = room();
  in.read(&work.placement, sizeof work.placement);
  if (!same_magic(work.placement.magic, abi::kPlacementMagic) ||
      work.placement.files > kMostFiles || work.placement.pieces > kMostMappings) {
    give_up(kImageDamaged);
  }
  in.read(work.files, work.placement.files * sizeof(PlacedFile));
  in.read(work.pieces, work.placement.pieces * sizeof(PlacedPiece));
  for (std::uint32_t i = 0; i < work.placement.files; ++i) {
    const long path = reinterpret_cast<long>(work.files[i].path);
    const long file = raw_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) give_up("a file of the pack is not there any more");
    work.opened[i] = static_cast<int>(file);
  }
}

/// All of what the kernel has made for this process, too: its stack and its page of code.
void unmap_all() {
  const auto unmap = [](std::uint64_t begin, std::uint64_t end) {
    if (raw_syscall(SYS_munmap, static_cast<long>(begin), static_cast<long>(end - begin)) != 0) {
      give_up("this kernel does not let a process give up what it was started with");
    }
  };
  const auto self = reinterpret_cast<std::uint64_t>(__executable_start) & ~(kPage - 1);
  const auto self_end = (reinterpret_cast<std::uint64_t>(_end) + kPage - 1) & ~(kPage - 1);
  unmap(0, kCheckpointBase);
  unmap(kCheckpointBase + kCheckpointBytes, self);
  unmap(self_end, kChannelBase);
  unmap(kChannelBase + ((room().channel->bytes + kPage - 1) & ~(kPage - 1)), kMemoryEnd);
}

bool map_at(std::uint64_t begin, std::uint64_t end, int flags, int file, std::uint64_t offset) {
  return raw_syscall(SYS_mmap, static_cast<long>(begin), static_cast<long>(end - begin),
                     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED | flags, file,
                     static_cast<long>(offset)) == static_cast<long>(begin);
}

/// Writable, until its contents are there.
void map_again(const abi::Mapping& mapping) {
  constexpr const char* kNoMemory = "no memory where the recorded program had some";
  Room& work = room();
  if (is_gap(mapping)) {
    if (!map_gap(mapping.begin, mapping.end)) give_up(kNoMemory);
    return;
  }
  if (!mapping.has_file && mapping.writable && !mapping.executable) {
    const bool is_first_stack = mapping.end >= kMemoryEnd - kFirstStackAbove;
    const int flags = MAP_ANONYMOUS | (is_first_stack ? MAP_GROWSDOWN : 0);
    if (!map_at(mapping.begin, mapping.end, flags, -1, 0)) give_up(kNoMemory);
    return;
  }
  each_part(mapping.begin, mapping.end, work.pieces, work.placement.pieces,
            [&](std::uint64_t begin, std::uint64_t end, const PlacedPiece* piece) {
              if (piece == nullptr) give_up(kNotMapped);
              const bool mapped = piece->file < work.placement.files
                                      ? map_at(begin, end, 0, work.opened[piece->file],
                                               piece->offset + (begin - piece->begin))
                                      : map_at(begin, end, MAP_ANONYMOUS, -1, 0);
              if (!mapped) give_up(kNoMemory);
            });
}

/// Where the program's heap (brk) ends, and so where it goes on. What else the kernel is told of
/// here it only shows in /proc. Kernels without CONFIG_CHECKPOINT_RESTORE do not let themselves be
/// told.
void tell_heap() {
  const Room& work = room();
  const std::uint64_t end = work.header.program_break;
  std::uint64_t begin = end;
  for (std::uint32_t i = 0; i < work.header.mappings; ++i) {
    const abi::Mapping& mapping = work.mappings[i];
    const bool is_heap = mapping.begin < end && end <= mapping.end && !mapping.has_file;
    if (is_heap) begin = mapping.begin;
  }
  const auto self = reinterpret_cast<std::uint64_t>(__executable_start);
  const auto stack = reinterpret_cast<std::uint64_t>(work.stack);
  prctl_mm_map map{};
  map.start_code = map.start_data = map.end_data = self;
  map.end_code = self + kPage;
  map.start_brk = begin;
  map.brk = end;
  map.start_stack = map.arg_start = map.arg_end = map.env_start = map.env_end = stack;
  map.exe_fd = static_cast<std::uint32_t>(-1);
  raw_syscall(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, reinterpret_cast<long>(&map), sizeof map);
}

void protect(const abi::Mapping& mapping) {
  if (is_gap(mapping) || (mapping.readable && mapping.writable && !mapping.executable)) return;
  const int allowed = (mapping.readable ? PROT_READ : 0) | (mapping.writable ? PROT_WRITE : 0) |
                      (mapping.executable ? PROT_EXEC : 0);
  if (raw_syscall(SYS_mprotect, static_cast<long>(mapping.begin),
                  static_cast<long>(mapping.end - mapping.begin), allowed) != 0) {
    give_up(
        "the directory for temporary files does not allow code to be executed; set TMPDIR to "
        "another one");
  }
}

void restore() {
  Room& work = room();
  block_signals();
  ImageReader image(abi::kCheckpointDescriptor, *work.channel);
  image.read_beginning(work.header, work.mappings, kMostMappings, work.descriptors);
  ImageReader placement(kPlacementDescriptor, *work.channel);
  read_pieces(placement);
  unmap_all();
  for (std::uint32_t i = 0; i < work.header.mappings; ++i) {
    if (!is_left_alone(work.mappings[i])) map_again(work.mappings[i]);
  }
  image.read_runs();
  placement.read_runs();
  for (std::uint32_t i = 0; i < work.header.mappings; ++i) {
    if (!is_left_alone(work.mappings[i])) protect(work.mappings[i]);
  }
  tell_heap();
  for (std::uint32_t i = 0; i < work.placement.files; ++i) raw_syscall(SYS_close, work.opened[i]);
  if (!work.descriptors.make()) give_up(kFileGone);
  set_kernel_state(work.header);
  raw_syscall(SYS_close, abi::kCheckpointDescriptor);
  raw_syscall(SYS_close, kPlacementDescriptor);
  raw_syscall(SYS_arch_prctl, ARCH_SET_FS, static_cast<long>(work.header.thread_pointer));
  reinterpret_cast<void (*)(abi::ChannelHeader&)>(work.header.go_on)(*work.channel);
}

[[noreturn]] void refuse(const char* why) {
  print_error(why);
  exit_now(125);
}

abi::ChannelHeader& open_channel() {
  struct stat status{};
  raw_syscall(SYS_fstat, abi::kChannelDescriptor, reinterpret_cast<long>(&status));
  const long at = raw_syscall(SYS_mmap, kChannelBase, status.st_size, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED_NOREPLACE, abi::kChannelDescriptor, 0);
  auto& channel = *reinterpret_cast<abi::ChannelHeader*>(kChannelBase);
  if (at != static_cast<long>(kChannelBase) || channel.magic != abi::kChannelMagic) {
    refuse("heddle: this program is started by `heddle replay PACK`\n");
  }
  if (channel.version != abi::kVersion) {
    refuse("heddle: the pack was made by another version of Heddle: replay it with that one\n");
  }
  raw_syscall(SYS_close, abi::kChannelDescriptor);
  return channel;
}

/// As runtime/session/fork_server.cpp does it: each execution in a process of its own.
[[noreturn]] void serve_executions(abi::ChannelHeader& channel) {
  set_state(channel, abi::ChannelState::Ready);
  while (wait_for_request(channel)) {
    ++channel.reset.processes;
    channel.reset.served = 1;
    channel.reset.remapped = 0;
    set_state_quietly(channel, abi::ChannelState::Running);
    const long child = raw_syscall(SYS_fork);
    if (child == 0) {
      raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
      void* ignored;
      heddle_call_on_stack(&ignored, room().stack + kStackBytes, &restore);
    }
    if (child < 0) refuse("heddle: no process for the execution\n");
    channel.child = static_cast<std::int32_t>(child);
    int status = 0;
    while (raw_syscall(SYS_wait4, child, reinterpret_cast<long>(&status)) != child) {
    }
    if (state_of(channel) == abi::ChannelState::Running) {
      channel.status = status;
      set_state(channel, abi::ChannelState::Finished);
    }
  }
  exit_now(0);
}

}  // namespace
}  // namespace heddle::runtime

using namespace heddle::runtime;

extern "C" [[noreturn, gnu::used]] void heddle_restorer_main() {
  map_memory(kCheckpointBytes, reinterpret_cast<void*>(kCheckpointBase));
  room().channel = &open_channel();
  serve_executions(*room().channel);
}

asm(R"(
  .pushsection .text
  .globl _start
  .type _start, @function
_start:
  xorl %ebp, %ebp
  andq $-16, %rsp
  call heddle_restorer_main
  ud2
  .size _start, . - _start
  .popsection
)");
