// SPDX-License-Identifier: Apache-2.0
//
// The half of DescriptorTable that has nothing to do with the program it was read in.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "runtime/base/system.h"
#include "runtime/checkpoint/descriptors.h"

namespace heddle::runtime {
namespace {

using abi::DescriptorKind;
using abi::ImageDescriptor;

/// From here on descriptors are in nobody's way while others are being made.
constexpr int kAside = abi::kCheckpointDescriptor + 100;

/// Gives `made` the number that it had. `made` itself is kept only where it is that number.
bool put(long made, const ImageDescriptor& descriptor) {
  if (made < 0) return false;
  if (made != descriptor.number) {
    const bool moved = raw_syscall(SYS_dup3, made, descriptor.number, 0) >= 0;
    raw_syscall(SYS_close, made);
    if (!moved) return false;
  }
  raw_syscall(SYS_fcntl, descriptor.number, F_SETFD, descriptor.descriptor_flags);
  raw_syscall(SYS_fcntl, descriptor.number, F_SETFL, descriptor.status_flags);
  if (descriptor.kind == DescriptorKind::File || descriptor.kind == DescriptorKind::Stream) {
    raw_syscall(SYS_lseek, descriptor.number, descriptor.offset, SEEK_SET);
  }
  return true;
}

long set_aside(long descriptor) {
  const long aside = raw_syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, kAside);
  raw_syscall(SYS_close, descriptor);
  return aside;
}

/// Pipes of which one end has been put in its place.
struct Pipes {
  static constexpr unsigned kMost = 256;
  struct Pipe {
    std::uint64_t subject;
    long ends[2];
  };
  Pipe made[kMost];
  unsigned count = 0;

  Pipe* find(std::uint64_t subject) {
    for (unsigned i = 0; i < count; ++i) {
      if (made[i].subject == subject) return &made[i];
    }
    int ends[2];
    if (count == kMost || raw_syscall(SYS_pipe2, reinterpret_cast<long>(ends), O_CLOEXEC) != 0) {
      return nullptr;
    }
    made[count] = {subject, {set_aside(ends[0]), set_aside(ends[1])}};
    return &made[count++];
  }
};

long open_again(const ImageDescriptor& file) {
  const int flags = file.status_flags & ~(O_CREAT | O_EXCL | O_TRUNC);
  return raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(file.path), flags | O_CLOEXEC);
}

long make_one(const ImageDescriptor& descriptor, const long (&streams)[kStreams], Pipes& pipes) {
  switch (descriptor.kind) {
    case DescriptorKind::Stream:
      return raw_syscall(SYS_dup, streams[descriptor.subject % kStreams]);
    case DescriptorKind::File: return open_again(descriptor);
    case DescriptorKind::StandIn:
      return raw_syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    case DescriptorKind::Epoll: return raw_syscall(SYS_epoll_create1, EPOLL_CLOEXEC);
    case DescriptorKind::Event:
      return raw_syscall(SYS_eventfd2, static_cast<long>(descriptor.subject),
                         EFD_CLOEXEC | (descriptor.path[0] == 's' ? EFD_SEMAPHORE : 0));
    case DescriptorKind::Pipe: {
      const Pipes::Pipe* const pipe = pipes.find(descriptor.subject);
      if (pipe == nullptr) return -1;
      const bool writes = (descriptor.status_flags & O_ACCMODE) == O_WRONLY;
      return raw_syscall(SYS_dup, pipe->ends[writes ? 1 : 0]);
    }
  }
  return -1;
}

}  // namespace

bool DescriptorTable::make() const {
  long streams[kStreams];
  for (int i = 0; i < kStreams; ++i) streams[i] = set_aside(i);
  raw_syscall(SYS_close_range, 0, abi::kChannelDescriptor - 1, 0);
  Pipes pipes;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!put(make_one(descriptors[i], streams, pipes), descriptors[i])) return false;
  }
  for (std::uint32_t i = 0; i < watches; ++i) {
    epoll_event event{};
    event.events = watched[i].events;
    event.data.u64 = watched[i].data;
    raw_syscall(SYS_epoll_ctl, watched[i].epoll, EPOLL_CTL_ADD, watched[i].watched,
                reinterpret_cast<long>(&event));
  }
  raw_syscall(SYS_close_range, kAside, 0x7fffffff, 0);
  return true;
}

}  // namespace heddle::runtime
