// SPDX-License-Identifier: Apache-2.0
//
// What an event did, as a person would say it of the thread: "reads counter = 0", "counter = 0 →
// 1", "locks a". Remembers the values it has seen, so that a write can name what it overwrites.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "report/text/style.h"
#include "trace/trace.h"

namespace heddle::report {

/// "counter", "table+16", "heap t0 #1+4" (without the allocation site), "stack t0-372".
std::string short_memory_name(const trace::Trace& trace, trace::ObjectIndex object,
                              std::uint64_t offset);

/// Decimal; negative when it looks like a small negative number, hexadecimal when like an address.
std::string human_value(std::uint64_t value, std::uint32_t size);

class Phrases {
 public:
  Phrases(const trace::Trace& trace, const Style& style);

  /// Events must be told in their order, each once: the phrase of a write depends on those before.
  std::string tell(const trace::Event& event);
  /// For events that are left out: faster, changes what is remembered just the same.
  void skip(const trace::Event& event) { remember(event); }

  /// "waits for b", "waits for t0.1 to end".
  std::string tell(const trace::Wait& wait) const;

 private:
  struct Known {
    std::uint32_t size;
    std::uint64_t value;
  };

  std::string change(const std::string& name, const std::string& before,
                     const std::string& after) const;
  std::string memory(const trace::Event& event) const;
  bool is_buffered(const trace::Event& event) const;
  void remember(const trace::Event& event);
  void forget(const trace::Event& event);

  const trace::Trace& trace_;
  Style style_;
  bool buffers_ = false;  // the run's memory model has store buffers
  std::map<std::pair<trace::ObjectIndex, std::uint64_t>, Known> known_;
};

/// The condition variable a thread that did not wake waits on: the wait record of a wait may name
/// the mutex that is to be taken again. kNone if the thread's last event was no cond_wait.
const trace::Event* unfinished_wait(const trace::Trace& trace, trace::ThreadId thread);

}  // namespace heddle::report
