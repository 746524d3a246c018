// SPDX-License-Identifier: Apache-2.0
//
// What an audited run found wrong with the sharing analysis, in words.
#pragma once

#include <string>

#include "driver/channel.h"
#include "driver/program.h"

namespace heddle::driver {

/// Of a run that ended as FailureKind::Misjudged.
std::string misjudged_text(const Program& program, const Channel& channel);

}  // namespace heddle::driver
