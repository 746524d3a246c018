// SPDX-License-Identifier: Apache-2.0
#include "trace/records.h"

#include <fmt/format.h>

#include "abi/names.h"

namespace heddle::trace {
namespace {

void check_index(std::uint32_t index, std::size_t size, const char* what) {
  if (index != kNone && index >= size)
    throw MalformedBytes(fmt::format("{} {} of {}", what, index, size));
}

void check_kind(EventKind kind) {
  if (abi::name_of(kind) == nullptr)
    throw MalformedBytes(fmt::format("unknown event kind {}", static_cast<unsigned>(kind)));
}

std::uint16_t get_u16(ByteReader& in) {
  std::uint32_t value = in.varint32();
  if (value > 0xffff) throw MalformedBytes("a number does not fit in 16 bits");
  return static_cast<std::uint16_t>(value);
}

std::int32_t get_i32(ByteReader& in) {
  std::int64_t value = in.signed_varint();
  if (value != static_cast<std::int32_t>(value))
    throw MalformedBytes("a number does not fit in 32 bits");
  return static_cast<std::int32_t>(value);
}

/// Differences wrap round, so that every pair of 64-bit values has one.
void put_difference(ByteWriter& out, std::uint64_t value, std::uint64_t previous) {
  out.signed_varint(static_cast<std::int64_t>(value - previous));
}

std::uint64_t get_difference(ByteReader& in, std::uint64_t previous) {
  return previous + static_cast<std::uint64_t>(in.signed_varint());
}

/// Between index + 1, where kNone is 0: close to the indices that events without one alternate
/// with.
void put_index_difference(ByteWriter& out, std::uint32_t index, std::uint32_t previous) {
  put_difference(out, static_cast<std::uint32_t>(index + 1),
                 static_cast<std::uint32_t>(previous + 1));
}

std::uint32_t get_index_difference(ByteReader& in, std::uint32_t previous) {
  std::uint64_t value = get_difference(in, static_cast<std::uint32_t>(previous + 1));
  if (value > 0xffffffff) throw MalformedBytes("an index does not fit in 32 bits");
  return static_cast<std::uint32_t>(value - 1);
}

void put(ByteWriter& out, const Wait& wait) {
  out.varint(static_cast<std::uint64_t>(wait.kind));
  out.index(wait.thread);
  out.index(wait.holder);
  out.index(wait.site);
  out.index(wait.holder_site);
  out.index(wait.object);
  out.varint(wait.offset);
}

Wait get_wait(ByteReader& in) {
  Wait wait;
  wait.kind = static_cast<EventKind>(get_u16(in));
  wait.thread = in.index();
  wait.holder = in.index();
  wait.site = in.index();
  wait.holder_site = in.index();
  wait.object = in.index();
  wait.offset = in.varint();
  return wait;
}

}  // namespace

void put(ByteWriter& out, const Header& header) {
  out.text(header.program);
  out.text(header.build_id);
  out.varint(header.options.size());
  for (const auto& [name, value] : header.options) {
    out.text(name);
    out.text(value);
  }
}

Header get_header(ByteReader& in) {
  Header header;
  header.program = in.text();
  header.build_id = in.text();
  for (std::uint64_t left = in.varint(); left > 0; --left) {
    std::string name = in.text();
    std::string value = in.text();
    if (!header.options.emplace(std::move(name), std::move(value)).second)
      throw MalformedBytes("an option is given twice");
  }
  return header;
}

void put(ByteWriter& out, const Thread& thread) {
  out.text(thread.path);
  out.index(thread.parent);
}

Thread get_thread(ByteReader& in, const Trace& so_far) {
  Thread thread;
  thread.path = in.text();
  thread.parent = in.index();
  check(thread, static_cast<ThreadId>(so_far.threads.size()));
  return thread;
}

namespace {

void put(ByteWriter& out, const std::vector<Frame>& frames) {
  out.varint(frames.size());
  for (const Frame& frame : frames) {
    out.text(frame.function);
    out.text(frame.file);
    out.varint(frame.line);
    out.varint(frame.column);
  }
}

std::vector<Frame> get_frames(ByteReader& in) {
  std::vector<Frame> frames;
  for (std::uint64_t left = in.varint(); left > 0; --left) {
    Frame& frame = frames.emplace_back();
    frame.function = in.text();
    frame.file = in.text();
    frame.line = in.varint32();
    frame.column = in.varint32();
  }
  return frames;
}

}  // namespace

void put(ByteWriter& out, const Site& site) {
  out.text(site.key);
  out.text(site.callee);
  put(out, site.frames);
}

Site get_site(ByteReader& in) {
  Site site;
  site.key = in.text();
  site.callee = in.text();
  site.frames = get_frames(in);
  return site;
}

void put(ByteWriter& out, const Stack& stack) {
  out.varint(stack.thread);
  out.varint(stack.is_whole ? 1 : 0);
  put(out, stack.frames);
}

Stack get_stack(ByteReader& in, const Trace& so_far) {
  Stack stack;
  stack.thread = in.varint32();
  const std::uint64_t whole = in.varint();
  if (whole > 1) throw MalformedBytes("a stack that is neither whole nor cut off");
  stack.is_whole = whole == 1;
  stack.frames = get_frames(in);
  check(stack, so_far);
  return stack;
}

void put(ByteWriter& out, const Object& object) {
  out.varint(static_cast<std::uint64_t>(object.kind));
  out.text(object.name);
  out.varint(object.size);
}

Object get_object(ByteReader& in) {
  Object object;
  std::uint64_t kind = in.varint();
  if (kind < static_cast<std::uint64_t>(ObjectKind::Static) ||
      kind > static_cast<std::uint64_t>(ObjectKind::Unknown))
    throw MalformedBytes(fmt::format("unknown object kind {}", kind));
  object.kind = static_cast<ObjectKind>(kind);
  object.name = in.text();
  object.size = in.varint();
  return object;
}

void put(ByteWriter& out, const Outcome& outcome) {
  out.varint(static_cast<std::uint64_t>(outcome.kind));
  out.signed_varint(outcome.exit_code);
  out.signed_varint(outcome.signal);
  out.index(outcome.thread);
  out.index(outcome.site);
  out.index(outcome.related_site);
  out.text(outcome.message);
  out.text(outcome.file);
  out.text(outcome.function);
  out.varint(outcome.line);
  out.varint(outcome.waits.size());
  for (const Wait& wait : outcome.waits) put(out, wait);
}

Outcome get_outcome(ByteReader& in, const Trace& so_far) {
  Outcome outcome;
  outcome.kind = static_cast<FailureKind>(get_u16(in));
  outcome.exit_code = get_i32(in);
  outcome.signal = get_i32(in);
  outcome.thread = in.index();
  outcome.site = in.index();
  outcome.related_site = in.index();
  outcome.message = in.text();
  outcome.file = in.text();
  outcome.function = in.text();
  outcome.line = in.varint32();
  for (std::uint64_t left = in.varint(); left > 0; --left) outcome.waits.push_back(get_wait(in));
  check(outcome, so_far);
  return outcome;
}

void EventCodec::put(ByteWriter& out, const Event& event) {
  out.varint(static_cast<std::uint64_t>(event.kind));
  out.varint(event.thread);
  put_index_difference(out, event.site, previous_.site);
  put_index_difference(out, event.object, previous_.object);
  out.varint(event.size);
  put_difference(out, event.offset, previous_.offset);
  out.varint(event.value);
  out.varint(event.aux);
  previous_ = event;
}

Event EventCodec::get(ByteReader& in, const Trace& so_far) {
  Event event;
  event.kind = static_cast<EventKind>(get_u16(in));
  event.thread = in.varint32();
  event.site = get_index_difference(in, previous_.site);
  event.object = get_index_difference(in, previous_.object);
  event.size = in.varint32();
  event.offset = get_difference(in, previous_.offset);
  event.value = in.varint();
  event.aux = in.varint();
  check(event, so_far);
  previous_ = event;
  return event;
}

void StepCodec::put(ByteWriter& out, const Step& step) {
  out.varint(static_cast<std::uint64_t>(step.kind));
  out.varint(step.thread);
  put_index_difference(out, step.site, previous_.site);
  put_difference(out, step.event, previous_.event);
  out.varint(step.value);
  previous_ = step;
}

Step StepCodec::get(ByteReader& in, const Trace& so_far) {
  Step step;
  step.kind = static_cast<StepKind>(get_u16(in));
  step.thread = in.varint32();
  step.site = get_index_difference(in, previous_.site);
  step.event = get_difference(in, previous_.event);
  step.value = in.varint();
  check(step, so_far);
  if (step.event < previous_.event) throw MalformedBytes("steps out of order");
  previous_ = step;
  return step;
}

void check(const Step& step, const Trace& tables) {
  if (step.kind == StepKind::None || abi::name_of(step.kind) == nullptr)
    throw MalformedBytes(fmt::format("unknown step kind {}", static_cast<unsigned>(step.kind)));
  if (step.thread == kNone) throw MalformedBytes("a step without a thread");
  check_index(step.thread, tables.threads.size(), "thread");
  check_index(step.site, tables.sites.size(), "site");
  if (step.event > tables.events.size())
    throw MalformedBytes(
        fmt::format("a step before event {} of {}", step.event, tables.events.size()));
}

void check(const Event& event, const Trace& tables) {
  check_kind(event.kind);
  if (event.thread == kNone) throw MalformedBytes("an event without a thread");
  check_index(event.thread, tables.threads.size(), "thread");
  check_index(event.site, tables.sites.size(), "site");
  check_index(event.object, tables.objects.size(), "object");
}

void check(const Stack& stack, const Trace& tables) {
  if (stack.thread >= tables.threads.size()) throw MalformedBytes("a stack of no thread");
}

void check(const Outcome& outcome, const Trace& tables) {
  if (abi::name_of(outcome.kind) == nullptr)
    throw MalformedBytes(
        fmt::format("unknown failure kind {}", static_cast<unsigned>(outcome.kind)));
  check_index(outcome.thread, tables.threads.size(), "thread");
  check_index(outcome.site, tables.sites.size(), "site");
  check_index(outcome.related_site, tables.sites.size(), "site");
  for (const Wait& wait : outcome.waits) {
    check_kind(wait.kind);
    if (wait.thread == kNone) throw MalformedBytes("a wait without a thread");
    check_index(wait.thread, tables.threads.size(), "thread");
    check_index(wait.holder, tables.threads.size(), "thread");
    check_index(wait.site, tables.sites.size(), "site");
    check_index(wait.holder_site, tables.sites.size(), "site");
    check_index(wait.object, tables.objects.size(), "object");
  }
}

void check(const Thread& thread, ThreadId index) {
  if (thread.parent != kNone && thread.parent >= index)
    throw MalformedBytes(fmt::format("thread {} is born before its parent", thread.path));
}

}  // namespace heddle::trace
