// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "driver/channel.h"

namespace heddle::driver {

/// What a target would have written.
template <typename Record>
void append(Channel& channel, abi::Region& region, const Record& record) {
  std::memcpy(
      reinterpret_cast<char*>(&channel.header()) + region.offset + region.count * sizeof record,
      &record, sizeof record);
  ++region.count;
}

}  // namespace heddle::driver
