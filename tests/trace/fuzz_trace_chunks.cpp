// SPDX-License-Identifier: Apache-2.0
//
// What is behind the checksums: the input is cut into chunks (type - 1, length in 2 bytes, bytes)
// that are packed properly, so that the record decoders see arbitrary bytes. What they accept, they
// write again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "trace/chunk.h"
#include "trace/compare.h"
#include "trace/dump.h"
#include "trace/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::ostringstream file;
  trace::ChunkWriter chunks(file);
  while (rest.size() >= 3) {
    auto byte = [&rest](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
    auto type = static_cast<trace::ChunkType>(1 + byte(0) % 9);
    std::size_t length = std::min<std::size_t>(byte(1) + 256u * byte(2), rest.size() - 3);
    chunks.write(type, rest.substr(3, length));
    rest.remove_prefix(3 + length);
  }
  try {
    trace::Trace trace = trace::parse_trace(file.view(), "fuzz");
    trace::dump(trace);
    std::ostringstream again;
    trace::write_trace(trace, again);
    trace::Trace read = trace::parse_trace(again.view(), "again");
    if (!(read == trace) || trace::first_difference(trace, read)) std::abort();
  } catch (const Error& error) {
    if (error.code() != ExitCode::UserMistake) std::abort();
  }
  return 0;
}
