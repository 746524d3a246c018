// SPDX-License-Identifier: Apache-2.0
//
// No text makes the parser do anything but return or throw heddle::Error; what it accepts is
// stable under writing and reading again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "trace/schedule_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  try {
    trace::Schedule schedule =
        trace::parse_schedule({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (trace::parse_schedule(trace::to_text(schedule), "again") != schedule) std::abort();
  } catch (const Error& error) {
    if (error.code() != ExitCode::UserMistake) std::abort();
  }
  return 0;
}
