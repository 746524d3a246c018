// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of what waits inside libc's streams: reading from one whose buffer is empty, and
// locking one that another thread has locked. libc's functions are called when they need not wait;
// what is read from a pipe or a socket may come in pieces, each of which is waited for in turn.
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/entry/entry.h"
#include "runtime/sync/descriptor.h"

/// libc's: fills the buffer without taking anything.
extern "C" int __underflow(FILE* stream);

using namespace heddle::runtime;
namespace abi = heddle::abi;

namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

constexpr int kErrorSeen = 0x20;  // of FILE's flags, as libc has it

bool may_wait(FILE* stream) {
  const Gate gate;
  if (!gate) return false;
  const int descriptor = fileno_unlocked(stream);
  return descriptor >= 0 && outside_can_wait(descriptor);
}

/// The turn of a reading call, unless it can be served from what was read before.
void arrive_to_read(FILE* stream) {
  if (stream->_IO_read_ptr < stream->_IO_read_end || !may_wait(stream)) return;
  const Gate gate;
  const int descriptor = fileno_unlocked(stream);
  const std::int64_t limit = descriptor_time_limit(descriptor, POLLIN);
  descriptor_call(session(), descriptor, POLLIN, limit, call_site(), {}, [] { return 0l; });
}

/// Moves at most `room` bytes of what has come, and none after the first `end` (kNoEnd: whatever
/// they are); waits for a piece if there is nothing. Returns 0 at the end of the stream or on an
/// error.
constexpr int kNoEnd = -1;
std::size_t take_piece(FILE* stream, char* to, std::size_t room, int end) {
  arrive_to_read(stream);
  if (stream->_IO_read_ptr >= stream->_IO_read_end && __underflow(stream) == EOF) return 0;
  const auto there = static_cast<std::size_t>(stream->_IO_read_end - stream->_IO_read_ptr);
  std::size_t count = there < room ? there : room;
  if (end != kNoEnd) {
    const auto* last = static_cast<const char*>(memchr(stream->_IO_read_ptr, end, count));
    if (last != nullptr) count = static_cast<std::size_t>(last - stream->_IO_read_ptr) + 1;
  }
  memcpy(to, stream->_IO_read_ptr, count);
  stream->_IO_read_ptr += count;
  return count;
}

/// Moves pieces until `room` bytes are there or the last is `end`.
std::size_t take_pieces(FILE* stream, char* to, std::size_t room, int end) {
  std::size_t count = 0;
  while (count < room) {
    const std::size_t piece = take_piece(stream, to + count, room - count, end);
    count += piece;
    if (piece == 0 || (end != kNoEnd && to[count - 1] == static_cast<char>(end))) break;
  }
  return count;
}

/// Calls `read` while the thread has the stream to itself, also if it is cancelled meanwhile.
template <typename Read>
auto alone(FILE* stream, Read read) {
  if (__fsetlocking(stream, FSETLOCKING_QUERY) == FSETLOCKING_BYCALLER) return read();
  decltype(read()) result;
  flockfile(stream);
  pthread_cleanup_push([](void* locked) { funlockfile(static_cast<FILE*>(locked)); }, stream);
  result = read();
  pthread_cleanup_pop(1);
  return result;
}

char* line_in_pieces(char* text, int room, FILE* stream) {
  if (room <= 0) return nullptr;
  // An error of before must not make this line one, nor be forgotten.
  const int old_error = stream->_flags & kErrorSeen;
  stream->_flags &= ~kErrorSeen;
  const std::size_t count = take_pieces(stream, text, static_cast<std::size_t>(room) - 1, '\n');
  const bool failed = (stream->_flags & kErrorSeen) != 0 && errno != EAGAIN;
  stream->_flags |= old_error;
  if (failed || (count == 0 && room > 1)) return nullptr;
  text[count] = '\0';
  return text;
}

/// Makes the caller's buffer at least `needed` bytes large.
bool make_room(char** line, std::size_t* room, std::size_t needed) {
  if (*line != nullptr && *room >= needed) return true;
  const std::size_t larger = needed > 2 * *room ? needed : 2 * *room;
  auto* moved = static_cast<char*>(realloc(*line, larger));
  if (moved == nullptr) return false;
  *line = moved;
  *room = larger;
  return true;
}

ssize_t delimited_in_pieces(char** line, std::size_t* room, int end, FILE* stream) {
  constexpr std::size_t kPiece = 120;
  if (*line == nullptr) *room = 0;
  std::size_t count = 0;
  for (;;) {
    if (!make_room(line, room, count + kPiece)) return -1;
    const std::size_t piece = take_piece(stream, *line + count, *room - count - 1, end);
    count += piece;
    if (piece == 0 || (*line)[count - 1] == static_cast<char>(end)) break;
  }
  if (count == 0) return -1;
  (*line)[count] = '\0';
  return static_cast<ssize_t>(count);
}

/// For a stream that libc reads from in place of `stream`.
ssize_t read_one(void* stream, char* to, std::size_t room) {
  return static_cast<ssize_t>(
      take_piece(static_cast<FILE*>(stream), to, room == 0 ? 0 : 1, kNoEnd));
}

/// libc's scanf on a stream without a buffer, which asks for each byte when it needs it: what it
/// has looked at and not taken is at most the last, and goes back.
template <typename Scan>
int scan_in_pieces(FILE* stream, Scan scan) {
  cookie_io_functions_t only_read{};
  only_read.read = &read_one;
  FILE* bytes = fopencookie(stream, "r", only_read);
  if (bytes == nullptr) return EOF;
  setvbuf(bytes, nullptr, _IONBF, 0);
  __fsetlocking(bytes, FSETLOCKING_BYCALLER);
  int result = EOF;
  pthread_cleanup_push([](void* opened) { fclose(static_cast<FILE*>(opened)); }, bytes);
  result = scan(bytes);
  stream->_IO_read_ptr -= bytes->_IO_read_end - bytes->_IO_read_ptr;
  pthread_cleanup_pop(1);
  return result;
}

int scan(const char* name, FILE* stream, const char* format, va_list arguments) {
  auto* const real = next<int(FILE*, const char*, va_list)>(name);
  if (!may_wait(stream)) return real(stream, format, arguments);
  return alone(stream, [&] {
    return scan_in_pieces(stream, [&](FILE* bytes) { return real(bytes, format, arguments); });
  });
}

/// As libc lays it out.
struct StreamLock {
  int lock;
  int count;
  void* owner;  // thread pointer, which is the pthread_t
};

StreamLock& lock_of(const Operation& operation) {
  return *reinterpret_cast<StreamLock*>(operation.address);
}

bool lock_ready(const Operation& operation) {
  const StreamLock& lock = lock_of(operation);
  return lock.lock == 0 ||
         reinterpret_cast<unsigned long>(lock.owner) == session().thread(operation.thread).handle;
}

abi::ThreadIndex lock_holder(const Operation& operation, abi::SiteId&) {
  const auto owner = reinterpret_cast<unsigned long>(lock_of(operation).owner);
  for (std::uint32_t i = 0; i < session().thread_count(); ++i) {
    const Thread& thread = session().thread(static_cast<abi::ThreadIndex>(i));
    if (thread.handle == owner && !thread.is_flusher()) return thread.index;
  }
  return abi::kNoThread;
}

constexpr Blocking kLocking{&lock_ready, &lock_holder};

}  // namespace

HEDDLE_ENTRY char* fgets(char* text, int room, FILE* stream) {
  static const auto real = next<char*(char*, int, FILE*)>("fgets");
  if (!may_wait(stream)) return real(text, room, stream);
  return alone(stream, [=] { return line_in_pieces(text, room, stream); });
}

HEDDLE_ENTRY int fgetc(FILE* stream) {
  static const auto real = next<int(FILE*)>("fgetc");
  arrive_to_read(stream);
  return real(stream);
}

HEDDLE_ENTRY int(getc)(FILE* stream) {
  return fgetc(stream);
}

HEDDLE_ENTRY int _IO_getc(FILE* stream) {
  return fgetc(stream);
}

// These two are inline functions in libc's headers.
HEDDLE_ENTRY int read_character() asm("getchar");
HEDDLE_ENTRY ssize_t read_line(char** line, std::size_t* room, FILE* stream) asm("getline");

int read_character() {
  return fgetc(stdin);
}

HEDDLE_ENTRY std::size_t fread(void* to, std::size_t size, std::size_t count, FILE* stream) {
  static const auto real = next<std::size_t(void*, std::size_t, std::size_t, FILE*)>("fread");
  if (!may_wait(stream) || size == 0 || count == 0) return real(to, size, count, stream);
  return alone(stream, [=] {
    return take_pieces(stream, static_cast<char*>(to), size * count, kNoEnd) / size;
  });
}

HEDDLE_ENTRY ssize_t getdelim(char** line, std::size_t* room, int end, FILE* stream) {
  static const auto real = next<ssize_t(char**, std::size_t*, int, FILE*)>("getdelim");
  if (!may_wait(stream) || line == nullptr || room == nullptr) return real(line, room, end, stream);
  return alone(stream, [=] { return delimited_in_pieces(line, room, end, stream); });
}

HEDDLE_ENTRY ssize_t __getdelim(char** line, std::size_t* room, int end, FILE* stream) {
  return getdelim(line, room, end, stream);
}

ssize_t read_line(char** line, std::size_t* room, FILE* stream) {
  return getdelim(line, room, '\n', stream);
}

// As ISO C has it, and as libc had it before (%as allocates): the program's headers choose. The
// names are given apart, since this file's headers choose too.
#define HEDDLE_SCANF(style, prefix)                                                    \
  HEDDLE_ENTRY int style##_vfscanf(FILE*, const char*, va_list) asm(prefix "vfscanf"); \
  HEDDLE_ENTRY int style##_vscanf(const char*, va_list) asm(prefix "vscanf");          \
  HEDDLE_ENTRY int style##_fscanf(FILE*, const char*, ...) asm(prefix "fscanf");       \
  HEDDLE_ENTRY int style##_scanf(const char*, ...) asm(prefix "scanf");                \
  int style##_vfscanf(FILE* stream, const char* format, va_list arguments) {           \
    return scan(prefix "vfscanf", stream, format, arguments);                          \
  }                                                                                    \
  int style##_vscanf(const char* format, va_list arguments) {                          \
    return scan(prefix "vfscanf", stdin, format, arguments);                           \
  }                                                                                    \
  int style##_fscanf(FILE* stream, const char* format, ...) {                          \
    va_list arguments;                                                                 \
    va_start(arguments, format);                                                       \
    const int result = scan(prefix "vfscanf", stream, format, arguments);              \
    va_end(arguments);                                                                 \
    return result;                                                                     \
  }                                                                                    \
  int style##_scanf(const char* format, ...) {                                         \
    va_list arguments;                                                                 \
    va_start(arguments, format);                                                       \
    const int result = scan(prefix "vfscanf", stdin, format, arguments);               \
    va_end(arguments);                                                                 \
    return result;                                                                     \
  }
HEDDLE_SCANF(standard, "__isoc99_")
HEDDLE_SCANF(older, "")

HEDDLE_ENTRY void flockfile(FILE* stream) noexcept {
  static const auto real = next<void(FILE*)>("flockfile");
  const Gate gate;
  if (!gate) return real(stream);
  const Operation operation =
      operation_on(stream->_lock, abi::EventKind::MutexLock, call_site(), &kLocking);
  session().arrive(operation);
  real(stream);
  session().record(operation);
  session().refresh(operation.address);
}

HEDDLE_ENTRY void funlockfile(FILE* stream) noexcept {
  static const auto real = next<void(FILE*)>("funlockfile");
  const Gate gate;
  if (!gate) return real(stream);
  const Operation operation = operation_on(stream->_lock, abi::EventKind::MutexUnlock, call_site());
  session().arrive(operation);
  real(stream);
  session().record(operation);
  session().refresh(operation.address);
}
