// SPDX-License-Identifier: Apache-2.0
//
// Tells apart sites that one line has of a kind, and recognises a site whose line has moved.
#pragma once

#include <cstdint>

#include "llvm/IR/Instruction.h"

namespace heddle::pass {

/// A hash, below abi::kFingerprints, of what the instruction is, of what its operands are computed
/// from and what its result is used for, a few steps far, and of the functions it was inlined
/// through. It does not depend on lines, on numbering, or on code nearby that has nothing to do
/// with it.
std::uint32_t fingerprint(const llvm::Instruction& instruction);

}  // namespace heddle::pass
