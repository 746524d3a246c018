// SPDX-License-Identifier: Apache-2.0
//
// Arguments and environment. The kernel puts them at the top of the first stack, where each depends
// on how long all others are, and on the path of what was started. Pointers to them are values that
// a program stores: a run that is replayed elsewhere (heddle pack) has to see the same ones.
#pragma once

namespace heddle::runtime {

/// Moves the text of the arguments and of the environment to a place of its own: the program's own
/// first, in their order and side by side as the kernel has them, then the array of arguments,
/// which is the result, then what Heddle has added.
char** move_given_words(char** arguments);

}  // namespace heddle::runtime
