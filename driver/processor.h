// SPDX-License-Identifier: Apache-2.0
//
// What a processor can do beyond plain x86-64, as far as libc chooses among its own functions by
// it.
#pragma once

#include <string>
#include <vector>

namespace heddle::driver {

/// The environment variable that hides all of it from libc.
std::string plain_processor();

/// What libc has chosen by on this processor, in a program with that environment ("NAME=value"),
/// and what code that it has chosen needs: names in libc's spelling.
std::vector<std::string> chosen_by(const std::vector<std::string>& environment);

/// environment_error when this processor does not have all of `names`.
void refuse_lesser_processor(const std::vector<std::string>& names);

}  // namespace heddle::driver
