// SPDX-License-Identifier: Apache-2.0
//
// /dev/random and /dev/urandom, for the calls that open and read files.
#pragma once

#include <stdio.h>

#include <cstddef>

namespace heddle::runtime {

bool random_is_path(const char* path);
/// That path has been opened.
void random_note_descriptor(int descriptor);
/// Fills `bytes` if that is what the descriptor gives and the program is controlled.
bool random_read(int descriptor, void* bytes, std::size_t count);
/// A stream of the numbers that the run gets. libc reads devices itself.
FILE* random_stream();

}  // namespace heddle::runtime
