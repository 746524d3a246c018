// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include "abi/names.h"
#include "trace/held_locks.h"
#include "trace/words.h"

namespace heddle::report {
namespace {

using nlohmann::json;

json place_json(const trace::Place& place) {
  return {{"file", text_json(place.file)},
          {"line", place.line},
          {"function", text_json(place.function)}};
}

json site_json(const trace::Trace& trace, trace::SiteIndex site) {
  const trace::Frame* frame = trace::source_frame(trace, site);
  if (frame == nullptr) return nullptr;
  return place_json(
      trace::Place{std::string(trace::base_name(frame->file)), frame->line, frame->function});
}

json thread_json(const trace::Trace& trace, trace::ThreadId thread) {
  if (thread == trace::kNone) return nullptr;
  return text_json(trace::thread_name(trace, thread));
}

}  // namespace

json text_json(std::string_view text) {
  std::string quoted = json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted);
}

json to_json(const trace::Signature& signature) {
  json places = json::array();
  for (const trace::Place& place : signature.places) places.push_back(place_json(place));
  json result = {{"kind", abi::name_of(signature.kind)},
                 {"file", nullptr},
                 {"line", nullptr},
                 {"function", nullptr},
                 {"text", text_json(trace::to_text(signature))},
                 {"places", places}};
  if (!places.empty()) result.update(places.front());
  return result;
}

json outcome_json(const trace::Trace& trace) {
  const trace::Outcome& outcome = trace.outcome;
  json waits = json::array();
  for (const trace::Wait& wait : outcome.waits) {
    std::string memory = trace::memory_name(trace, wait.object, wait.offset);
    waits.push_back({{"thread", thread_json(trace, wait.thread)},
                     {"event", abi::name_of(wait.kind)},
                     {"object", memory.empty() ? json(nullptr) : text_json(memory)},
                     {"at", site_json(trace, wait.site)},
                     {"holder", thread_json(trace, wait.holder)},
                     {"taken_at", site_json(trace, wait.holder_site)}});
  }
  json held = json::array();
  for (const trace::HeldLock& lock : trace::held_locks(trace)) {
    held.push_back({{"thread", thread_json(trace, lock.thread)},
                    {"event", abi::name_of(lock.taken_by)},
                    {"object", text_json(trace::memory_name(trace, lock.object, lock.offset))},
                    {"at", site_json(trace, lock.site)}});
  }
  json stacks = json::array();
  for (const trace::Stack& stack : trace.stacks) {
    json frames = json::array();
    for (const trace::Frame& frame : stack.frames) {
      frames.push_back({{"function", text_json(frame.function)},
                        {"file", text_json(frame.file)},
                        {"line", frame.line},
                        {"column", frame.column}});
    }
    stacks.push_back({{"thread", thread_json(trace, stack.thread)},
                      {"whole", stack.is_whole},
                      {"frames", frames}});
  }
  return {{"kind", abi::name_of(outcome.kind)},
          {"message", text_json(outcome.message)},
          {"exit_code", outcome.exit_code},
          {"signal", outcome.signal},
          {"thread", thread_json(trace, outcome.thread)},
          {"signature", to_json(trace::signature_of(trace))},
          {"waits", waits},
          {"held", held},
          {"stacks", stacks}};
}

json to_json(const trace::Difference& difference) {
  return {{"event", difference.event ? json(*difference.event) : json(nullptr)},
          {"field", difference.field},
          {"expected", text_json(difference.expected)},
          {"actual", text_json(difference.actual)}};
}

}  // namespace heddle::report
