// SPDX-License-Identifier: Apache-2.0
//
// The parts of a trace in the words of its reader: shared by dumps, comparisons and reports, so
// that the same thing is called the same everywhere.
#pragma once

#include <string>
#include <string_view>

#include "trace/trace.h"

namespace heddle::trace {

/// Threads, sites and objects may be kNone or, where they come out of an event's value, wrong:
/// the words then say so.
std::string thread_name(const Trace& trace, std::uint64_t thread);

/// The name under which a site is known in every run; empty for kNone.
std::string_view key_of(const Trace& trace, SiteIndex site);

/// The frame a person thinks of: the innermost in their own sources, not the library header that
/// was inlined there. Null when the site is not in instrumented code.
const Frame* source_frame(const Trace& trace, SiteIndex site);
const Frame* source_frame(const Site& site);
/// Where the compilers of this world look for <headers>.
bool is_system_header(std::string_view file);

std::string_view base_name(std::string_view file);

/// "counter.c:14:9"; for a site without frames its key; "unknown place" for kNone.
std::string place_of(const Trace& trace, SiteIndex site);

/// "counter.c:14:9 (worker)".
std::string place_and_function(const Trace& trace, SiteIndex site);

/// "counter", "table+16"; empty for kNone.
std::string memory_name(const Trace& trace, ObjectIndex object, std::uint64_t offset);

/// What an event did and to what, without thread and place: "store counter = 5 (4 bytes)".
std::string describe(const Trace& trace, const Event& event);
std::string describe(const Step& step);

/// The whole event: "t0.1 store counter = 5 (4 bytes) at counter.c:14:9 (worker)".
std::string describe_with_place(const Trace& trace, const Event& event);

/// One thread's wait: "t0.1 waits to mutex_lock b at bank.c:21:3 (transfer), held by t0.2 since
/// ...".
std::string describe(const Trace& trace, const Wait& wait);

/// "relaxed", "acquire" ...
std::string_view memory_order_name(std::uint64_t order);

}  // namespace heddle::trace
