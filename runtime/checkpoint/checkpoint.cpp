// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/base/address_space.h"
#include "runtime/base/system.h"
#include "runtime/base/text.h"
#include "runtime/checkpoint/descriptors.h"
#include "runtime/reset/memory_snapshot.h"
#include "runtime/session/session.h"

extern "C" void heddle_call_on_stack(void** save_sp, void* stack_top, void (*entry)());

namespace heddle::runtime {
namespace {

using abi::CheckpointObstacle;

constexpr std::uint64_t kPage = 4096;
constexpr long kMaskBytes = 8;
constexpr int kPagesDescriptor = abi::kCheckpointDescriptor + static_cast<int>(abi::kSegments);
constexpr std::uint64_t kStackBytes = 256 << 10;

/// Where the work is done: part of no image.
struct Room {
  Workspace workspace;
  Mapping image_mappings[Workspace::kMappings];
  DescriptorTable descriptors;
  ImageHeader header;
  abi::ChannelHeader* channel;
  void (*go_on)(abi::ChannelHeader& channel);
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
  for (int i = 0; i < kImageSignals; ++i) {
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

CheckpointObstacle write_image(int file, PageTracker& pages) {
  Room& work = room();
  ImageHeader& header = work.header;
  header = {};
  for (unsigned i = 0; i < sizeof header.magic; ++i) header.magic[i] = kImageMagic[i];
  read_kernel_state(header);
  if (!work.descriptors.read()) return CheckpointObstacle::Descriptors;
  header.descriptors = work.descriptors.count;
  header.watches = work.descriptors.watches;
  header.mappings = static_cast<std::uint32_t>(read_mappings(
      work.image_mappings, Workspace::kMappings, work.workspace.text, sizeof work.workspace.text));
  if (header.mappings == 0) return CheckpointObstacle::Memory;
  ImageWriter out(file);
  if (!out.begin() || !out.add(&header, sizeof header) ||
      !out.add(work.image_mappings, header.mappings * sizeof(Mapping)) ||
      !out.add(work.descriptors.descriptors, header.descriptors * sizeof(ImageDescriptor)) ||
      !out.add(work.descriptors.watched, header.watches * sizeof(ImageWatch))) {
    return CheckpointObstacle::Disk;
  }
  return write_memory(out, pages);
}

// --- restoring. From the first page that is copied on, no variable of this library is what it was
// before, until all are what they are in the image; only the room stays.

[[noreturn]] void cannot_restore(const char* why) {
  abi::FailureRecord& failure = room().channel->failure;
  failure.kind = abi::FailureKind::Unsupported;
  copy_text(failure.message, why);
  exit_now(kStoppedStatus);
}

bool read_whole(void* to, std::uint64_t count) {
  long at = reinterpret_cast<long>(to);
  while (count > 0) {
    const long got =
        raw_syscall(SYS_read, abi::kCheckpointDescriptor, at, static_cast<long>(count));
    if (got <= 0) return false;
    at += got;
    count -= static_cast<std::uint64_t>(got);
  }
  return true;
}

constexpr const char* kDamaged = "the checkpoint of this run is damaged";

void read_beginning() {
  Room& work = room();
  ImageHeader& header = work.header;
  raw_syscall(SYS_lseek, abi::kCheckpointDescriptor, 0, SEEK_SET);
  if (!read_whole(&header, sizeof header)) cannot_restore(kDamaged);
  for (unsigned i = 0; i < sizeof header.magic; ++i) {
    if (header.magic[i] != kImageMagic[i]) cannot_restore(kDamaged);
  }
  if (header.mappings > Workspace::kMappings || header.descriptors > DescriptorTable::kMost ||
      header.watches > DescriptorTable::kMostWatches ||
      !read_whole(work.image_mappings, header.mappings * sizeof(Mapping)) ||
      !read_whole(work.descriptors.descriptors, header.descriptors * sizeof(ImageDescriptor)) ||
      !read_whole(work.descriptors.watched, header.watches * sizeof(ImageWatch))) {
    cannot_restore(kDamaged);
  }
  work.descriptors.count = header.descriptors;
  work.descriptors.watches = header.watches;
}

/// Calls `visit(begin, end, other)` for each part of [begin, end): `other` is which of `mappings`
/// it is in, nullptr where it is in none.
template <typename Visit>
void each_part(std::uint64_t begin, std::uint64_t end, const Mapping* mappings, std::size_t count,
               Visit visit) {
  for (std::size_t i = 0; i < count && begin < end; ++i) {
    const Mapping& other = mappings[i];
    if (other.end <= begin) continue;
    if (other.begin >= end) break;
    if (other.begin > begin) visit(begin, other.begin, nullptr);
    const std::uint64_t from = other.begin > begin ? other.begin : begin;
    begin = other.end < end ? other.end : end;
    visit(from, begin, &other);
  }
  if (begin < end) visit(begin, end, nullptr);
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

void map_gap(std::uint64_t begin, std::uint64_t end) {
  raw_syscall(SYS_mmap, static_cast<long>(begin), static_cast<long>(end - begin), PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

void map_again(const Mapping& image, std::size_t count) {
  const Mapping* const mine = room().workspace.mappings;
  each_part(image.begin, image.end, mine, count,
            [&](std::uint64_t begin, std::uint64_t end, const Mapping* here) {
              if (here != nullptr) {
                if (!here->same_kind(image)) {
                  cannot_restore(
                      "the memory of this process is laid out otherwise than that of "
                      "the recorded one");
                }
                return;
              }
              const bool is_gap = !image.readable && !image.executable && !image.has_file;
              if (is_gap) return map_gap(begin, end);
              if (image.has_file || image.executable || !image.writable) {
                cannot_restore(
                    "a library or file that the recorded program had mapped is not "
                    "mapped when it begins");
              }
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

void read_memory_runs() {
  for (;;) {
    ImageRun run{};
    if (!read_whole(&run, sizeof run)) cannot_restore(kDamaged);
    if (run.begin == run.end) return;
    if (!read_whole(reinterpret_cast<void*>(run.begin), run.end - run.begin)) {
      cannot_restore(kDamaged);
    }
  }
}

void set_kernel_state(const ImageHeader& header) {
  raw_syscall(SYS_umask, header.file_mask);
  raw_syscall(SYS_chdir, reinterpret_cast<long>(header.directory));
  for (int i = 0; i < kImageSignals; ++i) {
    raw_syscall(SYS_rt_sigaction, i + 1, reinterpret_cast<long>(&header.dispositions[i]), 0,
                kMaskBytes);
  }
  raw_syscall(SYS_sigaltstack, reinterpret_cast<long>(&header.signal_stack), 0);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&header.blocked), 0,
              kMaskBytes);
}

void restore() {
  const std::uint64_t all = ~0ull;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), 0, kMaskBytes);
  read_beginning();
  lay_out_memory();
  read_memory_runs();
  Room& work = room();
  if (!work.descriptors.make()) {
    cannot_restore("a file that the recorded program had open is not there any more");
  }
  set_kernel_state(work.header);
  raw_syscall(SYS_close, abi::kCheckpointDescriptor);
  work.go_on(*work.channel);
}

}  // namespace

CheckpointObstacle write_checkpoint(int file) {
  make_room();
  PageTracker pages;
  if (!pages.open_to_look(kPagesDescriptor)) return CheckpointObstacle::Memory;
  const CheckpointObstacle obstacle = write_image(file, pages);
  pages.close();
  return obstacle;
}

void restore_checkpoint(abi::ChannelHeader& channel, void (*go_on)(abi::ChannelHeader& channel)) {
  make_room();
  Room& work = room();
  work.channel = &channel;
  work.go_on = go_on;
  void* ignored;
  heddle_call_on_stack(&ignored, work.stack + kStackBytes, &restore);
  __builtin_unreachable();
}

}  // namespace heddle::runtime
