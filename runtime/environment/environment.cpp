// SPDX-License-Identifier: Apache-2.0
#include "runtime/environment/environment.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/text.h"
#include "runtime/sync/outside.h"

namespace heddle::runtime {
namespace {

bool told_ready(const Operation& operation) {
  Session& run = session();
  Thread& thread = run.thread(operation.thread);
  return run.told().peek(thread.hash, thread.told, abi::AnswerKind::Call) != nullptr;
}

abi::ThreadIndex nobody(const Operation&, abi::SiteId&) {
  return abi::kNoThread;
}

Reach from_recording(const Operation&) {
  return Reach::Recorded;
}

constexpr Blocking kTold{&told_ready, &nobody, &from_recording};

std::uint64_t stream_bytes(const Outputs& outputs, long result) {
  return result <= 0 ? 0 : static_cast<std::uint64_t>(result) * outputs.unit;
}

/// Calls `visit(pointer, bytes)` for each piece of memory that a call with this result has filled.
template <typename Visit>
void each_output(const Outputs& outputs, long result, Visit visit) {
  std::uint64_t left = stream_bytes(outputs, result);
  for (unsigned i = 0; i < outputs.parts && left > 0; ++i) {
    const std::uint64_t room = outputs.stream[i].iov_len;
    const std::uint64_t here = left < room ? left : room;
    visit(outputs.stream[i].iov_base, here);
    left -= here;
  }
  for (const iovec& area : outputs.whole) {
    if (area.iov_base != nullptr && area.iov_len > 0) visit(area.iov_base, area.iov_len);
  }
}

}  // namespace

bool is_outside(const Session& session, int descriptor) {
  if (!session.told().active() && !session.notes_answers()) return false;
  return outside_can_wait(descriptor) && !outside_is_internal(descriptor);
}

void told_arrive(Session& session, Operation operation) {
  operation.blocking = &kTold;
  session.arrive(operation);
}

void tell_instead(Operation& operation) {
  operation.blocking = &kTold;
  operation.awaited = nullptr;
}

long told_result(Session& session, const Question& question) {
  Thread& thread = session.current();
  const abi::Answer* const answer =
      session.told().take(thread.hash, thread.told, abi::AnswerKind::Call);
  if (answer == nullptr) {
    stop_untold(session, "the program asks for more from outside than was recorded");
  }
  if (answer->call != question.call) {
    stop_untold(session, "the program asks something else of the outside than was recorded");
  }
  const char* from = ToldAnswers::bytes_of(*answer);
  std::uint64_t left = answer->bytes;
  const long result = static_cast<long>(answer->result);
  each_output(question.outputs, result, [&](void* to, std::uint64_t bytes) {
    const std::uint64_t here = bytes < left ? bytes : left;
    std::memcpy(to, from, here);
    from += here;
    left -= here;
  });
  if (question.gives_descriptor && result >= 0) told_descriptor(session, -1, result);
  return result;
}

void note_result(Session& session, const Question& question, long result) {
  constexpr unsigned kMostParts = 64;
  iovec parts[kMostParts];
  unsigned count = 0;
  std::uint64_t bytes = 0;
  each_output(question.outputs, result, [&](void* at, std::uint64_t length) {
    if (count == kMostParts) session.unsupported("more than 64 buffers in one call");
    parts[count++] = {at, length};
    bytes += length;
  });
  session.note_answer({abi::AnswerKind::Call, static_cast<std::uint16_t>(question.call),
                       static_cast<std::uint32_t>(bytes), result},
                      parts, count);
}

void note_source(Session& session, abi::UnrecordedSource source) {
  if (!session.notes_answers()) return;
  session.note_answer({abi::AnswerKind::Source, static_cast<std::uint16_t>(source), 0, 0}, nullptr,
                      0);
}

long told_descriptor(Session& session, long descriptor, long wanted) {
  if (descriptor < 0) descriptor = raw_syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) stop_untold(session, "there are no more descriptors");
  if (descriptor == wanted) return wanted;
  if (raw_syscall(SYS_fcntl, wanted, F_GETFD) != -EBADF) {
    stop_untold(session, "a descriptor that was free when it was recorded is in use");
  }
  const long flags = raw_syscall(SYS_fcntl, descriptor, F_GETFD);
  raw_syscall(SYS_dup3, descriptor, wanted, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
  raw_syscall(SYS_close, descriptor);
  return wanted;
}

void wait_untold(Session& session, abi::SiteId site) {
  told_arrive(session, operation_on(nullptr, abi::EventKind::Descriptor, site));
  stop_untold(session, "the program asks for more from outside than was recorded");
}

void stop_untold(Session& session, const char* why) {
  copy_text(session.failure().message, why);
  session.stop(abi::FailureKind::Divergence);
}

}  // namespace heddle::runtime
