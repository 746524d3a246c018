// SPDX-License-Identifier: Apache-2.0
#include "pass/breakpoint_engine.h"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Instructions.h"

namespace heddle::pass {

bool is_breakpoint_engine(const llvm::Value& value) {
  return value.getName().starts_with("heddle_bp_");
}

bool is_breakpoint_argument(const llvm::Value& object) {
  const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&object);
  const auto* type = variable == nullptr
                         ? nullptr
                         : llvm::dyn_cast<llvm::StructType>(variable->getAllocatedType());
  return type != nullptr && type->hasName() &&
         (type->getName().starts_with("struct.heddle_bp_") ||
          type->getName().starts_with("class.heddle::live::") ||
          type->getName().starts_with("struct.heddle::live::"));
}

}  // namespace heddle::pass
