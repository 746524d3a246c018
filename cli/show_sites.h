// SPDX-License-Identifier: Apache-2.0
//
// The static side of `heddle show`: what is known of a program without running it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace heddle::cli {

/// `heddle show --sites PROG`: every site, and what the sharing analysis made of them.
ExitCode show_sites(const std::string& program, bool json);

/// `heddle show --pc ADDRESS... --sites PROG`: which instructions these addresses of the full
/// variant's file were made from.
ExitCode show_addresses(const std::string& program, const std::vector<std::string>& addresses,
                        bool json);

}  // namespace heddle::cli
