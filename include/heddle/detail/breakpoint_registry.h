// SPDX-License-Identifier: Apache-2.0
//
// From names to breakpoints, without a lock: an open-addressing table in static memory whose keys
// are claimed by compare-and-swap and never given back.
#ifndef HEDDLE_DETAIL_BREAKPOINT_REGISTRY_H_
#define HEDDLE_DETAIL_BREAKPOINT_REGISTRY_H_

#include "breakpoint_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Eight bytes a step, because it is most of what a breakpoint costs that does not match; never 0,
/// which marks a free entry.
HEDDLE_BP_SHARED uint64_t heddle_bp_hash(const char* text) {
  size_t left = strlen(text);
  uint64_t hash = left + 1;
  while (left > 0) {
    uint64_t word = 0;
    size_t step = left < sizeof word ? left : sizeof word;
    if (step == sizeof word) {
      memcpy(&word, text, sizeof word);
    } else {
      for (size_t i = 0; i < step; ++i) word = word << 8 | (unsigned char)text[i];
    }
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    text += step;
    left -= step;
  }
  return hash ? hash : 1;
}

/// The breakpoint of this name, or null if there is none yet.
HEDDLE_BP_SHARED struct heddle_bp* heddle_bp_lookup(const char* name) {
  uint64_t key = heddle_bp_hash(name);
  for (unsigned probe = 0; probe < HEDDLE_BP_MAX_BREAKPOINTS; ++probe) {
    struct heddle_bp* entry =
        &heddle_bp_engine.breakpoints[(key + probe) % HEDDLE_BP_MAX_BREAKPOINTS];
    uint64_t found = heddle_bp_read(&entry->key);
    if (found == key) return entry;
    if (found == 0) return 0;
  }
  return 0;
}

/// The breakpoint of this name, made if need be; null if the table is full.
HEDDLE_BP_SHARED struct heddle_bp* heddle_bp_find(const char* name) {
  uint64_t key = heddle_bp_hash(name);
  for (unsigned probe = 0; probe < HEDDLE_BP_MAX_BREAKPOINTS; ++probe) {
    struct heddle_bp* entry =
        &heddle_bp_engine.breakpoints[(key + probe) % HEDDLE_BP_MAX_BREAKPOINTS];
    uint64_t found = heddle_bp_read(&entry->key);
    if (found == 0 && __atomic_compare_exchange_n(&entry->key, &found, key, 0, __ATOMIC_ACQ_REL,
                                                  __ATOMIC_ACQUIRE)) {
      heddle_bp_lock();
      strncpy(entry->name, name, sizeof entry->name - 1);
      heddle_bp_unlock();
      return entry;
    }
    if (found == key) return entry;
  }
  return 0;
}

/// Whether this call agrees with the first one about sides and type, which it sets if it is the
/// first.
HEDDLE_BP_SHARED int heddle_bp_agrees(struct heddle_bp* breakpoint, unsigned sides,
                                      unsigned state_size, const char* type) {
  uint64_t signature = (heddle_bp_hash(type) << 16) | (state_size << 8) | sides;
  uint64_t known = heddle_bp_read(&breakpoint->signature);
  if (known == 0) {
    __atomic_compare_exchange_n(&breakpoint->signature, &known, signature, 0, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    known = heddle_bp_read(&breakpoint->signature);
  }
  return known == signature;
}

HEDDLE_BP_ENTRY uint64_t heddle_bp_count_of(const char* name, enum heddle_bp_count which) {
  struct heddle_bp* breakpoint = heddle_bp_lookup(name);
  return breakpoint ? heddle_bp_read(&breakpoint->counts[which]) : 0;
}

// Scopes: the locks a thread holds and the calling contexts it is in, innermost first.

HEDDLE_BP_ENTRY void heddle_bp_scope_enter(struct heddle_bp_scope* scope, const void* lock,
                                           const char* tag) {
  scope->lock = lock;
  scope->tag = tag;
  scope->next = heddle_bp_scopes;
  heddle_bp_scopes = scope;
}

/// Locks need not be released in the opposite order, hence the search.
HEDDLE_BP_ENTRY void heddle_bp_scope_leave(struct heddle_bp_scope* scope) {
  struct heddle_bp_scope** at = &heddle_bp_scopes;
  while (*at && *at != scope) at = &(*at)->next;
  if (*at) *at = scope->next;
}

/// A scope with a lock answers for the lock and for its tag; one without is a calling context.
HEDDLE_BP_SHARED int heddle_bp_in_scope(const void* lock, const char* tag, int is_lock) {
  for (const struct heddle_bp_scope* scope = heddle_bp_scopes; scope; scope = scope->next) {
    if ((scope->lock != 0) != is_lock) continue;
    if (lock && scope->lock == lock) return 1;
    if (tag && scope->tag && strcmp(scope->tag, tag) == 0) return 1;
  }
  return 0;
}

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_DETAIL_BREAKPOINT_REGISTRY_H_
