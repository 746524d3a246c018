// SPDX-License-Identifier: Apache-2.0
//
// What a fatal signal leaves in the channel: which thread, at which site, and the event it was in
// the middle of. The signal then does what it would have done.
#pragma once

namespace heddle::runtime {
void install_failure_signals();
}  // namespace heddle::runtime
