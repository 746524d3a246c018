// SPDX-License-Identifier: Apache-2.0
//
// What the kernel says of the memory and time a process uses is never the same twice. A controlled
// program that looks (redis does, ten times a second) is told the same each time.
#pragma once

namespace heddle::runtime {

/// A descriptor for reading such a file, as of a small program; -1: `path` is none.
int statistics_open(const char* path);

}  // namespace heddle::runtime
