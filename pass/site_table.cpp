// SPDX-License-Identifier: Apache-2.0
#include "pass/site_table.h"

#include <limits>
#include <string>

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/fingerprint.h"
#include "pass/source_place.h"

namespace heddle::pass {
namespace {

bool has_line(const llvm::Instruction& instruction) {
  return instruction.getDebugLoc() && instruction.getDebugLoc().getLine() != 0;
}

/// Optimisations that move or merge instructions take their line away; what uses the result, or
/// comes next, still has one.
const llvm::DILocation* place_of(const llvm::Instruction& instruction) {
  if (has_line(instruction)) return instruction.getDebugLoc().get();
  const llvm::DILocation* first = nullptr;  // whatever order the uses are listed in
  for (const llvm::User* user : instruction.users()) {
    const auto* const use = llvm::dyn_cast<llvm::Instruction>(user);
    if (use == nullptr || !has_line(*use)) continue;
    const llvm::DILocation* const place = use->getDebugLoc().get();
    if (first == nullptr || place->getLine() < first->getLine()) first = place;
  }
  if (first != nullptr) return first;
  for (const llvm::Instruction* next = instruction.getNextNode(); next != nullptr;
       next = next->getNextNode()) {
    if (has_line(*next)) return next->getDebugLoc().get();
  }
  return instruction.getDebugLoc().get();
}

using abi::SiteKind;

std::string callee_of(const Site& site) {
  if (site.kind != SiteKind::Call) return "";
  const auto& call = llvm::cast<llvm::CallBase>(*site.instruction);
  const llvm::Value* target = call.getCalledOperand()->stripPointerCastsAndAliases();
  const auto* function = llvm::dyn_cast<llvm::GlobalValue>(target);
  return function == nullptr ? "" : readable_name(function->getName());
}

class Builder {
 public:
  void add(const ProgramLayout& layout) {
    for (const ProgramLayout::Function& function : layout.functions()) {
      functions_.push_back({string(function.function->getName()), function.first_block});
    }
    for (const ProgramLayout::Block& block : layout.blocks()) {
      blocks_.push_back({block.first_instruction, block.loop});
    }
    for (const ProgramLayout::Loop& loop : layout.loops()) {
      abi::LoopRecord record{loop.parent, loop.header, 0, 0};
      if (loop.place) {
        const Chain& chain = chain_of(loop.place.get(), *layout.blocks()[loop.header].block);
        record.first_frame = chain.first;
        record.frames = chain.count;
      }
      loops_.push_back(record);
    }
  }

  void add(const Site& site, std::uint32_t instruction_number) {
    const llvm::DILocation* const place =
        site.location != nullptr ? site.location : place_of(*site.instruction);
    const Chain& chain = chain_of(place, *site.instruction->getParent());
    abi::SiteRecord record{};
    record.kind = static_cast<std::uint8_t>(site.kind);
    record.sharing = static_cast<std::uint8_t>(site.sharing);
    record.access_bytes = site.bytes <= std::numeric_limits<std::uint16_t>::max()
                              ? static_cast<std::uint16_t>(site.bytes)
                              : 0;
    record.place = chain.place;
    record.fingerprint = fingerprint(*site.instruction);
    record.ordinal = ++ordinals_[{{chain.place, record.kind}, record.fingerprint}];
    record.callee = string(callee_of(site));
    record.first_frame = chain.first;
    record.frames = static_cast<std::uint16_t>(chain.count);
    record.instruction = instruction_number;
    sites_.push_back(record);
  }

  std::string bytes() const {
    abi::SiteTableHeader header{};
    header.magic = abi::kSiteMagic;
    header.version = abi::kSiteTableVersion;
    header.function_count = static_cast<std::uint32_t>(functions_.size());
    header.block_count = static_cast<std::uint32_t>(blocks_.size());
    header.loop_count = static_cast<std::uint32_t>(loops_.size());
    header.site_count = static_cast<std::uint32_t>(sites_.size());
    header.frame_count = static_cast<std::uint32_t>(frames_.size());
    header.string_bytes = static_cast<std::uint32_t>(strings_.size());
    std::string all;
    const auto append = [&all](const void* data, std::size_t size) {
      all.append(static_cast<const char*>(data), size);
    };
    append(&header, sizeof header);
    append(functions_.data(), functions_.size() * sizeof(abi::FunctionRecord));
    append(blocks_.data(), blocks_.size() * sizeof(abi::BlockRecord));
    append(loops_.data(), loops_.size() * sizeof(abi::LoopRecord));
    append(sites_.data(), sites_.size() * sizeof(abi::SiteRecord));
    append(frames_.data(), frames_.size() * sizeof(abi::FrameRecord));
    append(strings_.data(), strings_.size());
    return all;
  }

 private:
  struct Chain {
    std::uint32_t first;
    std::uint32_t count;
    std::uint32_t place;  // string: the part of a key before the kind
  };

  // Instructions of one line share their frames: most of the table would be repetition otherwise.
  const Chain& chain_of(const llvm::DILocation* location, const llvm::BasicBlock& block) {
    const llvm::Function& function = *block.getParent();
    const void* identity = location != nullptr ? static_cast<const void*>(location)
                                               : static_cast<const void*>(&function);
    auto [known, is_new] = chains_.try_emplace(identity);
    if (!is_new) return known->second;

    const std::vector<SourceFrame> frames = source_frames(location, function);
    const auto first = static_cast<std::uint32_t>(frames_.size());
    for (const SourceFrame& frame : frames) {
      frames_.push_back({string(frame.function), string(frame.file), frame.line, frame.column});
    }
    std::string place =
        frames.front().function + "+" + std::to_string(frames.front().relative_line);
    if (frames.size() > 1) place += "@" + frames.back().function;
    Chain& chain = chains_[identity];
    chain = {first, static_cast<std::uint32_t>(frames.size()), string(place)};
    return chain;
  }

  std::uint32_t string(llvm::StringRef text) {
    auto [known, is_new] = offsets_.try_emplace(text, static_cast<std::uint32_t>(strings_.size()));
    if (is_new) {
      strings_ += text;
      strings_ += '\0';
    }
    return known->second;
  }

  using Description = std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

  std::vector<abi::FunctionRecord> functions_;
  std::vector<abi::BlockRecord> blocks_;
  std::vector<abi::LoopRecord> loops_;
  std::vector<abi::SiteRecord> sites_;
  std::vector<abi::FrameRecord> frames_;
  std::string strings_ = std::string(1, '\0');  // offset 0 is the empty string
  llvm::StringMap<std::uint32_t> offsets_ = {{"", 0}};
  llvm::DenseMap<Description, std::uint16_t> ordinals_;  // place, kind, fingerprint
  llvm::DenseMap<const void*, Chain> chains_;
};

}  // namespace

void emit_site_table(llvm::Module& module, const ProgramLayout& layout,
                     llvm::ArrayRef<Site> sites) {
  Builder builder;
  builder.add(layout);
  for (const Site& site : sites) builder.add(site, layout.number_of(*site.instruction));

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
