// SPDX-License-Identifier: Apache-2.0
//
// Lets machine code be traced back to instructions: each gets its own number as the discriminator
// of its place in the source. Lines stay what they are, optimisation carries places along, and the
// line table of the finished program says for each address which instruction it was made from.
#pragma once

#include "llvm/IR/Module.h"
#include "pass/program_layout.h"

namespace heddle::pass {

/// Must come after the site table is written (it names places as the source has them) and before
/// anything is rewritten (hooks take over the place of what they replace).
void add_discriminators(llvm::Module& module, const ProgramLayout& layout);

}  // namespace heddle::pass
