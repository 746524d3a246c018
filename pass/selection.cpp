// SPDX-License-Identifier: Apache-2.0
#include "pass/selection.h"

#include <optional>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "pass/breakpoint_engine.h"
#include "pass/value_bits.h"

namespace heddle::pass {
namespace {

using abi::Sharing;
using abi::SiteKind;

struct Access {
  SiteKind kind;
  std::uint64_t bytes;
};

std::uint64_t store_bytes(llvm::Type* type, const llvm::DataLayout& layout) {
  const llvm::TypeSize size = layout.getTypeStoreSize(type);
  return size.isScalable() ? 0 : size.getFixedValue();
}

const llvm::InlineAsm* inline_assembly(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call == nullptr ? nullptr : llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
}

// An empty one is a barrier to the compiler only.
bool does_something(const llvm::InlineAsm& assembly) {
  return !llvm::StringRef(assembly.getAsmString()).trim().empty();
}

// Assembly that names memory accesses it without hooks.
bool accesses_memory(const llvm::InlineAsm& assembly) {
  const llvm::StringRef constraints = assembly.getConstraintString();
  return constraints.contains("~{memory}") || constraints.contains('*');
}

bool leaves_the_program(const llvm::CallBase& call) {
  const llvm::Value* target = call.getCalledOperand()->stripPointerCastsAndAliases();
  const auto* function = llvm::dyn_cast<llvm::Function>(target);
  if (function == nullptr) return true;  // through a pointer: who knows
  if (function->isIntrinsic()) return false;
  return function->isDeclarationForLinker() || is_breakpoint_engine(*function);
}

// Plain accesses whose value does not fit a hook are announced as ranges.
Access plain_access(SiteKind by_value, SiteKind as_range, llvm::Type* type,
                    const llvm::DataLayout& layout) {
  if (std::optional<unsigned> bytes = hook_bytes(type, layout)) return {by_value, *bytes};
  return {as_range, store_bytes(type, layout)};
}

std::uint64_t constant_length(const llvm::AnyMemIntrinsic& intrinsic) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(intrinsic.getLength());
  return length == nullptr ? 0 : length->getZExtValue();
}

// Not covered: expanding loads, compressing stores and the vp.* family, which no C or C++ front end
// emits at this point of the pipeline.
void add_intrinsic_accesses(const llvm::IntrinsicInst& call, llvm::SmallVectorImpl<Access>& found) {
  if (const auto* memory = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&call)) {
    const std::uint64_t bytes = constant_length(*memory);
    if (llvm::isa<llvm::AnyMemTransferInst>(memory)) found.push_back({SiteKind::RangeRead, bytes});
    found.push_back({SiteKind::RangeWrite, bytes});
    return;
  }
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather: found.push_back({SiteKind::RangeRead, 0}); break;
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter: found.push_back({SiteKind::RangeWrite, 0}); break;
    default: break;
  }
}

llvm::SmallVector<Access, 2> accesses_of(const llvm::Instruction& instruction,
                                         const llvm::DataLayout& layout) {
  llvm::SmallVector<Access, 2> found;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    llvm::Type* type = load->getType();
    found.push_back(load->isAtomic()
                        ? Access{SiteKind::AtomicLoad, store_bytes(type, layout)}
                        : plain_access(SiteKind::Load, SiteKind::RangeRead, type, layout));
  } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    llvm::Type* type = store->getValueOperand()->getType();
    found.push_back(store->isAtomic()
                        ? Access{SiteKind::AtomicStore, store_bytes(type, layout)}
                        : plain_access(SiteKind::Store, SiteKind::RangeWrite, type, layout));
  } else if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    found.push_back({SiteKind::AtomicRmw, store_bytes(update->getType(), layout)});
  } else if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    llvm::Type* type = exchange->getCompareOperand()->getType();
    found.push_back({SiteKind::AtomicCas, store_bytes(type, layout)});
  } else if (fence_order(instruction)) {
    found.push_back({SiteKind::Fence, 0});
  } else if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    add_intrinsic_accesses(*intrinsic, found);
  } else if (const llvm::InlineAsm* assembly = inline_assembly(instruction)) {
    if (does_something(*assembly)) found.push_back({SiteKind::Assembly, 0});
  } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
    if (leaves_the_program(*call)) found.push_back({SiteKind::Call, 0});
  }
  return found;
}

Sharing sharing_of(const Site& site, SharingAnalysis& analysis) {
  if (site.kind == SiteKind::Call || site.kind == SiteKind::Fence) return Sharing::NotAnAccess;
  if (site.kind == SiteKind::Assembly) return Sharing::Opaque;
  llvm::Value* pointer = accessed_pointer(*site.instruction, site.kind);
  if (pointer == nullptr) return Sharing::Shared;  // gather, scatter: one address a lane
  if (pointer->getType()->getPointerAddressSpace() != 0) return Sharing::Segment;
  if (pointer->isSwiftError()) return Sharing::Register;
  if (site.bytes == 0 && llvm::isa<llvm::LoadInst, llvm::StoreInst>(site.instruction)) {
    return Sharing::Scalable;
  }
  return analysis.of(pointer);
}

bool is_hooked(const Site& site) {
  if (const auto* fence = llvm::dyn_cast<llvm::FenceInst>(site.instruction)) {
    // A signal fence orders nothing that another thread could see.
    return fence->getSyncScopeID() != llvm::SyncScope::SingleThread;
  }
  if (const llvm::InlineAsm* assembly = inline_assembly(*site.instruction)) {
    return accesses_memory(*assembly);
  }
  return site.kind == SiteKind::Call || site.kind == SiteKind::Fence ||
         site.sharing == Sharing::Shared;
}

}  // namespace

llvm::SmallPtrSet<const llvm::Function*, 4> ifunc_resolvers(const llvm::Module& module) {
  llvm::SmallPtrSet<const llvm::Function*, 4> resolvers;
  for (const llvm::GlobalIFunc& ifunc : module.ifuncs()) {
    if (const llvm::Function* resolver = ifunc.getResolverFunction()) resolvers.insert(resolver);
  }
  return resolvers;
}

std::optional<llvm::AtomicOrdering> fence_order(const llvm::Instruction& instruction) {
  if (const auto* fence = llvm::dyn_cast<llvm::FenceInst>(&instruction)) {
    return fence->getOrdering();
  }
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (intrinsic == nullptr) return std::nullopt;
  switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::x86_sse2_mfence: return llvm::AtomicOrdering::SequentiallyConsistent;
    case llvm::Intrinsic::x86_sse_sfence: return llvm::AtomicOrdering::Release;
    case llvm::Intrinsic::x86_sse2_lfence: return llvm::AtomicOrdering::Acquire;
    default: return std::nullopt;
  }
}

bool is_instrumented(const llvm::Function& function) {
  return !function.isDeclarationForLinker() && !function.hasFnAttribute(llvm::Attribute::Naked) &&
         !is_breakpoint_engine(function);
}

llvm::Value* accessed_pointer(llvm::Instruction& instruction, abi::SiteKind kind) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->getPointerOperand();
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    return store->getPointerOperand();
  }
  if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    return update->getPointerOperand();
  }
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    return exchange->getPointerOperand();
  }
  if (auto* transfer = llvm::dyn_cast<llvm::AnyMemTransferInst>(&instruction)) {
    return kind == SiteKind::RangeRead ? transfer->getRawSource() : transfer->getRawDest();
  }
  if (auto* set = llvm::dyn_cast<llvm::AnyMemSetInst>(&instruction)) return set->getRawDest();
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    if (intrinsic->getIntrinsicID() == llvm::Intrinsic::masked_load) {
      return intrinsic->getArgOperand(0);
    }
    if (intrinsic->getIntrinsicID() == llvm::Intrinsic::masked_store) {
      return intrinsic->getArgOperand(1);
    }
  }
  return nullptr;
}

std::vector<Site> find_sites(llvm::Module& module, SharingAnalysis& analysis, abi::SiteId first) {
  std::vector<Site> sites;
  const llvm::DataLayout& layout = module.getDataLayout();
  const auto resolvers = ifunc_resolvers(module);
  abi::SiteId next = first;
  for (llvm::Function& function : module) {
    if (!is_instrumented(function)) continue;
    const bool is_resolver = resolvers.contains(&function);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      for (const Access& access : accesses_of(instruction, layout)) {
        Site site{&instruction,         access.kind, access.bytes, next++,
                  Sharing::NotAnAccess, false,       nullptr};
        site.sharing = is_resolver ? Sharing::Resolver : sharing_of(site, analysis);
        site.hooked = !is_resolver && is_hooked(site);
        sites.push_back(site);
      }
    }
  }
  return sites;
}

}  // namespace heddle::pass
