// SPDX-License-Identifier: Apache-2.0
//
// What a pack has besides the run and the files of its program: what it takes to have them in
// memory where they were, the files that were open, and what the processor has to be able to do.
// For a run that begins where the program does, that is how the program stood there; else it begins
// at a checkpoint, which is in the run.
#pragma once

#include <filesystem>
#include <vector>

#include "driver/placement.h"
#include "driver/program.h"
#include "driver/target.h"
#include "store/pack_file.h"

namespace heddle::cli {

/// `of_program`: those that are in the pack already. The program is started for it, up to where it
/// begins.
std::vector<store::PackedFile> process_files(const driver::Program& program,
                                             const driver::Inputs& inputs,
                                             std::vector<driver::ProgramFile> of_program);

/// The image of a run that does not begin at a checkpoint.
std::filesystem::path unpacked_beginning(const std::filesystem::path& unpacked);

/// Prepares what was unpacked there, and the image. environment_error where it cannot be replayed
/// on this processor.
driver::Restorer unpacked_restorer(const std::filesystem::path& unpacked,
                                   const std::filesystem::path& image);

}  // namespace heddle::cli
