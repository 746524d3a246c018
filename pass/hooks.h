// SPDX-License-Identifier: Apache-2.0
//
// What the pass may refer to in the runtime, declared in the module on first use. Everything comes
// from abi/: no symbol is spelled here.
#pragma once

#include <cstdint>
#include <map>

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace heddle::pass {

enum class HookId : unsigned {
#define HEDDLE_HOOK(symbol, result, ...) symbol,
#include "abi/hooks.def"
};

/// A family of four hooks, named by its one-byte member; `bytes` is 1, 2, 4 or 8.
HookId for_size(HookId one_byte, std::uint64_t bytes);

class Hooks {
 public:
  explicit Hooks(llvm::Module& module) : module_(module) {}

  /// Inserts a call at the builder's place and debug location.
  llvm::CallInst* call(llvm::IRBuilderBase& builder, HookId hook,
                       llvm::ArrayRef<llvm::Value*> arguments);

  /// The runtime's function.
  llvm::Function& function(HookId hook);
  /// `front` is called in its place from now on.
  void call_instead(HookId hook, llvm::Function& front);

  /// The variable that says where instrumented code was last left.
  llvm::GlobalVariable& call_site();

  /// Makes the program say that nobody is to control it when it is started by itself.
  void declare_native();

  /// Makes the program refer to the ABI version symbol, so that a runtime of another version does
  /// not link.
  void require_abi_version();

 private:
  llvm::FunctionCallee declare(HookId hook);
  llvm::Constant* external_variable(llvm::StringRef name, llvm::Type* type);

  llvm::Module& module_;
  std::map<HookId, llvm::FunctionCallee> declared_;
};

}  // namespace heddle::pass
