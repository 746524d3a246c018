// SPDX-License-Identifier: Apache-2.0
//
// Hooks carry values as unsigned integers of 1, 2, 4 or 8 bytes; IR has more types than that.
#pragma once

#include <optional>

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"

namespace heddle::pass {

/// Bytes of memory a value of this type occupies, if the value can travel through a hook by value.
std::optional<unsigned> hook_bytes(llvm::Type* type, const llvm::DataLayout& layout);

/// The value as an integer of hook_bytes(), and back.
llvm::Value* to_bits(llvm::IRBuilderBase& builder, llvm::Value* value,
                     const llvm::DataLayout& layout);
llvm::Value* from_bits(llvm::IRBuilderBase& builder, llvm::Value* bits, llvm::Type* type,
                       const llvm::DataLayout& layout);

}  // namespace heddle::pass
