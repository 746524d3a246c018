// SPDX-License-Identifier: Apache-2.0
//
// The spellings of the .def tables, for everything that reads or writes text.
#pragma once

#include <cstring>

#include "abi/abi.h"
#include "abi/site_record.h"

namespace heddle::abi {

constexpr const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::None: return "none";
#define HEDDLE_EVENT(id, Name, text, access) \
  case EventKind::Name: return text;
#include "abi/events.def"
  }
  return nullptr;
}

constexpr Access access_of(EventKind kind) {
  switch (kind) {
    case EventKind::None: return Access::None;
#define HEDDLE_EVENT(id, Name, text, access) \
  case EventKind::Name: return Access::access;
#include "abi/events.def"
  }
  return Access::None;
}

constexpr const char* name_of(StepKind kind) {
  switch (kind) {
    case StepKind::None: return "none";
#define HEDDLE_STEP(id, Name, text) \
  case StepKind::Name: return text;
#include "abi/steps.def"
  }
  return nullptr;
}

constexpr const char* name_of(FailureKind kind) {
  switch (kind) {
#define HEDDLE_FAILURE(id, Name, text, sentence) \
  case FailureKind::Name: return text;
#include "abi/failures.def"
  }
  return nullptr;
}

constexpr const char* sentence_of(FailureKind kind) {
  switch (kind) {
#define HEDDLE_FAILURE(id, Name, text, sentence) \
  case FailureKind::Name: return sentence;
#include "abi/failures.def"
  }
  return nullptr;
}

constexpr const char* sentence_of(ResetObstacle obstacle) {
  switch (obstacle) {
#define HEDDLE_RESET_OBSTACLE(id, Name, text) \
  case ResetObstacle::Name: return text;
#include "abi/reset_obstacles.def"
  }
  return nullptr;
}

/// Null for a number no kind has.
constexpr const char* name_of(SiteKind kind) {
  switch (kind) {
#define HEDDLE_SITE_KIND(id, Name, text) \
  case SiteKind::Name: return text;
#include "abi/site_kinds.def"
  }
  return nullptr;
}

constexpr const char* name_of(Sharing sharing) {
  switch (sharing) {
#define HEDDLE_SHARING(id, Name, text, verdict, reason) \
  case Sharing::Name: return text;
#include "abi/sharing.def"
  }
  return nullptr;
}

constexpr const char* reason_of(Sharing sharing) {
  switch (sharing) {
#define HEDDLE_SHARING(id, Name, text, verdict, reason) \
  case Sharing::Name: return reason;
#include "abi/sharing.def"
  }
  return nullptr;
}

constexpr SharingVerdict verdict_of(Sharing sharing) {
  switch (sharing) {
#define HEDDLE_SHARING(id, Name, text, verdict, reason) \
  case Sharing::Name: return SharingVerdict::verdict;
#include "abi/sharing.def"
  }
  return SharingVerdict::None;
}

/// False when `text` names no event.
inline bool event_from_name(const char* text, EventKind& kind) {
#define HEDDLE_EVENT(id, Name, spelling, access) \
  if (std::strcmp(text, spelling) == 0) {        \
    kind = EventKind::Name;                      \
    return true;                                 \
  }
#include "abi/events.def"
  return false;
}

/// False when `text` names no failure.
inline bool failure_from_name(const char* text, FailureKind& kind) {
#define HEDDLE_FAILURE(id, Name, spelling, sentence) \
  if (std::strcmp(text, spelling) == 0) {            \
    kind = FailureKind::Name;                        \
    return true;                                     \
  }
#include "abi/failures.def"
  return false;
}

}  // namespace heddle::abi
