// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of the calls that make descriptors. Which number one gets depends on who was
// first: where a run is recorded, or told from a recording, that is part of its order. Elsewhere
// the numbers follow from the schedule anyway.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"
#include "runtime/environment/making.h"
#include "runtime/reset/changes.h"
#include "runtime/sync/outside.h"

using namespace heddle::runtime;

namespace {

int made(long kernel_result) {
  if (kernel_result >= 0) return static_cast<int>(kernel_result);
  errno = static_cast<int>(-kernel_result);
  return -1;
}

template <typename Make>
int make_in_turn(Make make) {
  const Gate gate;
  if (!gate || !is_watched(session())) return made(make());
  const MakingTurn turn(session(), call_site());
  return made(turn.done(make()));
}

/// Made here, both ends of them: nobody else can make them ready.
long mark_ends(long result, const int (&ends)[2]) {
  for (int i = 0; result == 0 && i < 2; ++i) outside_mark_internal(ends[i], true);
  return result;
}

}  // namespace

HEDDLE_ENTRY int pipe2(int ends[2], int flags) noexcept {
  auto& both = *reinterpret_cast<int(*)[2]>(ends);
  return make_in_turn([&] { return mark_ends(raw_syscall(SYS_pipe2, word(ends), flags), both); });
}

HEDDLE_ENTRY int pipe(int ends[2]) noexcept {
  return pipe2(ends, 0);
}

HEDDLE_ENTRY int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  auto& both = *reinterpret_cast<int(*)[2]>(ends);
  return make_in_turn([&] {
    return mark_ends(raw_syscall(SYS_socketpair, domain, type, protocol, word(ends)), both);
  });
}

HEDDLE_ENTRY int eventfd(unsigned count, int flags) noexcept {
  return make_in_turn([&] {
    const long descriptor = raw_syscall(SYS_eventfd2, count, flags);
    outside_mark_internal(static_cast<int>(descriptor), true);
    return descriptor;
  });
}

HEDDLE_ENTRY int socket(int domain, int type, int protocol) noexcept {
  return make_in_turn([&] { return raw_syscall(SYS_socket, domain, type, protocol); });
}

HEDDLE_ENTRY int epoll_create1(int flags) noexcept {
  return make_in_turn([&] { return raw_syscall(SYS_epoll_create1, flags); });
}

HEDDLE_ENTRY int epoll_create(int size) noexcept {
  return make_in_turn([&] { return raw_syscall(SYS_epoll_create, size); });
}

HEDDLE_ENTRY int dup(int descriptor) noexcept {
  return make_in_turn([&] { return raw_syscall(SYS_dup, descriptor); });
}

namespace {

/// `number` is about to stand for something else, which may be what it was but for its flags.
void note_replacing(int descriptor, int number) {
  changes().descriptor_flags = true;
  if (descriptor != number) outside_mark_internal(number, false);
}

}  // namespace

HEDDLE_ENTRY int dup2(int descriptor, int number) noexcept {
  note_replacing(descriptor, number);
  return make_in_turn([&] { return raw_syscall(SYS_dup2, descriptor, number); });
}

HEDDLE_ENTRY int dup3(int descriptor, int number, int flags) noexcept {
  note_replacing(descriptor, number);
  return make_in_turn([&] { return raw_syscall(SYS_dup3, descriptor, number, flags); });
}
