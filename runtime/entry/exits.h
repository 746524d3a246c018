// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace heddle::runtime {
/// Makes the end of exit() known to the keeper. To be called before the program can register exit
/// handlers of its own: they then run first.
void watch_exit();
}  // namespace heddle::runtime
