// SPDX-License-Identifier: Apache-2.0
//
// What the pack of a run that begins at a checkpoint has besides the files of its program: what it
// takes to have them in memory where they were, the files that were open, and what the processor
// has to be able to do.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "driver/placement.h"
#include "driver/program.h"
#include "driver/target.h"
#include "store/pack_file.h"

namespace heddle::cli {

/// `of_program`: those that are in the pack already. The program is started for it, up to where it
/// begins.
std::vector<store::PackedFile> checkpoint_files(const driver::Program& program,
                                                const driver::Inputs& inputs,
                                                std::vector<driver::ProgramFile> of_program);

/// Prepares what was unpacked there; nothing for a run that begins where the program does.
/// environment_error where it cannot be replayed on this processor.
std::optional<driver::Restorer> unpacked_restorer(const std::filesystem::path& unpacked,
                                                  const std::filesystem::path& checkpoint);

}  // namespace heddle::cli
