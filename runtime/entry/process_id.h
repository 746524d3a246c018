// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace heddle::runtime {

/// The id of a process as the kernel knows it, also of a group (negative) and of the parent. The
/// ids of threads stand for the process: they have none there, or others.
pid_t real_id(pid_t id);

}  // namespace heddle::runtime
