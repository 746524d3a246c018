// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of calls whose answers are not recorded: they are libc's own, but a recording
// says that they were made, so that a replay that goes another way can be explained.
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <cerrno>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/entry/unrecorded.h"

using namespace heddle::runtime;
using heddle::abi::UnrecordedSource;

HEDDLE_ENTRY ssize_t sendfile(int out, int in, off_t* offset, std::size_t count) noexcept {
  note_unrecorded(UnrecordedSource::DirectTransfer, out);
  return result_of(raw_syscall(SYS_sendfile, out, in, word(offset), static_cast<long>(count)));
}

HEDDLE_ENTRY ssize_t sendfile64(int out, int in, off64_t* offset, std::size_t count) noexcept {
  return sendfile(out, in, offset, count);
}

HEDDLE_ENTRY ssize_t splice(int in, off64_t* in_offset, int out, off64_t* out_offset,
                            std::size_t count, unsigned flags) {
  note_unrecorded(UnrecordedSource::DirectTransfer, in);
  note_unrecorded(UnrecordedSource::DirectTransfer, out);
  return result_of(raw_syscall(SYS_splice, in, word(in_offset), out, word(out_offset),
                               static_cast<long>(count), flags));
}

HEDDLE_ENTRY ssize_t vmsplice(int descriptor, const iovec* parts, std::size_t count,
                              unsigned flags) {
  note_unrecorded(UnrecordedSource::DirectTransfer, descriptor);
  return result_of(
      raw_syscall(SYS_vmsplice, descriptor, word(parts), static_cast<long>(count), flags));
}

HEDDLE_ENTRY int recvmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags,
                          timespec* limit) {
  note_unrecorded(UnrecordedSource::DirectTransfer, descriptor);
  return static_cast<int>(
      result_of(raw_syscall(SYS_recvmmsg, descriptor, word(messages), count, flags, word(limit))));
}
