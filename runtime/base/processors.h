// SPDX-License-Identifier: Apache-2.0
//
// The CPUs a process was given. The driver keeps a worker on one of them (driver/one_cpu.h), which
// neither the program nor the processes it makes shall notice.
#pragma once

#include <cstddef>

namespace heddle::runtime {

/// Before the driver knows of this process.
void remember_given_processors();

/// Like the system call for the calling process: how many bytes it wrote, or a negative error number.
long given_processors(std::size_t bytes, void* set);

/// Before a child is made, which would stay where its parent is.
void use_given_processors();

/// From now on the program's own choice holds.
void forget_given_processors();

}  // namespace heddle::runtime
