// SPDX-License-Identifier: Apache-2.0
//
// What a value may be, by its type alone.
#pragma once

#include "llvm/IR/Type.h"
#include "pass/flows.h"

namespace heddle::pass {

inline bool holds_pointers(const llvm::Type* type) {
  if (type->isPtrOrPtrVectorTy()) return true;
  return llvm::any_of(type->subtypes(), holds_pointers);
}

/// Whether a pointer fits in.
inline bool is_wide(const llvm::Type* type) {
  return type->isPtrOrPtrVectorTy() || type->isAggregateType() ||
         type->getPrimitiveSizeInBits().getKnownMinValue() >= 64;
}

inline Flows::As flows_as(const llvm::Type* type) {
  return holds_pointers(type) ? Flows::As::Pointer : Flows::As::Number;
}

}  // namespace heddle::pass
