// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/base/address_space.h"
#include "runtime/base/system.h"
#include "runtime/base/text.h"
#include "runtime/checkpoint/build_id.h"
#include "runtime/checkpoint/descriptors.h"
#include "runtime/checkpoint/image_reader.h"
#include "runtime/reset/memory_snapshot.h"

extern "C" void heddle_call_on_stack(void** save_sp, void* stack_top, void (*entry)());
extern "C" void heddle_fiber_enter(void* next_sp);

namespace heddle::runtime {
namespace {

using abi::CheckpointObstacle;
using abi::ImageHeader;
using abi::ImageRun;

constexpr std::uint64_t kPage = 4096;
constexpr int kPagesDescriptor = abi::kCheckpointDescriptor + static_cast<int>(abi::kSegments);
constexpr std::uint64_t kStackBytes = 256 << 10;

/// Where the work is done: part of no image.
struct Room {
  Workspace workspace;
  Mapping image_mappings[Workspace::kMappings];
  DescriptorTable descriptors;
  ImageHeader header;
  abi::ChannelHeader* channel;
  alignas(64) char stack[kStackBytes];
};
static_assert(sizeof(Room) <= kCheckpointBytes);

constinit bool has_room = false;

void make_room() {
  if (!has_room) map_memory(kCheckpointBytes, reinterpret_cast<void*>(kCheckpointBase));
  has_room = true;
}

Room& room() {
  return *reinterpret_cast<Room*>(kCheckpointBase);
}

bool is_room(const Mapping& mapping) {
  return mapping.begin >= kCheckpointBase && mapping.end <= kCheckpointBase + kCheckpointBytes;
}

/// What an image holds the contents of.
bool is_written(const Mapping& mapping) {
  return mapping.writable && !mapping.shared && !is_room(mapping);
}

// --- writing

class ImageWriter {
 public:
  explicit ImageWriter(int file) : file_(file) {}

  bool begin() {
    return raw_syscall(SYS_ftruncate, file_, 0) == 0 &&
           raw_syscall(SYS_lseek, file_, 0, SEEK_SET) == 0;
  }
  bool add(const void* bytes, std::uint64_t count) {
    const char* at = static_cast<const char*>(bytes);
    while (count > 0) {
      const long written =
          raw_syscall(SYS_write, file_, reinterpret_cast<long>(at), static_cast<long>(count));
      if (written <= 0) return false;
      at += written;
      count -= static_cast<std::uint64_t>(written);
    }
    return true;
  }
  bool add_run(std::uint64_t begin, std::uint64_t end) {
    const ImageRun run{begin, end};
    return add(&run, sizeof run) && add(reinterpret_cast<const void*>(begin), end - begin);
  }

 private:
  int file_;
};

void read_kernel_state(ImageHeader& header) {
  header.program_break = static_cast<std::uint64_t>(raw_syscall(SYS_brk, 0));
  header.file_mask = static_cast<std::uint32_t>(raw_syscall(SYS_umask, 0));
  raw_syscall(SYS_umask, header.file_mask);
  for (int i = 0; i < abi::kImageSignals; ++i) {
    raw_syscall(SYS_rt_sigaction, i + 1, 0, reinterpret_cast<long>(&header.dispositions[i]),
                kMaskBytes);
  }
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, reinterpret_cast<long>(&header.blocked),
              kMaskBytes);
  raw_syscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&header.signal_stack));
  raw_syscall(SYS_getcwd, reinterpret_cast<long>(header.directory), sizeof header.directory);
}

CheckpointObstacle write_memory(ImageWriter& out, PageTracker& pages) {
  Workspace& workspace = room().workspace;
  for (std::uint32_t i = 0; i < room().header.mappings; ++i) {
    const Mapping& mapping = room().image_mappings[i];
    if (!is_written(mapping)) continue;
    if (mapping.has_file) {
      // A page of a file that nobody touched yet is not empty, it is what the file says.
      if (!out.add_run(mapping.begin, mapping.end)) return CheckpointObstacle::Disk;
      continue;
    }
    for (std::uint64_t at = mapping.begin; at < mapping.end;) {
      const long found = pages.find_present(at, mapping.end, workspace.ranges, Workspace::kRanges);
      if (found < 0) return CheckpointObstacle::Memory;
      for (long n = 0; n < found; ++n) {
        if (!out.add_run(workspace.ranges[n].begin, workspace.ranges[n].end)) {
          return CheckpointObstacle::Disk;
        }
      }
    }
  }
  const ImageRun last{0, 0};
  return out.add(&last, sizeof last) ? CheckpointObstacle::None : CheckpointObstacle::Disk;
}

CheckpointObstacle write_image(int file, std::uint32_t& held, PageTracker& pages,
                               const Continuation& continuation) {
  Room& work = room();
  ImageHeader& header = work.header;
  header = {};
  for (unsigned i = 0; i < sizeof header.magic; ++i) header.magic[i] = abi::kImageMagic[i];
  read_own_build_id(header.runtime);
  header.go_on = reinterpret_cast<std::uint64_t>(continuation.go_on);
  header.thread_pointer = continuation.thread_pointer;
  read_kernel_state(header);
  if (!work.descriptors.read()) return CheckpointObstacle::Descriptors;
  header.descriptors = work.descriptors.count;
  header.watches = work.descriptors.watches;
  header.mappings = static_cast<std::uint32_t>(read_mappings(
      work.image_mappings, Workspace::kMappings, work.workspace.text, sizeof work.workspace.text));
  if (header.mappings == 0) return CheckpointObstacle::Memory;
  __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
  ImageWriter out(file);
  if (!out.begin() || !out.add(&header, sizeof header) ||
      !out.add(work.image_mappings, header.mappings * sizeof(Mapping)) ||
      !out.add(work.descriptors.descriptors, header.descriptors * sizeof(abi::ImageDescriptor)) ||
      !out.add(work.descriptors.watched, header.watches * sizeof(abi::ImageWatch))) {
    return CheckpointObstacle::Disk;
  }
  return write_memory(out, pages);
}

// --- restoring. From the first page that is copied on, no variable of this library is what it was
// before, until all are what they are in the image; only the room stays.

[[noreturn]] void give_up(const char* why) {
  cannot_restore(*room().channel, why);
}

/// This process loses what the image does not have, and what is in what it has.
void empty_memory(std::size_t count) {
  Room& work = room();
  for (std::size_t i = 0; i < count; ++i) {
    const Mapping& mine = work.workspace.mappings[i];
    if (!is_written(mine) || mine.has_file) continue;
    each_part(mine.begin, mine.end, work.image_mappings, work.header.mappings,
              [](std::uint64_t begin, std::uint64_t end, const Mapping* image) {
                const auto address = static_cast<long>(begin);
                const auto bytes = static_cast<long>(end - begin);
                if (image == nullptr) {
                  raw_syscall(SYS_munmap, address, bytes);
                } else {
                  raw_syscall(SYS_madvise, address, bytes, MADV_DONTNEED);
                }
              });
  }
}

/// The first stack grows when it is touched.
void grow_stack(std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t at = end - kPage; at >= begin; at -= kPage) {
    *reinterpret_cast<volatile char*>(at) = 0;
  }
}

void map_again(const Mapping& image, std::size_t count) {
  const Mapping* const mine = room().workspace.mappings;
  each_part(image.begin, image.end, mine, count,
            [&](std::uint64_t begin, std::uint64_t end, const Mapping* here) {
              if (here != nullptr) {
                if (!here->same_kind(image)) {
                  give_up(
                      "the memory of this process is laid out otherwise than that of "
                      "the recorded one");
                }
                return;
              }
              if (is_gap(image)) {
                map_gap(begin, end);
                return;
              }
              if (image.has_file || image.executable || !image.writable) give_up(kNotMapped);
              if (image.end >= kMemoryEnd - kFirstStackAbove) return grow_stack(begin, end);
              map_memory(end - begin, reinterpret_cast<void*>(begin));
            });
}

void lay_out_memory() {
  Room& work = room();
  raw_syscall(SYS_brk, static_cast<long>(work.header.program_break));
  const std::size_t count = read_mappings(work.workspace.mappings, Workspace::kMappings,
                                          work.workspace.text, sizeof work.workspace.text);
  for (std::uint32_t i = 0; i < work.header.mappings; ++i) {
    const Mapping& image = work.image_mappings[i];
    if (!image.shared && !is_room(image)) map_again(image, count);
  }
  empty_memory(count);
}

void restore() {
  Room& work = room();
  block_signals();
  ImageReader image(abi::kCheckpointDescriptor, *work.channel);
  image.read_beginning(work.header, work.image_mappings, Workspace::kMappings, work.descriptors);
  char own[abi::kImageBuildIdBytes] = {};
  read_own_build_id(own);
  if (!same_text(own, work.header.runtime)) {
    give_up(
        "this run begins at a checkpoint that holds the memory of another build of Heddle: use "
        "that "
        "one, or record again");
  }
  lay_out_memory();
  image.read_runs();
  if (!work.descriptors.make()) give_up(kFileGone);
  set_kernel_state(work.header);
  raw_syscall(SYS_close, abi::kCheckpointDescriptor);
  reinterpret_cast<void (*)(abi::ChannelHeader&)>(work.header.go_on)(*work.channel);
}

// --- the program's beginning

constinit void* at_beginning = nullptr;  // of the stack, with the registers on it

void begin_program(abi::ChannelHeader&) {
  heddle_fiber_enter(at_beginning);
}

void write_beginning() {
  const auto thread_pointer = reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
  std::uint32_t held = 0;
  if (write_checkpoint(abi::kCheckpointDescriptor, held, {&begin_program, thread_pointer}) !=
      CheckpointObstacle::None) {
    give_up("the program's beginning cannot be written down: no room, or too many open files");
  }
  exit_now(0);
}

}  // namespace

CheckpointObstacle write_checkpoint(int file, std::uint32_t& held,
                                    const Continuation& continuation) {
  make_room();
  PageTracker pages;
  if (!pages.open_to_look(kPagesDescriptor)) return CheckpointObstacle::Memory;
  const CheckpointObstacle obstacle = write_image(file, held, pages, continuation);
  pages.close();
  return obstacle;
}

void keep_beginning(abi::ChannelHeader& channel) {
  make_room();
  room().channel = &channel;
  heddle_call_on_stack(&at_beginning, room().stack + kStackBytes, &write_beginning);
}

void restore_checkpoint(abi::ChannelHeader& channel) {
  make_room();
  Room& work = room();
  work.channel = &channel;
  void* ignored;
  heddle_call_on_stack(&ignored, work.stack + kStackBytes, &restore);
  __builtin_unreachable();
}

}  // namespace heddle::runtime
