// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace heddle::runtime {

/// From now on the child of a fork is not controlled: it goes on natively, as a program of its own.
void watch_forks();
/// This process is such a child.
bool is_forked_child();
/// The controlled process that this one descends from.
pid_t controlled_parent();

}  // namespace heddle::runtime
