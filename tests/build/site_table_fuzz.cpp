// SPDX-License-Identifier: Apache-2.0
//
// Whatever the section holds, reading it ends in a table or in a heddle::Error.
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "ir/site_table.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    heddle::ir::SiteTable::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const heddle::Error&) {
  }
  return 0;
}
