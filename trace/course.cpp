// SPDX-License-Identifier: Apache-2.0
#include "trace/course.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/words.h"

namespace heddle::trace {
namespace {

/// What is allocated is told by its number: where that was done may be an address in the code.
std::string_view object_of(const Trace& trace, const Event& event) {
  if (event.object == kNone) return {};
  const Object& object = trace.objects[event.object];
  const std::string_view name = object.name;
  return object.kind == ObjectKind::Heap ? name.substr(0, name.find(" (")) : name;
}

/// The same place, or one of them is known by its address only.
bool is_same_place(std::string_view left, std::string_view right) {
  constexpr std::string_view kAddress = "+0x";
  return left == right || left.find(kAddress) != left.npos || right.find(kAddress) != right.npos;
}

/// A variable, or something allocated: at the same offset in every variant.
bool has_fixed_offset(const Trace& trace, const Event& event) {
  if (event.object == kNone) return false;
  const Object& object = trace.objects[event.object];
  return object.kind == ObjectKind::Heap || (object.kind == ObjectKind::Static && object.size != 0);
}

bool is_same(const Trace& expected, const Event& left, const Trace& actual, const Event& right) {
  return left.kind == right.kind && left.size == right.size &&
         expected.threads[left.thread].path == actual.threads[right.thread].path &&
         is_same_place(key_of(expected, left.site), key_of(actual, right.site)) &&
         object_of(expected, left) == object_of(actual, right) &&
         (left.offset == right.offset || !has_fixed_offset(expected, left));
}

}  // namespace

std::optional<std::string> other_course(const Trace& expected, const Trace& actual) {
  const std::size_t common = std::min(expected.events.size(), actual.events.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (is_same(expected, expected.events[i], actual, actual.events[i])) continue;
    return fmt::format("event {}: expected {}; actual {}", i,
                       describe(expected, expected.events[i]), describe(actual, actual.events[i]));
  }
  if (expected.events.size() != actual.events.size()) {
    return fmt::format("expected {} events; actual {}", expected.events.size(),
                       actual.events.size());
  }
  if (expected.threads != actual.threads) return "other threads";
  if (signature(expected) != signature(actual)) {
    return fmt::format("expected {}; actual {}", signature(expected), signature(actual));
  }
  return std::nullopt;
}

}  // namespace heddle::trace
