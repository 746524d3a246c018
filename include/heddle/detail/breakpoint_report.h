// SPDX-License-Identifier: Apache-2.0
//
// What breakpoints tell people: messages on stderr, and the report at exit as text or JSON. Written
// with write(2): stdio may be locked by a thread that will never run again.
#ifndef HEDDLE_DETAIL_BREAKPOINT_REPORT_H_
#define HEDDLE_DETAIL_BREAKPOINT_REPORT_H_

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "breakpoint_base.h"

#ifdef __cplusplus
extern "C" {
#endif

HEDDLE_BP_SHARED void heddle_bp_write(int fd, const char* text) {
  size_t left = strlen(text);
  while (left > 0) {
    // Not write(): under control that would be a scheduling point, in the middle of the engine.
    ssize_t written = syscall(SYS_write, fd, text, left);
    if (written <= 0) return;
    text += written;
    left -= (size_t)written;
  }
}

__attribute__((format(printf, 1, 2))) HEDDLE_BP_SHARED void heddle_bp_say(const char* format, ...) {
  char text[512] = "heddle: ";
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + 8, sizeof text - 8, format, arguments);
  va_end(arguments);
  heddle_bp_write(STDERR_FILENO, text);
}

/// A name as the inside of a JSON string.
HEDDLE_BP_SHARED void heddle_bp_escape(const char* text, char* escaped) {
  for (; *text; ++text) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') *escaped++ = '\\';
    if (c < 0x20) {
      escaped += snprintf(escaped, 7, "\\u%04x", c);
    } else {
      *escaped++ = (char)c;
    }
  }
  *escaped = 0;
}

HEDDLE_BP_SHARED void heddle_bp_report_one(int fd, struct heddle_bp* breakpoint, int json,
                                           int first) {
  static const char* const kColumns[HEDDLE_BP_COUNTS] = {"arrivals", "ignored",   "hits",
                                                         "timeouts", "abandoned", "disorders",
                                                         "errors",   "refused",   "paused_ns"};
  char line[1024];
  char name[6 * HEDDLE_BP_MAX_NAME + 1];
  unsigned sides = (unsigned)(heddle_bp_read(&breakpoint->signature) & 0xff);
  heddle_bp_escape(breakpoint->name, name);
  if (!json) {
    double paused_ms = (double)heddle_bp_read(&breakpoint->counts[HEDDLE_BP_PAUSED_NS]) / 1e6;
    snprintf(line, sizeof line, "  %s: ", name);
    heddle_bp_write(fd, line);
    for (int i = 0; i < HEDDLE_BP_PAUSED_NS; ++i) {
      unsigned long count = (unsigned long)heddle_bp_read(&breakpoint->counts[i]);
      // Hits and time-outs are always of interest, the others when there were any.
      if (count == 0 && i != HEDDLE_BP_HITS && i != HEDDLE_BP_TIMEOUTS) continue;
      snprintf(line, sizeof line, "%lu %s, ", count, kColumns[i]);
      heddle_bp_write(fd, line);
    }
    snprintf(line, sizeof line, "paused %.1f ms\n", paused_ms);
    heddle_bp_write(fd, line);
    return;
  }
  snprintf(line, sizeof line, "%s{\"name\": \"%s\", \"sides\": %u", first ? "" : ", ", name, sides);
  heddle_bp_write(fd, line);
  for (int i = 0; i < HEDDLE_BP_COUNTS; ++i) {
    snprintf(line, sizeof line, ", \"%s\": %lu", kColumns[i],
             (unsigned long)heddle_bp_read(&breakpoint->counts[i]));
    heddle_bp_write(fd, line);
  }
  heddle_bp_write(fd, "}");
}

/// The report, to report_file (appended; %p is the process) or to stderr.
HEDDLE_BP_SHARED void heddle_bp_report(enum heddle_bp_report_format format) {
  int fd = STDERR_FILENO;
  const char* file = heddle_bp_engine.report_file;
  if (*file) {
    char path[sizeof heddle_bp_engine.report_file + 24];
    const char* process = strstr(file, "%p");
    if (process) {
      snprintf(path, sizeof path, "%.*s%ld%s", (int)(process - file), file, (long)getpid(),
               process + 2);
    } else {
      snprintf(path, sizeof path, "%s", file);
    }
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) {
      heddle_bp_say("cannot write the report to %s\n", path);
      return;
    }
  }
  int json = format == HEDDLE_BP_REPORT_JSON;
  heddle_bp_write(fd, json ? "{\"breakpoints\": [" : "heddle breakpoints:\n");
  int first = 1;
  for (unsigned i = 0; i < HEDDLE_BP_MAX_BREAKPOINTS; ++i) {
    struct heddle_bp* breakpoint = &heddle_bp_engine.breakpoints[i];
    if (heddle_bp_read(&breakpoint->key) == 0) continue;
    heddle_bp_report_one(fd, breakpoint, json, first);
    first = 0;
  }
  heddle_bp_write(fd, json ? "]}\n" : first ? "  none was reached\n" : "");
  if (fd != STDERR_FILENO) close(fd);
}

/// Tells of a misuse, once for each breakpoint: a loop must not flood the terminal.
HEDDLE_BP_SHARED void heddle_bp_complain(struct heddle_bp* breakpoint, const char* name,
                                         const char* what) {
  heddle_bp_add(&breakpoint->counts[HEDDLE_BP_REFUSED], 1);
  if (__atomic_exchange_n(&breakpoint->complained, 1, __ATOMIC_RELAXED) == 0) {
    heddle_bp_say("breakpoint '%s' %s\n", name, what);
  }
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_REPORT_H_
