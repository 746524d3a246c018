// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/session.h"

namespace heddle::runtime {

void Session::close_shutters(std::uint8_t* bytes, std::uint64_t count, abi::SiteId first) const {
  if (!overlooks_) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    const abi::SiteId site = first + static_cast<abi::SiteId>(i);
    if (only_at_sync_ || quiet_.contains(site)) bytes[i] = 1;
  }
}

}  // namespace heddle::runtime
