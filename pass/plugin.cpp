// SPDX-License-Identifier: Apache-2.0
//
// Registers Heddle with LLVM. The pass runs first in the link-time pipeline: it sees the whole
// program, inlined as far as each file alone allowed, and what it inserts is optimised with the
// rest.
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "pass/attributes.h"
#include "pass/discriminators.h"
#include "pass/instrumenter.h"
#include "pass/program_layout.h"
#include "pass/selection.h"
#include "pass/site_table.h"

namespace heddle::pass {
namespace {

/// Makes the full variant: every access that might be shared is a hook.
class FullVariantPass : public llvm::PassInfoMixin<FullVariantPass> {
 public:
  // Functions compiled with -O0 are marked "do not optimise"; this is no optimisation.
  static bool isRequired() { return true; }

  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    const ProgramLayout layout(module);
    const std::vector<Site> sites = find_sites(module);
    emit_site_table(module, layout, sites);
    add_discriminators(module, layout);
    Hooks hooks(module);
    hooks.require_abi_version();
    for (const Site& site : sites) {
      if (site.hooked) rewrite(site, hooks);
    }
    withdraw_promises(module);
    return llvm::PreservedAnalyses::none();
  }
};

void register_passes(llvm::PassBuilder& builder) {
  builder.registerFullLinkTimeOptimizationEarlyEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(FullVariantPass());
      });
  builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::ModulePassManager& passes,
                                             llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    if (name != "heddle-full") return false;
    passes.addPass(FullVariantPass());
    return true;
  });
}

}  // namespace
}  // namespace heddle::pass

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "heddle", LLVM_VERSION_STRING, heddle::pass::register_passes};
}
