// SPDX-License-Identifier: Apache-2.0
//
// Traces written down by hand, one line an event.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace heddle::analysis {

/// Threads are "t0" and its children, which it creates at the start; sites and variables come to be
/// when they are named.
class SmallTrace {
 public:
  explicit SmallTrace(unsigned children = 2) {
    trace_.header.options["memory_model"] = "sc";
    trace_.threads.push_back({"t0", trace::kNone});
    for (unsigned i = 1; i <= children; ++i) {
      trace_.threads.push_back({"t0." + std::to_string(i), 0});
      event(0, "create" + std::to_string(i), trace::EventKind::ThreadCreate).value = i;
    }
  }

  SmallTrace& reads(trace::ThreadId thread, const std::string& site, const std::string& variable,
                    std::uint64_t offset = 0, std::uint32_t size = 4) {
    return access(thread, site, trace::EventKind::Load, variable, offset, size);
  }
  SmallTrace& writes(trace::ThreadId thread, const std::string& site, const std::string& variable,
                     std::uint64_t offset = 0, std::uint32_t size = 4) {
    return access(thread, site, trace::EventKind::Store, variable, offset, size);
  }
  SmallTrace& access(trace::ThreadId thread, const std::string& site, trace::EventKind kind,
                     const std::string& variable, std::uint64_t offset, std::uint32_t size) {
    const trace::ObjectIndex place = object(variable);
    trace::Event& it = event(thread, site, kind);
    it.object = place;
    it.offset = offset;
    it.size = size;
    return *this;
  }
  SmallTrace& joins(trace::ThreadId thread, trace::ThreadId child) {
    event(thread, "join", trace::EventKind::ThreadJoin).value = child;
    return *this;
  }
  /// The thread comes to a loop, begins another round of it, is out of it.
  SmallTrace& enters(trace::ThreadId thread, const std::string& loop) {
    step(thread, loop, trace::StepKind::LoopEnter);
    return again(thread, loop);
  }
  SmallTrace& again(trace::ThreadId thread, const std::string& loop) {
    return step(thread, loop, trace::StepKind::LoopIteration);
  }
  SmallTrace& leaves(trace::ThreadId thread, const std::string& loop) {
    return step(thread, loop, trace::StepKind::LoopExit);
  }
  SmallTrace& calls(trace::ThreadId thread, const std::string& function) {
    return step(thread, function, trace::StepKind::CallEnter);
  }
  SmallTrace& returns(trace::ThreadId thread, const std::string& function) {
    return step(thread, function, trace::StepKind::CallExit);
  }
  SmallTrace& loses_steps() {
    ++trace_.steps_lost;
    return *this;
  }
  SmallTrace& fails(const std::string& function = "check") {
    trace_.outcome.kind = trace::FailureKind::Assert;
    trace_.outcome.file = "small.c";
    trace_.outcome.function = function;
    trace_.outcome.line = 1;
    return *this;
  }
  const trace::Trace& trace() const { return trace_; }

 private:
  trace::SiteIndex site(const std::string& key) {
    trace::SiteIndex index = 0;
    while (index < trace_.sites.size() && trace_.sites[index].key != key) ++index;
    if (index == trace_.sites.size()) trace_.sites.push_back({key, "", {}});
    return index;
  }
  SmallTrace& step(trace::ThreadId thread, const std::string& loop, trace::StepKind kind) {
    trace_.steps.push_back({kind, thread, site(loop), trace_.events.size(), 0});
    return *this;
  }
  trace::Event& event(trace::ThreadId thread, const std::string& key, trace::EventKind kind) {
    trace::Event it;
    it.kind = kind;
    it.thread = thread;
    it.site = site(key);
    trace_.events.push_back(it);
    return trace_.events.back();
  }
  trace::ObjectIndex object(const std::string& name) {
    trace::ObjectIndex index = 0;
    while (index < trace_.objects.size() && trace_.objects[index].name != name) ++index;
    if (index == trace_.objects.size()) {
      trace_.objects.push_back({trace::ObjectKind::Static, name, 64});
    }
    return index;
  }

  trace::Trace trace_;
};

}  // namespace heddle::analysis
