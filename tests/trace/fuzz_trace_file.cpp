// SPDX-License-Identifier: Apache-2.0
//
// No file makes the reader do anything but return or throw heddle::Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "trace/dump.h"
#include "trace/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  try {
    trace::dump(trace::parse_trace({reinterpret_cast<const char*>(data), size}, "fuzz"));
  } catch (const Error& error) {
    if (error.code() != ExitCode::UserMistake) std::abort();
  }
  return 0;
}
