// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/futex.h"

#include <linux/futex.h>

#include <cerrno>

#include "runtime/sync/wait_list.h"

namespace heddle::runtime {
namespace {

constinit WaitList waiters;

bool resume_ready(const Operation& operation) {
  return !waiters.contains(operation.thread);
}

abi::ThreadIndex nobody(const Operation&, abi::SiteId&) {
  return abi::kNoThread;  // anybody might wake it
}

constexpr Blocking kResuming{&resume_ready, &nobody};

std::uint32_t count_of(std::uint32_t value) {
  return static_cast<std::int32_t>(value) < 0 ? 0 : value;
}

std::uint64_t errno_value(int result) {
  return static_cast<std::uint64_t>(result);
}

std::int64_t deadline_of(Session& session, const FutexCall& call, bool relative) {
  const std::int64_t given = VirtualClock::nanoseconds(*call.timeout);
  return relative ? session.clock().now() + given : given;
}

long wait(Session& session, const FutexCall& call, bool is_bitset, abi::SiteId site) {
  const std::uint32_t bits = is_bitset ? call.value3 : WaitList::kAnyBit;
  if (bits == 0) return -EINVAL;
  if (call.timeout != nullptr && (call.timeout->tv_nsec < 0 || call.timeout->tv_sec < 0 ||
                                  call.timeout->tv_nsec >= VirtualClock::kSecond)) {
    return -EINVAL;
  }
  const Operation begin = operation_on(call.word, abi::EventKind::FutexWait, site);
  session.arrive(begin);
  const abi::ThreadIndex thread = session.current_index();
  const auto found = static_cast<std::uint32_t>(session.load(begin.address, sizeof *call.word));
  if (found != call.value) {
    session.record(begin, 0, errno_value(EAGAIN));
    return -EAGAIN;
  }
  waiters.add(begin.address, thread, bits);
  session.record(begin);

  const bool timed = call.timeout != nullptr;
  const std::int64_t deadline = timed ? deadline_of(session, call, !is_bitset) : 0;
  Operation end =
      operation_on(call.word, abi::EventKind::FutexResume, site, timed ? nullptr : &kResuming);
  if (timed) limit(end, kResuming, deadline);
  session.arrive(end);
  const int result = waiters.contains(thread) ? ETIMEDOUT : 0;
  waiters.remove(thread);
  if (result != 0) session.clock().advance_to(deadline);
  session.record(end, 0, errno_value(result));
  return -result;
}

long wake(Session& session, const FutexCall& call, bool is_bitset, abi::SiteId site) {
  const std::uint32_t bits = is_bitset ? call.value3 : WaitList::kAnyBit;
  if (bits == 0) return -EINVAL;
  const Operation operation = operation_on(call.word, abi::EventKind::FutexWake, site);
  session.arrive(operation);
  // The kernel wakes one where none is asked for.
  const std::uint32_t limit = call.value == 0 ? 1 : count_of(call.value);
  const std::uint32_t woken = waiters.wake(session, operation.address, limit, bits);
  session.record(operation, 0, woken);
  return woken;
}

long requeue(Session& session, const FutexCall& call, bool compares, abi::SiteId site) {
  const Operation operation = operation_on(call.word, abi::EventKind::FutexRequeue, site);
  session.arrive(operation);
  if (compares && session.load(operation.address, sizeof *call.word) != call.value3) {
    session.record(operation, 0, errno_value(EAGAIN));
    return -EAGAIN;
  }
  const std::uint32_t woken = waiters.wake(session, operation.address, count_of(call.value));
  const std::uint32_t moved = waiters.move(
      operation.address, reinterpret_cast<std::uint64_t>(call.word2), count_of(call.value2()));
  session.record(operation, 0, woken, moved);
  return compares ? woken + moved : woken;
}

/// What FUTEX_WAKE_OP does to its second word, and whether that word's old value asks for a second
/// wake-up. The encoding is that of FUTEX_OP in <linux/futex.h>.
bool apply_wake_operation(std::uint32_t& word, std::uint32_t code) {
  const auto sign_extend = [](std::uint32_t bits) {
    return static_cast<std::int32_t>(bits << 20) >> 20;
  };
  std::int32_t argument = sign_extend(code >> 12 & 0xfff);
  const std::int32_t compared = sign_extend(code & 0xfff);
  const std::uint32_t operation = code >> 28 & 0xf;
  if ((operation & FUTEX_OP_OPARG_SHIFT) != 0) {
    argument = static_cast<std::int32_t>(1u << (argument & 31));
  }
  const auto before = static_cast<std::int32_t>(word);
  const auto operand = static_cast<std::uint32_t>(argument);
  switch (operation & ~static_cast<std::uint32_t>(FUTEX_OP_OPARG_SHIFT)) {
    case FUTEX_OP_SET: word = operand; break;
    case FUTEX_OP_ADD: word += operand; break;
    case FUTEX_OP_OR: word |= operand; break;
    case FUTEX_OP_ANDN: word &= ~operand; break;
    case FUTEX_OP_XOR: word ^= operand; break;
    default: break;
  }
  switch (code >> 24 & 0xf) {
    case FUTEX_OP_CMP_EQ: return before == compared;
    case FUTEX_OP_CMP_NE: return before != compared;
    case FUTEX_OP_CMP_LT: return before < compared;
    case FUTEX_OP_CMP_LE: return before <= compared;
    case FUTEX_OP_CMP_GT: return before > compared;
    case FUTEX_OP_CMP_GE: return before >= compared;
    default: return false;
  }
}

long wake_operation(Session& session, const FutexCall& call, abi::SiteId site) {
  const Operation operation = operation_on(call.word, abi::EventKind::FutexWake, site);
  session.arrive(operation);
  session.settle(reinterpret_cast<std::uint64_t>(call.word2), sizeof *call.word2);
  const bool second = apply_wake_operation(*call.word2, call.value3);
  std::uint32_t woken = waiters.wake(session, operation.address, count_of(call.value));
  if (second) {
    woken +=
        waiters.wake(session, reinterpret_cast<std::uint64_t>(call.word2), count_of(call.value2()));
  }
  session.record(operation, 0, woken);
  return woken;
}

}  // namespace

long futex_call(Session& session, const FutexCall& call, abi::SiteId site) {
  switch (call.operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT: return wait(session, call, false, site);
    case FUTEX_WAIT_BITSET: return wait(session, call, true, site);
    case FUTEX_WAKE: return wake(session, call, false, site);
    case FUTEX_WAKE_BITSET: return wake(session, call, true, site);
    case FUTEX_REQUEUE: return requeue(session, call, false, site);
    case FUTEX_CMP_REQUEUE: return requeue(session, call, true, site);
    case FUTEX_WAKE_OP: return wake_operation(session, call, site);
    default: session.unsupported("a priority-inheriting futex through syscall()");
  }
}

}  // namespace heddle::runtime
