// SPDX-License-Identifier: Apache-2.0
//
// HEDDLE_BREAKPOINTS=key=value:key=value — the defaults of all breakpoints, from one table.
#ifndef HEDDLE_DETAIL_BREAKPOINT_OPTIONS_H_
#define HEDDLE_DETAIL_BREAKPOINT_OPTIONS_H_

#include <stdlib.h>

#include "breakpoint_base.h"
#include "breakpoint_report.h"

#ifdef __cplusplus
extern "C" {
#endif

/// True if `text` up to `end` is exactly `word`.
HEDDLE_BP_SHARED int heddle_bp_is_word(const char* text, const char* end, const char* word) {
  size_t length = strlen(word);
  return (size_t)(end - text) == length && memcmp(text, word, length) == 0;
}

/// Sets one option. Returns false if the key or the value is unknown.
HEDDLE_BP_SHARED int heddle_bp_set_option(const char* key, const char* key_end, const char* value,
                                          const char* value_end, int* enabled) {
  struct heddle_bp_defaults* defaults = &heddle_bp_engine.defaults;
  struct {
    const char* key;
    int64_t* word;
    double unit;
  } numbers[] = {
      {"pause_ms", &defaults->pause_us, 1000},      {"order_ms", &defaults->order_us, 1000},
      {"ignore_first", &defaults->ignore_first, 1}, {"bound", &defaults->bound, 1},
      {"give_up", &defaults->give_up, 1},           {"early_end", &defaults->early_end, 1},
      {"verbose", &defaults->verbose, 1},
  };
  const char* formats[] = {"none", "text", "json"};

  char* parsed = 0;
  double number = strtod(value, &parsed);
  int is_number = value != value_end && parsed == value_end && number >= 0 && number < 1e12;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    if (!heddle_bp_is_word(key, key_end, numbers[i].key)) continue;
    if (!is_number) return 0;
    __atomic_exchange_n(numbers[i].word, (int64_t)(number * numbers[i].unit), __ATOMIC_RELAXED);
    return 1;
  }
  if (heddle_bp_is_word(key, key_end, "enabled")) {
    if (!is_number) return 0;
    *enabled = number != 0;
    return 1;
  }
  if (heddle_bp_is_word(key, key_end, "report")) {
    for (int i = 0; i < 3; ++i) {
      if (!heddle_bp_is_word(value, value_end, formats[i])) continue;
      __atomic_exchange_n(&defaults->report, i, __ATOMIC_RELAXED);
      return 1;
    }
    return 0;
  }
  if (heddle_bp_is_word(key, key_end, "report_file")) {
    size_t length = (size_t)(value_end - value);
    if (length >= sizeof heddle_bp_engine.report_file) return 0;
    memcpy(heddle_bp_engine.report_file, value, length);
    heddle_bp_engine.report_file[length] = 0;
    return 1;
  }
  return 0;
}

/// Sets the options in `text`. What it does not understand it names on stderr and skips: a typing
/// error must not look like a breakpoint that is never hit. Returns false if there was any.
HEDDLE_BP_SHARED int heddle_bp_parse_options(const char* text, int* enabled) {
  int understood = 1;
  while (text && *text) {
    const char* end = strchr(text, ':');
    if (!end) end = text + strlen(text);
    const char* equals = (const char*)memchr(text, '=', (size_t)(end - text));
    if (end != text && (!equals || !heddle_bp_set_option(text, equals, equals + 1, end, enabled))) {
      heddle_bp_say("HEDDLE_BREAKPOINTS: '%.*s' is not understood\n", (int)(end - text), text);
      understood = 0;
    }
    text = *end ? end + 1 : end;
  }
  return understood;
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_OPTIONS_H_
