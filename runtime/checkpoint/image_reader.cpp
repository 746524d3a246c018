// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/image_reader.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/base/system.h"
#include "runtime/base/text.h"
#include "runtime/session/session.h"

namespace heddle::runtime {

void cannot_restore(abi::ChannelHeader& channel, const char* why) {
  channel.failure.kind = abi::FailureKind::Unsupported;
  copy_text(channel.failure.message, why);
  exit_now(kStoppedStatus);
}

bool same_magic(const char (&a)[8], const char (&b)[8]) {
  for (unsigned i = 0; i < sizeof a; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

ImageReader::ImageReader(int file, abi::ChannelHeader& channel) : file_(file), channel_(channel) {
  raw_syscall(SYS_lseek, file, 0, SEEK_SET);
}

void ImageReader::read(void* to, std::uint64_t bytes) {
  long at = reinterpret_cast<long>(to);
  while (bytes > 0) {
    const long got = raw_syscall(SYS_read, file_, at, static_cast<long>(bytes));
    if (got <= 0) cannot_restore(channel_, kImageDamaged);
    at += got;
    bytes -= static_cast<std::uint64_t>(got);
  }
}

void ImageReader::read_beginning(abi::ImageHeader& header, abi::Mapping* mappings,
                                 std::size_t most_mappings, DescriptorTable& descriptors) {
  read(&header, sizeof header);
  if (!same_magic(header.magic, abi::kImageMagic) || header.mappings > most_mappings ||
      header.descriptors > DescriptorTable::kMost ||
      header.watches > DescriptorTable::kMostWatches) {
    cannot_restore(channel_, kImageDamaged);
  }
  read(mappings, header.mappings * sizeof(abi::Mapping));
  read(descriptors.descriptors, header.descriptors * sizeof(abi::ImageDescriptor));
  read(descriptors.watched, header.watches * sizeof(abi::ImageWatch));
  descriptors.count = header.descriptors;
  descriptors.watches = header.watches;
}

void ImageReader::read_runs() {
  for (;;) {
    abi::ImageRun run{};
    read(&run, sizeof run);
    if (run.begin == run.end) return;
    read(reinterpret_cast<void*>(run.begin), run.end - run.begin);
  }
}

bool is_gap(const abi::Mapping& mapping) {
  return !mapping.readable && !mapping.executable && !mapping.has_file;
}

bool map_gap(std::uint64_t begin, std::uint64_t end) {
  const long at =
      raw_syscall(SYS_mmap, static_cast<long>(begin), static_cast<long>(end - begin), PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  return at == static_cast<long>(begin);
}

void block_signals() {
  const std::uint64_t all = ~0ull;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&all), 0, kMaskBytes);
}

void set_kernel_state(const abi::ImageHeader& header) {
  raw_syscall(SYS_umask, header.file_mask);
  raw_syscall(SYS_chdir, reinterpret_cast<long>(header.directory));
  for (int i = 0; i < abi::kImageSignals; ++i) {
    raw_syscall(SYS_rt_sigaction, i + 1, reinterpret_cast<long>(&header.dispositions[i]), 0,
                kMaskBytes);
  }
  raw_syscall(SYS_sigaltstack, reinterpret_cast<long>(&header.signal_stack), 0);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&header.blocked), 0,
              kMaskBytes);
}

}  // namespace heddle::runtime
