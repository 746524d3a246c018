// SPDX-License-Identifier: Apache-2.0
//
// Can any other thread still run? If all of them wait for one another or are gone, nobody can come
// to a breakpoint, and a pause would only cost time: the partner that waits for a lock the
// postponed thread holds, the main thread that joins it, the worker that has returned.
//
// Linux tells for each thread in which system call it is blocked. A thread counts as stuck when it
// is in a futex wait without time-out; anything else (running, sleeping, reading) may come back.
// Reading one thread after the other is no snapshot, so we look twice: whoever was stuck both times
// with the same number of time slices was stuck all the while, and all these intervals share the
// moment between the two looks. A wake-up needs somebody who runs; there is nobody.
// Where /proc does not answer (sandboxes, other kernels) the answer is "somebody can": the pause
// then lasts its full time.
#ifndef HEDDLE_DETAIL_BREAKPOINT_LIVENESS_H_
#define HEDDLE_DETAIL_BREAKPOINT_LIVENESS_H_

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "breakpoint_base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HEDDLE_BP_MAX_THREADS = 256 };

/// Reads /proc/self/task/<tid>/<file> into text, null-terminated. Returns false if it cannot.
HEDDLE_BP_SHARED int heddle_bp_task_file(long tid, const char* file, char* text, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%ld/%s", tid, file);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t length = read(fd, text, size - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = 0;
  return 1;
}

/// The number of time slices of a thread that waits on a futex for ever, or 0 if it may run.
HEDDLE_BP_SHARED unsigned long heddle_bp_stuck_slices(long tid) {
  char text[256];
  if (!heddle_bp_task_file(tid, "syscall", text, sizeof text)) return 0;
  char* at = text;
  if (strtol(at, &at, 10) != SYS_futex) return 0;  // "running" parses as 0
  strtoul(at, &at, 16);                            // address
  unsigned long operation = strtoul(at, &at, 16) & 0x7f;
  strtoul(at, &at, 16);  // expected value
  unsigned long timeout = strtoul(at, &at, 16);
  enum { kWait = 0, kLockPi = 6, kWaitBitset = 9, kWaitRequeuePi = 11, kLockPi2 = 13 };
  int waits = operation == kWait || operation == kLockPi || operation == kWaitBitset ||
              operation == kWaitRequeuePi || operation == kLockPi2;
  if (!waits || timeout != 0) return 0;
  if (!heddle_bp_task_file(tid, "schedstat", text, sizeof text)) return 0;
  at = text;
  strtoul(at, &at, 10);  // time on a processor
  strtoul(at, &at, 10);  // time waiting for one
  return strtoul(at, &at, 10);
}

/// A thread that was ended while its process goes on (the main thread after pthread_exit).
HEDDLE_BP_SHARED int heddle_bp_is_dead(long tid) {
  char text[256];
  if (!heddle_bp_task_file(tid, "stat", text, sizeof text)) return 0;
  const char* name_end = strrchr(text, ')');
  return name_end && (name_end[2] == 'Z' || name_end[2] == 'X');
}

/// Lists the threads of the process. Returns their number, or 0 if it cannot be known. Does without
/// opendir because that allocates, and a breakpoint may be inside malloc.
HEDDLE_BP_SHARED unsigned heddle_bp_list_threads(long* tids) {
  int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return 0;
  unsigned count = 0;
  union {
    uint64_t align;
    char bytes[4096];
  } buffer;
  for (;;) {
    long length = syscall(SYS_getdents64, fd, buffer.bytes, sizeof buffer.bytes);
    if (length <= 0) break;
    for (long at = 0; at < length;) {
      // struct linux_dirent64: inode (8 bytes), offset (8), record length (2), type (1), name.
      unsigned short record;
      memcpy(&record, buffer.bytes + at + 16, sizeof record);
      long tid = strtol(buffer.bytes + at + 19, 0, 10);
      if (tid != 0) {
        if (count == HEDDLE_BP_MAX_THREADS) {
          close(fd);
          return 0;
        }
        tids[count++] = tid;
      }
      at += record;
    }
  }
  close(fd);
  return count;
}

/// True only if no thread besides the given ones can run. Called without the lock.
HEDDLE_BP_SHARED int heddle_bp_all_others_stuck(const long* except, unsigned except_count) {
  long tids[HEDDLE_BP_MAX_THREADS];
  unsigned long slices[HEDDLE_BP_MAX_THREADS];
  unsigned count = heddle_bp_list_threads(tids);
  if (count == 0) return 0;
  for (unsigned look = 0; look < 2; ++look) {
    for (unsigned i = 0; i < count; ++i) {
      unsigned excepted = 0;
      while (excepted < except_count && except[excepted] != tids[i]) ++excepted;
      if (excepted < except_count) continue;
      // The dead have a number of their own: one that died between the looks has run.
      unsigned long now = heddle_bp_is_dead(tids[i]) ? ~0ul : heddle_bp_stuck_slices(tids[i]);
      if (now == 0 || (look == 1 && now != slices[i])) return 0;
      slices[i] = now;
    }
  }
  return 1;
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_LIVENESS_H_
