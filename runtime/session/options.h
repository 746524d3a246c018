// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi/channel.h"

namespace heddle::runtime {

/// Reads "name=value:name=value" over the defaults. Ends the process with a message that names the
/// options there are when it cannot.
void read_options(abi::Options& options, const char* text);

}  // namespace heddle::runtime
