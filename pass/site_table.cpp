// SPDX-License-Identifier: Apache-2.0
#include "pass/site_table.h"

#include <limits>
#include <string>

#include "abi/names.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/source_place.h"

namespace heddle::pass {
namespace {

using abi::EventKind;
using abi::SiteKind;

const char* kind_text(SiteKind kind) {
  switch (kind) {
    case SiteKind::Load: return abi::name_of(EventKind::Load);
    case SiteKind::Store: return abi::name_of(EventKind::Store);
    case SiteKind::AtomicLoad: return abi::name_of(EventKind::AtomicLoad);
    case SiteKind::AtomicStore: return abi::name_of(EventKind::AtomicStore);
    case SiteKind::AtomicRmw: return abi::name_of(EventKind::AtomicRmw);
    case SiteKind::AtomicCas: return abi::name_of(EventKind::AtomicCas);
    case SiteKind::Fence: return abi::name_of(EventKind::Fence);
    case SiteKind::RangeRead: return abi::name_of(EventKind::RangeRead);
    case SiteKind::RangeWrite: return abi::name_of(EventKind::RangeWrite);
    case SiteKind::Call: return "call";
    case SiteKind::Function: return "function";
    case SiteKind::Loop: return "loop";
    case SiteKind::Block: return "block";
    case SiteKind::Branch: return "branch";
  }
  llvm_unreachable("every kind is listed");
}

std::string callee_of(const Site& site) {
  if (site.kind != SiteKind::Call) return "";
  const auto& call = llvm::cast<llvm::CallBase>(*site.instruction);
  const llvm::Value* target = call.getCalledOperand()->stripPointerCastsAndAliases();
  const auto* function = llvm::dyn_cast<llvm::GlobalValue>(target);
  return function == nullptr ? "" : readable_name(function->getName());
}

class Builder {
 public:
  void add(const Site& site) {
    const Chain& chain = chain_of(*site.instruction, site.location);
    abi::SiteRecord record{};
    record.kind = static_cast<std::uint16_t>(site.kind);
    record.access_bytes = site.bytes <= std::numeric_limits<std::uint16_t>::max()
                              ? static_cast<std::uint16_t>(site.bytes)
                              : 0;
    record.key = string(key(chain.place, site.kind));
    record.callee = string(callee_of(site));
    record.first_frame = chain.first;
    record.frames = chain.count;
    sites_.push_back(record);
  }

  std::string bytes() const {
    abi::SiteTableHeader header{};
    header.magic = abi::kSiteMagic;
    header.version = abi::kVersion;
    header.site_count = static_cast<std::uint32_t>(sites_.size());
    header.frame_count = static_cast<std::uint32_t>(frames_.size());
    header.string_bytes = static_cast<std::uint32_t>(strings_.size());
    std::string all;
    const auto append = [&all](const void* data, std::size_t size) {
      all.append(static_cast<const char*>(data), size);
    };
    append(&header, sizeof header);
    append(sites_.data(), sites_.size() * sizeof(abi::SiteRecord));
    append(frames_.data(), frames_.size() * sizeof(abi::FrameRecord));
    append(strings_.data(), strings_.size());
    return all;
  }

 private:
  struct Chain {
    std::uint32_t first;
    std::uint32_t count;
    std::string place;  // the part of a key before the kind
  };

  // Instructions of one line share their frames: most of the table would be repetition otherwise.
  const Chain& chain_of(const llvm::Instruction& instruction, const llvm::DILocation* location) {
    if (location == nullptr) location = instruction.getDebugLoc();
    const void* identity = location != nullptr
                               ? static_cast<const void*>(location)
                               : static_cast<const void*>(instruction.getFunction());
    auto [known, is_new] = chains_.try_emplace(identity);
    if (!is_new) return known->second;

    const std::vector<SourceFrame> frames = source_frames(instruction, location);
    const auto first = static_cast<std::uint32_t>(frames_.size());
    for (const SourceFrame& frame : frames) {
      frames_.push_back({string(frame.function), string(frame.file), frame.line, frame.column});
    }
    std::string place =
        frames.front().function + "+" + std::to_string(frames.front().relative_line);
    if (frames.size() > 1) place += "@" + frames.back().function;
    Chain& chain = chains_[identity];
    chain = {first, static_cast<std::uint32_t>(frames.size()), std::move(place)};
    return chain;
  }

  std::string key(const std::string& place, SiteKind kind) {
    const std::string prefix = place + "." + kind_text(kind);
    return prefix + "." + std::to_string(++ordinals_[prefix]);
  }

  std::uint32_t string(const std::string& text) {
    auto [known, is_new] = offsets_.try_emplace(text, static_cast<std::uint32_t>(strings_.size()));
    if (is_new) {
      strings_ += text;
      strings_ += '\0';
    }
    return known->second;
  }

  std::vector<abi::SiteRecord> sites_;
  std::vector<abi::FrameRecord> frames_;
  std::string strings_ = std::string(1, '\0');  // offset 0 is the empty string
  llvm::StringMap<std::uint32_t> offsets_ = {{"", 0}};
  llvm::StringMap<unsigned> ordinals_;
  llvm::DenseMap<const void*, Chain> chains_;
};

}  // namespace

void emit_site_table(llvm::Module& module, llvm::ArrayRef<Site> sites) {
  Builder builder;
  for (const Site& site : sites) builder.add(site);

  llvm::Constant* data =
      llvm::ConstantDataArray::getString(module.getContext(), builder.bytes(), /*AddNull=*/false);
  auto* table = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                         llvm::GlobalValue::PrivateLinkage, data, "heddle.sites");
  table->setSection(abi::kSiteSection);
  table->setAlignment(llvm::Align(alignof(std::uint64_t)));
  // Nothing in the program refers to it, and --gc-sections must not mind.
  llvm::appendToUsed(module, {table});
}

}  // namespace heddle::pass
