// SPDX-License-Identifier: Apache-2.0
#include "pass/value_bits.h"

#include <bit>

namespace heddle::pass {
namespace {

// The integer (or vector of integers) that holds the same bits; pointers cannot be bitcast.
llvm::Type* without_pointers(llvm::Type* type, const llvm::DataLayout& layout) {
  return type->isPtrOrPtrVectorTy() ? layout.getIntPtrType(type) : type;
}

}  // namespace

std::optional<unsigned> hook_bytes(llvm::Type* type, const llvm::DataLayout& layout) {
  // Aggregates have no cast to an integer; the rare load of one goes through the range hooks.
  const bool is_scalar = type->isIntegerTy() || type->isFloatingPointTy() || type->isPointerTy();
  if (!is_scalar && !llvm::isa<llvm::FixedVectorType>(type)) return std::nullopt;
  if (type->isPtrOrPtrVectorTy() &&
      layout.isNonIntegralAddressSpace(type->getScalarType()->getPointerAddressSpace())) {
    return std::nullopt;
  }
  const std::uint64_t bits = layout.getTypeSizeInBits(type).getFixedValue();
  const std::uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  if (bytes > 8 || !std::has_single_bit(bytes)) return std::nullopt;
  // An i1 is stored as a whole byte; anything else that does not fill its bytes (<4 x i1>) is not
  // worth a conversion.
  if (bits != bytes * 8 && !type->isIntegerTy()) return std::nullopt;
  return static_cast<unsigned>(bytes);
}

llvm::Value* to_bits(llvm::IRBuilderBase& builder, llvm::Value* value,
                     const llvm::DataLayout& layout) {
  llvm::Type* type = value->getType();
  const unsigned bytes = *hook_bytes(type, layout);
  llvm::Type* bits = builder.getIntNTy(bytes * 8);
  if (type->isPtrOrPtrVectorTy()) {
    value = builder.CreatePtrToInt(value, without_pointers(type, layout));
  }
  if (value->getType()->isIntegerTy()) return builder.CreateZExt(value, bits);
  return builder.CreateBitCast(value, bits);
}

llvm::Value* from_bits(llvm::IRBuilderBase& builder, llvm::Value* bits, llvm::Type* type,
                       const llvm::DataLayout& layout) {
  llvm::Type* plain = without_pointers(type, layout);
  llvm::Value* value =
      plain->isIntegerTy() ? builder.CreateTrunc(bits, plain) : builder.CreateBitCast(bits, plain);
  return type->isPtrOrPtrVectorTy() ? builder.CreateIntToPtr(value, type) : value;
}

}  // namespace heddle::pass
