// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of the calls that open files, where what is opened is recorded or told from a
// recording: plain files are opened (or the copies kept of them), those of the kernel's have their
// contents in the recording, anything else has a stand-in.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_files.h"
#include "runtime/entry/random.h"
#include "runtime/entry/statistics.h"
#include "runtime/entry/unrecorded.h"
#include "runtime/environment/making.h"
#include "runtime/sync/outside.h"

using namespace heddle::runtime;
namespace abi = heddle::abi;

namespace {

/// The mode that open() has only with these flags.
bool takes_mode(int flags) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

bool matters() {
  const Gate gate;
  return gate && is_watched(session());
}

/// Opening one waits for whoever opens its other end: not something to do in one's turn.
bool is_pipe(int directory, const char* path) {
  struct stat status{};
  return raw_syscall(SYS_newfstatat, directory, reinterpret_cast<long>(path),
                     reinterpret_cast<long>(&status), 0) == 0 &&
         S_ISFIFO(status.st_mode);
}

/// `copy`: of a file of the kernel's, which then is what was opened; or -1.
void note_opening(const char* path, int flags, long result, int copy = -1) {
  abi::OpenedFile file{static_cast<std::uint32_t>(flags), 0, 0, 0};
  const KernelFileBytes contents(copy);
  struct stat status{};
  if (result >= 0 && raw_syscall(SYS_fstat, result, reinterpret_cast<long>(&status)) == 0) {
    file.mode = status.st_mode;
    file.size = status.st_size;
    file.changed = VirtualClock::nanoseconds(status.st_mtim);
  }
  const std::size_t length = std::strlen(path) + 1;
  const iovec parts[] = {
      {&file, sizeof file}, {const_cast<char*>(path), length}, {contents.data(), contents.size()}};
  session().note_answer(
      {abi::AnswerKind::Call, SYS_openat,
       static_cast<std::uint32_t>(sizeof file + length + contents.size()), result},
      parts, 3);
}

struct ToldOpening {
  long result;
  unsigned mode;     // of what was opened
  const char* path;  // to be opened in its place
  const char* contents;
  std::size_t size;  // of the contents; 0: they are not recorded

  /// A file of the kernel's, as it was; -1 for any other.
  int kernel_file() const { return size == 0 ? -1 : kernel_file_of(contents, size); }
};

ToldOpening told_opening(const char* path) {
  Session& run = session();
  Thread& thread = run.current();
  const abi::Answer* const answer =
      run.told().take(thread.hash, thread.told, abi::AnswerKind::Call);
  if (answer == nullptr) wait_untold(run, call_site());
  if (answer->call != SYS_openat || answer->bytes < sizeof(abi::OpenedFile)) {
    stop_untold(run, "the program opens a file that it did not open when it was recorded");
  }
  abi::OpenedFile file{};
  const char* const bytes = ToldAnswers::bytes_of(*answer);
  std::memcpy(&file, bytes, sizeof file);
  const char* const name = bytes + sizeof file;
  const std::size_t left = answer->bytes - sizeof file;
  const std::size_t length = strnlen(name, left);
  const std::size_t size = length < left ? left - length - 1 : 0;
  return {static_cast<long>(answer->result), file.mode, run.told().copy_of(path), name + length + 1,
          size};
}

/// As the kernel says it: a descriptor, or an error's number below zero.
long open_file(int directory, const char* path, int flags, mode_t mode) {
  return raw_syscall(SYS_openat, directory, reinterpret_cast<long>(path), flags, mode);
}

long open_told(int directory, const char* path, int flags, mode_t mode) {
  const ToldOpening told = told_opening(path);
  if (S_ISFIFO(told.mode)) return told_descriptor(session(), -1, told.result);
  const MakingTurn turn(session(), call_site());
  if (told.result < 0) return turn.done(told.result);
  if (!outside_is_plain(told.mode)) return turn.done(told_descriptor(session(), -1, told.result));
  const int kernel_file = told.kernel_file();
  const long opened = kernel_file >= 0 ? kernel_file : open_file(directory, told.path, flags, mode);
  if (opened < 0) stop_untold(session(), "a file that was there is missing");
  return turn.done(told_descriptor(session(), opened, told.result));
}

long open_recorded(int directory, const char* path, int flags, mode_t mode) {
  if (is_pipe(directory, path)) {
    const long result = open_file(directory, path, flags, mode);
    note_opening(path, flags, result);
    return result;
  }
  const MakingTurn turn(session(), call_site());
  const int copy = kernel_file_copy(directory, path, flags);
  const long result = copy >= 0 ? copy : open_file(directory, path, flags, mode);
  note_opening(path, flags, result, copy);
  return turn.done(result);
}

/// Whether what the kernel makes up is the same for the program in every run.
bool is_repeatable() {
  const Gate gate;
  return gate && session().one_at_a_time();
}

bool is_random_of_run(const char* path) {
  return random_is_path(path) && is_repeatable();
}

int statistics_of_run(const char* path) {
  return is_repeatable() ? statistics_open(path) : -1;
}

/// The program's own memory is used for a stream: libc opens it, outside the gate.
FILE* open_stream(const char* path, const char* mode, decltype(&fopen) open) {
  if (!matters()) {
    if (mode[0] == 'r' && is_random_of_run(path)) return random_stream();
    const int statistics = mode[0] == 'r' ? statistics_of_run(path) : -1;
    return statistics >= 0 ? real().fdopen(statistics, mode) : open(path, mode);
  }
  // What it reads is recorded as random numbers, not as a file.
  if (mode[0] == 'r' && random_is_path(path)) return random_stream();
  const int flags = mode[0] == 'r' && std::strchr(mode, '+') == nullptr ? O_RDONLY : O_RDWR;
  if (session().notes_answers()) {
    const int copy = kernel_file_copy(AT_FDCWD, path, flags);
    FILE* const stream = copy >= 0 ? real().fdopen(copy, mode) : open(path, mode);
    const int error = errno;
    {
      const Gate gate;
      note_opening(path, flags, stream == nullptr ? -error : fileno(stream), copy);
    }
    errno = error;
    return stream;
  }
  const char* instead = path;
  int kernel_file = -1;
  {
    const Gate gate;
    const ToldOpening told = told_opening(path);
    if (told.result < 0) {
      errno = static_cast<int>(-told.result);
      return nullptr;
    }
    if (!outside_is_plain(told.mode)) {
      stop_untold(session(), "what stdio reads of something that is no plain file is not recorded");
    }
    instead = told.path;
    kernel_file = told.kernel_file();
  }
  return kernel_file >= 0 ? real().fdopen(kernel_file, mode) : open(instead, mode);
}

}  // namespace

HEDDLE_ENTRY int openat(int directory, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(list, mode_t) : 0;
  va_end(list);
  if (!matters()) {
    if (const int statistics = statistics_of_run(path); statistics >= 0) return statistics;
    const int opened = real().openat(directory, path, flags, mode);
    if (opened >= 0 && is_random_of_run(path)) random_note_descriptor(opened);
    return opened;
  }
  const Gate gate;
  const long result = session().told().active() ? open_told(directory, path, flags, mode)
                                                : open_recorded(directory, path, flags, mode);
  if (result >= 0) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
}

HEDDLE_ENTRY int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(list, mode_t) : 0;
  va_end(list);
  return openat(AT_FDCWD, path, flags, mode);
}

HEDDLE_ENTRY int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(list, mode_t) : 0;
  va_end(list);
  return openat(AT_FDCWD, path, flags, mode);
}

HEDDLE_ENTRY int openat64(int directory, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(list, mode_t) : 0;
  va_end(list);
  return openat(directory, path, flags, mode);
}

HEDDLE_ENTRY int creat(const char* path, mode_t mode) {
  return openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

HEDDLE_ENTRY int creat64(const char* path, mode_t mode) {
  return creat(path, mode);
}

// What the compiler makes of open under _FORTIFY_SOURCE, where there is no mode.
HEDDLE_ENTRY int __open_2(const char* path, int flags) {
  return openat(AT_FDCWD, path, flags);
}
HEDDLE_ENTRY int __open64_2(const char* path, int flags) {
  return openat(AT_FDCWD, path, flags);
}
HEDDLE_ENTRY int __openat_2(int directory, const char* path, int flags) {
  return openat(directory, path, flags);
}
HEDDLE_ENTRY int __openat64_2(int directory, const char* path, int flags) {
  return openat(directory, path, flags);
}

HEDDLE_ENTRY FILE* fopen(const char* path, const char* mode) {
  return open_stream(path, mode, real().fopen);
}

HEDDLE_ENTRY FILE* fopen64(const char* path, const char* mode) {
  return open_stream(path, mode, real().fopen64);
}

HEDDLE_ENTRY FILE* fdopen(int descriptor, const char* mode) noexcept {
  note_unrecorded(abi::UnrecordedSource::StreamOfOther, descriptor);
  return real().fdopen(descriptor, mode);
}
