// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace heddle::driver {

/// Throws a user error that says what to do when the program at `path` cannot be controlled for
/// what it is: linked statically or with a sanitizer's runtime, or run by the kernel with other
/// rights than ours.
void refuse_uncontrollable(const std::filesystem::path& path);

}  // namespace heddle::driver
