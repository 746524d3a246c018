// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of calls whose answers are not recorded: they are libc's own, but a recording
// says that they were made, so that a replay that goes another way can be explained.
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdarg>

#include "runtime/entry/entry.h"
#include "runtime/environment/environment.h"
#include "runtime/reset/changes.h"

using namespace heddle::runtime;
using heddle::abi::UnrecordedSource;

namespace {

void note_if_outside(UnrecordedSource source, int descriptor) {
  const Gate gate;
  if (gate && is_outside(session(), descriptor)) note_source(session(), source);
}

long result_of(long kernel_result) {
  if (kernel_result >= 0) return kernel_result;
  errno = static_cast<int>(-kernel_result);
  return -1;
}

template <typename T>
long word(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

/// They tell the descriptor something, and learn nothing.
bool only_sets(unsigned long request) {
  return request == FIONBIO || request == FIOCLEX || request == FIONCLEX || request == FIOASYNC;
}

}  // namespace

HEDDLE_ENTRY int ioctl(int descriptor, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  const auto argument = va_arg(list, long);
  va_end(list);
  if (request == FIOCLEX || request == FIONCLEX) changes().descriptor_flags = true;
  if (!only_sets(request)) note_if_outside(UnrecordedSource::DeviceControl, descriptor);
  return static_cast<int>(
      result_of(raw_syscall(SYS_ioctl, descriptor, static_cast<long>(request), argument)));
}

HEDDLE_ENTRY ssize_t sendfile(int out, int in, off_t* offset, std::size_t count) noexcept {
  note_if_outside(UnrecordedSource::DirectTransfer, out);
  return result_of(raw_syscall(SYS_sendfile, out, in, word(offset), static_cast<long>(count)));
}

HEDDLE_ENTRY ssize_t sendfile64(int out, int in, off64_t* offset, std::size_t count) noexcept {
  return sendfile(out, in, offset, count);
}

HEDDLE_ENTRY ssize_t splice(int in, off64_t* in_offset, int out, off64_t* out_offset,
                            std::size_t count, unsigned flags) {
  note_if_outside(UnrecordedSource::DirectTransfer, in);
  note_if_outside(UnrecordedSource::DirectTransfer, out);
  return result_of(raw_syscall(SYS_splice, in, word(in_offset), out, word(out_offset),
                               static_cast<long>(count), flags));
}

HEDDLE_ENTRY ssize_t vmsplice(int descriptor, const iovec* parts, std::size_t count,
                              unsigned flags) {
  note_if_outside(UnrecordedSource::DirectTransfer, descriptor);
  return result_of(
      raw_syscall(SYS_vmsplice, descriptor, word(parts), static_cast<long>(count), flags));
}

HEDDLE_ENTRY int recvmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags,
                          timespec* limit) {
  note_if_outside(UnrecordedSource::DirectTransfer, descriptor);
  return static_cast<int>(
      result_of(raw_syscall(SYS_recvmmsg, descriptor, word(messages), count, flags, word(limit))));
}
