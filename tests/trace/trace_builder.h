// SPDX-License-Identifier: Apache-2.0
//
// Says a trace in few words: threads, objects and sites are entered into the tables on first use.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.h"

namespace heddle::sample {

/// What an event beyond kind, thread and site holds.
struct Details {
  std::string_view object = {};
  std::uint32_t size = 0;
  std::uint64_t value = 0;
  std::uint64_t aux = 0;
  std::uint64_t offset = 0;
};

class TraceBuilder {
 public:
  TraceBuilder(std::string_view program, std::string_view file) : file_(file) {
    trace_.header.program = program;
    trace_.header.build_id = "5ca1ab1e0ddba11c0ffee0000000000000000001";
    trace_.header.options = {{"memory_model", "sc"}, {"seed", "7"}, {"strategy", "random"}};
  }

  trace::ThreadId thread(std::string_view path) {
    for (trace::ThreadId i = 0; i < trace_.threads.size(); ++i)
      if (trace_.threads[i].path == path) return i;
    std::size_t dot = path.rfind('.');
    trace::ThreadId parent =
        dot == std::string_view::npos ? trace::kNone : thread(path.substr(0, dot));
    trace_.threads.push_back({std::string(path), parent});
    return static_cast<trace::ThreadId>(trace_.threads.size() - 1);
  }

  trace::ObjectIndex object(std::string_view name,
                            trace::ObjectKind kind = trace::ObjectKind::Static,
                            std::uint64_t size = 8) {
    for (trace::ObjectIndex i = 0; i < trace_.objects.size(); ++i)
      if (trace_.objects[i].name == name) return i;
    trace_.objects.push_back({kind, std::string(name), size});
    return static_cast<trace::ObjectIndex>(trace_.objects.size() - 1);
  }

  /// `key` as the pass writes it; line 0 for a site outside the source.
  trace::SiteIndex site(std::string_view key, std::string_view function = {},
                        std::uint32_t line = 0, std::uint32_t column = 0,
                        std::string_view callee = {}) {
    for (trace::SiteIndex i = 0; i < trace_.sites.size(); ++i)
      if (trace_.sites[i].key == key) return i;
    trace::Site& made = trace_.sites.emplace_back();
    made.key = key;
    made.callee = callee;
    if (line != 0) made.frames.push_back({std::string(function), file_, line, column});
    return static_cast<trace::SiteIndex>(trace_.sites.size() - 1);
  }

  void event(trace::EventKind kind, std::string_view thread_path, trace::SiteIndex at,
             const Details& details = {}) {
    trace_.events.push_back({kind, thread(thread_path), at,
                             details.object.empty() ? trace::kNone : object(details.object),
                             details.size, details.offset, details.value, details.aux});
  }

  void start(std::string_view path) {
    event(trace::EventKind::ThreadStart, path, site("thread_start"));
  }
  void exit(std::string_view path) {
    event(trace::EventKind::ThreadExit, path, site("thread_exit"));
  }

  trace::Outcome& outcome() { return trace_.outcome; }
  trace::Trace take() { return std::move(trace_); }

 private:
  std::string file_;
  trace::Trace trace_;
};

}  // namespace heddle::sample
