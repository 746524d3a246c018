// SPDX-License-Identifier: Apache-2.0
//
// Registers Heddle with LLVM. The pass runs first in the link-time pipeline: it sees the whole
// program, inlined as far as each file alone allowed, and what it inserts is optimised with the
// rest.
#include <cstdlib>
#include <optional>

#include "abi/variant.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "pass/argument_copies.h"
#include "pass/attributes.h"
#include "pass/audit.h"
#include "pass/block_marks.h"
#include "pass/code_table.h"
#include "pass/dependences.h"
#include "pass/discriminators.h"
#include "pass/instrumenter.h"
#include "pass/loop_counters.h"
#include "pass/path.h"
#include "pass/program_layout.h"
#include "pass/remove_code.h"
#include "pass/repeats.h"
#include "pass/rounds_together.h"
#include "pass/selection.h"
#include "pass/shutters.h"
#include "pass/site_table.h"
#include "pass/steps.h"
#include "pass/structure.h"
#include "pass/weaving.h"

namespace heddle::pass {
namespace {

abi::SiteId first_site() {
  const char* text = std::getenv(abi::kPassFirstSiteVariable);
  if (text == nullptr) return abi::kFirstSite;
  abi::SiteId first = 0;
  if (llvm::StringRef(text).getAsInteger(10, first) || first < abi::kFirstSite) {
    llvm::report_fatal_error(llvm::Twine("heddle: no site can have the id ") + text);
  }
  return first;
}

/// Those that runs are searched with, reduced, located and pinned: one that overlooks accesses is
/// to do so in all of these. What else a variant has is for looking at everything.
bool has_shutters(const abi::Variant& variant) {
  using abi::Variant;
  constexpr std::uint32_t kExtras = Variant::Loops | Variant::Calls | Variant::Repeats;
  return variant.base == abi::VariantBase::Full && (variant.extras & ~kExtras) == 0;
}

/// Makes one variant of the program.
class VariantPass : public llvm::PassInfoMixin<VariantPass> {
 public:
  explicit VariantPass(abi::Variant variant) : variant_(variant) {}

  // Functions compiled with -O0 are marked "do not optimise"; this is no optimisation.
  static bool isRequired() { return true; }

  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
    // What of a library the program does not use would otherwise share its memory with the rest.
    llvm::GlobalDCEPass().run(module, analyses);
    expose_argument_copies(module);
    // Everything is numbered, whatever the variant, before anything else is changed.
    const ProgramLayout layout(module);
    const abi::SiteId first = first_site();
    SharingAnalysis analysis(module);
    std::vector<Site> sites = find_sites(module, analysis, first);
    const std::size_t accesses = sites.size();
    const Structure structure =
        find_structure(module, first + static_cast<abi::SiteId>(sites.size()));
    sites.insert(sites.end(), structure.sites.begin(), structure.sites.end());
    emit_site_table(module, layout, sites);
    if (variant_.has(abi::Variant::Depends)) emit_dependences(module, layout, sites);
    // Instructions of libraries have numbers of their own, which are the program's, too.
    const bool tells_path = variant_.has(abi::Variant::Instructions) && first == abi::kFirstSite;
    if (tells_path) emit_code_table(module, layout, sites);
    if (variant_.base == abi::VariantBase::Sites) {
      remove_code(module);
      return llvm::PreservedAnalyses::none();
    }
    add_discriminators(module, layout);

    if (variant_.has(abi::Variant::Marks)) insert_block_marks(module, layout);
    if (variant_.base == abi::VariantBase::Production)
      insert_loop_counters(module, structure, analysis);
    if (variant_.base == abi::VariantBase::Pinned) {
      weave_breakpoints(module, sites);
      withdraw_promises(module);
    }
    if (!variant_.needs_runtime()) return llvm::PreservedAnalyses::none();
    Hooks hooks(module);
    hooks.require_abi_version();
    if (variant_.runs_natively()) hooks.declare_native();
    if (variant_.has(abi::Variant::Repeats)) insert_repeats(module, structure, hooks);
    if (tells_path) insert_path(layout, sites, hooks);
    if (variant_.base == abi::VariantBase::Full) {
      if (has_shutters(variant_)) {
        Shutters shutters(module, llvm::ArrayRef(sites).take_front(accesses), hooks);
        const std::vector<Stretch> stretches = find_stretches(sites);
        // From the last: what is behind a stretch moves to another block, and would with each.
        for (const Stretch& stretch : llvm::reverse(stretches)) shutters.bypass(stretch);
      }
      for (const Site& site : sites) {
        if (site.hooked) rewrite(site, hooks);
      }
    }
    if (variant_.has(abi::Variant::Audit)) insert_audit(module, sites, structure, hooks);
    insert_steps(module, structure, variant_, hooks);
    withdraw_promises(module);
    return llvm::PreservedAnalyses::none();
  }

 private:
  abi::Variant variant_;
};

abi::Variant wanted_variant() {
  const char* name = std::getenv(abi::kPassVariantVariable);
  if (name == nullptr) return abi::Variant::Full;
  const std::optional<abi::Variant> variant = abi::Variant::of_name(name);
  if (!variant) llvm::report_fatal_error(llvm::Twine("heddle: no variant ") + name);
  return *variant;
}

void register_passes(llvm::PassBuilder& builder) {
  builder.registerFullLinkTimeOptimizationEarlyEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
        passes.addPass(VariantPass(wanted_variant()));
      });
  builder.registerFullLinkTimeOptimizationLastEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
        if (level == llvm::OptimizationLevel::O0) return;
        passes.addPass(llvm::createModuleToFunctionPassAdaptor(RoundsTogetherPass()));
      });
  builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::ModulePassManager& passes,
                                             llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
    if (!name.consume_front("heddle-")) return false;
    if (name == "rounds-together") {
      passes.addPass(llvm::createModuleToFunctionPassAdaptor(RoundsTogetherPass()));
      return true;
    }
    const std::optional<abi::Variant> variant = abi::Variant::of_name(name);
    if (variant) passes.addPass(VariantPass(*variant));
    return variant.has_value();
  });
}

}  // namespace
}  // namespace heddle::pass

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "heddle", LLVM_VERSION_STRING, heddle::pass::register_passes};
}
