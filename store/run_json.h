// SPDX-License-Identifier: Apache-2.0
//
// The JSON files of a run. Texts that are not valid UTF-8 (arguments and environments may be any
// bytes) are stored as {"bytes": "<hexadecimal>"}.
#pragma once

#include <string>
#include <string_view>

#include "store/run.h"

namespace heddle::store {

/// What a run that begins at a checkpoint has it in, and RunInputs::checkpoint as it is read.
inline constexpr char kCheckpointFile[] = "checkpoint";

std::string to_json(const RunInputs& inputs);
std::string to_json(const RunSummary& summary);

/// Of what came from outside only the files, whose `copy` is their name among the run's copies.
/// `file` is for the message: user_error when the text is not what it should be.
RunInputs inputs_from_json(std::string_view text, std::string_view file);
RunSummary summary_from_json(std::string_view text, std::string_view file);

}  // namespace heddle::store
