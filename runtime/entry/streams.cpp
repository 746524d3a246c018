// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of what waits inside libc's streams: reading from one whose buffer is empty, and
// locking one that another thread has locked. The functions themselves are libc's; they are called
// when they need not wait. (A line that comes in pieces still makes them.)
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/entry/entry.h"
#include "runtime/sync/descriptor.h"

using namespace heddle::runtime;
namespace abi = heddle::abi;

namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The turn of a reading call, unless it can be served from what was read before.
void arrive_to_read(FILE* stream) {
  const Gate gate;
  if (!gate || stream->_IO_read_ptr < stream->_IO_read_end) return;
  const int descriptor = fileno_unlocked(stream);
  if (descriptor < 0 || !outside_can_wait(descriptor)) return;
  const std::int64_t limit = descriptor_time_limit(descriptor, POLLIN);
  descriptor_call(session(), descriptor, POLLIN, limit, call_site(), {}, [] { return 0l; });
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
  arrive_to_read(stream);
  return real(text, room, stream);
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
  arrive_to_read(stream);
  return real(to, size, count, stream);
}

HEDDLE_ENTRY ssize_t getdelim(char** line, std::size_t* room, int end, FILE* stream) {
  static const auto real = next<ssize_t(char**, std::size_t*, int, FILE*)>("getdelim");
  arrive_to_read(stream);
  return real(line, room, end, stream);
}

HEDDLE_ENTRY ssize_t __getdelim(char** line, std::size_t* room, int end, FILE* stream) {
  return getdelim(line, room, end, stream);
}

ssize_t read_line(char** line, std::size_t* room, FILE* stream) {
  return getdelim(line, room, '\n', stream);
}

HEDDLE_ENTRY int __isoc99_vfscanf(FILE* stream, const char* format, va_list arguments) {
  static const auto real = next<int(FILE*, const char*, va_list)>("__isoc99_vfscanf");
  arrive_to_read(stream);
  return real(stream, format, arguments);
}

HEDDLE_ENTRY int __isoc99_fscanf(FILE* stream, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = __isoc99_vfscanf(stream, format, arguments);
  va_end(arguments);
  return result;
}

HEDDLE_ENTRY int __isoc99_scanf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = __isoc99_vfscanf(stdin, format, arguments);
  va_end(arguments);
  return result;
}

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
