// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C ends a search, not the command: what was found is kept and shown. A second one ends it.
#pragma once

#include <atomic>

namespace heddle::cli {

void stop_on_interrupt();
bool interrupted();
const std::atomic<bool>& interrupt_flag();

}  // namespace heddle::cli
