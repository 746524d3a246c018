// SPDX-License-Identifier: Apache-2.0
//
// Opens a program together with the libraries that it will open by itself.
#pragma once

#include <chrono>

#include "driver/program.h"
#include "driver/target.h"

namespace heddle::driver {

/// As Program::open. A program that may open libraries is executed once, the first time with these
/// arguments, to see which: those built with heddle-cc are derived with it, now and from then on
/// by Program::open.
Program open_with_libraries(const Inputs& inputs, const abi::Options& options,
                            std::chrono::milliseconds timeout, const Progress& progress,
                            abi::Variant variant);

}  // namespace heddle::driver
