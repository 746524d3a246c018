// SPDX-License-Identifier: Apache-2.0
#include "pass/code_table.h"

#include <string>
#include <vector>

#include "abi/code_record.h"
#include "abi/names.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/code_facts.h"
#include "pass/path.h"
#include "pass/thread_library.h"

namespace heddle::pass {
namespace {

using abi::CodeKind;
using abi::SiteKind;

constexpr std::uint16_t kAnything = abi::kReadsAny | abi::kWritesAny | abi::kKeeps;

/// Functions of the C library that leave nothing in memory of the program's.
bool only_prints(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases("printf", "fprintf", "vprintf", "vfprintf", "dprintf", "puts", "putchar", true)
      .Cases("fputs", "fputc", "putc", "fwrite", "write", "fflush", "perror", true)
      .Default(false);
}

std::uint16_t flags_of_outer_call(const llvm::CallBase& call) {
  if (call.doesNotReturn() || call.doesNotAccessMemory()) return 0;
  if (const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    // An empty one is a barrier to the compiler only.
    return llvm::StringRef(assembly->getAsmString()).trim().empty() ? 0 : kAnything;
  }
  const llvm::Function* const callee = callee_of(call);
  if (callee == nullptr) return kAnything;
  const ThreadCall thread = thread_call(callee->getName());
  // What these do is in the trace.
  if (thread == ThreadCall::UsesOnly || thread == ThreadCall::Create) return 0;
  if (only_prints(callee->getName())) return abi::kReadsAny | abi::kKeeps;
  if (call.onlyReadsMemory()) return abi::kReadsAny;
  const bool allocates = callee->hasFnAttribute(llvm::Attribute::AllocKind);
  if (call.onlyAccessesInaccessibleMemory()) return allocates ? 0 : abi::kKeeps;
  if (allocates && call.getType()->isVoidTy()) return 0;  // free
  return kAnything;
}

bool is_musttail(const llvm::CallBase& call) {
  const auto* one = llvm::dyn_cast<llvm::CallInst>(&call);
  return one != nullptr && one->isMustTailCall();
}

/// What a function finds where its caller put it without a store.
std::uint16_t flags_of_inner_call(const llvm::CallBase& call, const llvm::Function& callee) {
  bool hands_over = callee.isVarArg();
  for (unsigned i = 0; i < call.arg_size(); ++i) hands_over |= call.isByValArgument(i);
  return hands_over ? abi::kReadsAny : 0;
}

class Table {
 public:
  Table(const ProgramLayout& layout, llvm::ArrayRef<Site> sites) : layout_(layout) {
    for (const Site& site : sites) {
      if (is_told_access(site)) sites_[site.instruction].push_back(&site);
    }
    for (std::uint32_t i = 0; i < layout.functions().size(); ++i) {
      functions_[layout.functions()[i].function] = i;
    }
    for (std::uint32_t i = 0; i < layout.blocks().size(); ++i) {
      blocks_[layout.blocks()[i].block] = i;
    }
  }

  std::string bytes() {
    for (const ProgramLayout::Function& function : layout_.functions()) {
      function_codes_.push_back({function.first_block});
      find_decisions(const_cast<llvm::Function&>(*function.function));
    }
    for (const ProgramLayout::Block& block : layout_.blocks()) add_block(block);
    const abi::CodeHeader header{abi::kCodeMagic,
                                 abi::kCodeVersion,
                                 count(function_codes_),
                                 count(block_codes_),
                                 count(instruction_codes_),
                                 count(words_),
                                 static_cast<std::uint32_t>(strings_.size())};
    std::string all(reinterpret_cast<const char*>(&header), sizeof header);
    append(all, function_codes_);
    append(all, block_codes_);
    append(all, instruction_codes_);
    append(all, words_);
    return all + strings_;
  }

 private:
  template <typename Record>
  static std::uint32_t count(const std::vector<Record>& records) {
    return static_cast<std::uint32_t>(records.size());
  }
  template <typename Record>
  static void append(std::string& to, const std::vector<Record>& records) {
    to.append(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(Record));
  }

  void find_decisions(llvm::Function& function) {
    for_each_decision(function, [&](llvm::BasicBlock& block, llvm::Instruction& branch) {
      auto& known = decisions_[blocks_.lookup(&block)];
      const std::uint32_t number = layout_.number_of(branch);
      if (!llvm::is_contained(known, number)) known.push_back(number);
    });
  }

  void add_block(const ProgramLayout::Block& block) {
    const auto& decisions = decisions_[count(block_codes_)];
    block_codes_.push_back(
        {block.first_instruction, count(words_), static_cast<std::uint32_t>(decisions.size())});
    words_.insert(words_.end(), decisions.begin(), decisions.end());
    for (const llvm::Instruction& instruction : *block.block) {
      if (layout_.number_of(instruction) != 0) add_instruction(instruction);
    }
  }

  std::uint32_t operand(const llvm::Value* value) const {
    if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value)) {
      return layout_.number_of(*instruction);
    }
    const auto* argument = llvm::dyn_cast<llvm::Argument>(value);
    return argument == nullptr ? 0 : abi::kCodeArgument | argument->getArgNo();
  }

  void add_instruction(const llvm::Instruction& instruction) {
    abi::InstructionCode code{};
    code.first_word = count(words_);
    const auto told = sites_.find(&instruction);
    if (told != sites_.end()) {
      describe_access(instruction, told->second, code);
    } else if (is_told_call(instruction)) {
      describe_call(llvm::cast<llvm::CallBase>(instruction), code);
    } else if (llvm::isa<llvm::PHINode>(instruction)) {
      code.kind = CodeKind::Phi;
    } else if (llvm::isa<llvm::ReturnInst>(instruction)) {
      code.kind = CodeKind::Return;
    } else if (is_opaque(instruction)) {
      code.flags = kAnything;
    }
    if (instruction.isTerminator() && instruction.getNumSuccessors() > 1) {
      code.flags |= abi::kBranches;
    }
    add_operands(instruction);
    code.word_count = count(words_) - code.first_word;
    if (const llvm::DILocation* location = instruction.getDebugLoc().get()) {
      code.file = file(location->getFilename());
      code.line = location->getLine();
    }
    instruction_codes_.push_back(code);
  }

  static bool is_opaque(const llvm::Instruction& instruction) {
    if (!instruction.mayReadOrWriteMemory() || llvm::isa<llvm::FenceInst>(instruction)) {
      return false;
    }
    const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    return intrinsic == nullptr ||
           !(intrinsic->isAssumeLikeIntrinsic() || intrinsic->onlyAccessesInaccessibleMemory());
  }

  static bool is_own(const llvm::Value* pointer) {
    if (pointer == nullptr) return false;
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer, 0));
    return variable != nullptr && is_private(*variable);
  }

  static void describe_access(const llvm::Instruction& instruction,
                              llvm::ArrayRef<const Site*> sites, abi::InstructionCode& code) {
    code.kind = CodeKind::Access;
    bool own = true;
    for (const Site* site : sites) {
      switch (site->kind) {
        case SiteKind::Load:
        case SiteKind::AtomicLoad:
        case SiteKind::RangeRead: code.flags |= abi::kReads; break;
        case SiteKind::Store:
        case SiteKind::AtomicStore:
        case SiteKind::RangeWrite: code.flags |= abi::kWrites; break;
        default: code.flags |= abi::kReads | abi::kWrites; break;
      }
      if (site->hooked) code.flags |= abi::kHooked;
      own &= is_own(accessed_pointer(const_cast<llvm::Instruction&>(instruction), site->kind));
      code.bytes = static_cast<std::uint32_t>(site->bytes);
    }
    if (sites.size() > 1) code.flags |= abi::kCopies;
    if (own) code.flags |= abi::kOwn;
  }

  void describe_call(const llvm::CallBase& call, abi::InstructionCode& code) {
    code.kind = CodeKind::Call;
    const llvm::Function* const callee = callee_of(call);
    const auto known = callee == nullptr ? functions_.end() : functions_.find(callee);
    if (known == functions_.end()) {
      code.flags = flags_of_outer_call(call);
    } else {
      code.callee = known->second + 1;
      code.flags = flags_of_inner_call(call, *callee);
    }
    if (is_musttail(call)) code.flags |= abi::kLeaves;
  }

  void add_operands(const llvm::Instruction& instruction) {
    if (const auto* choice = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      for (unsigned i = 0; i < choice->getNumIncomingValues(); ++i) {
        words_.push_back(blocks_.lookup(choice->getIncomingBlock(i)));
        words_.push_back(operand(choice->getIncomingValue(i)));
      }
    } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      for (const llvm::Use& argument : call->args()) words_.push_back(operand(argument.get()));
      words_.push_back(operand(call->getCalledOperand()));
    } else {
      for (const llvm::Use& use : instruction.operands()) {
        if (const std::uint32_t number = operand(use.get())) words_.push_back(number);
      }
    }
  }

  std::uint32_t file(llvm::StringRef name) {
    const auto [known, is_new] =
        files_.try_emplace(name, static_cast<std::uint32_t>(strings_.size()));
    if (is_new) strings_.append(name.data(), name.size()).push_back('\0');
    return known->second;
  }

  const ProgramLayout& layout_;
  llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<const Site*, 2>> sites_;
  llvm::DenseMap<const llvm::Function*, std::uint32_t> functions_;
  llvm::DenseMap<const llvm::BasicBlock*, std::uint32_t> blocks_;
  llvm::DenseMap<std::uint32_t, llvm::SmallVector<std::uint32_t, 2>> decisions_;  // by block
  std::vector<abi::FunctionCode> function_codes_;
  std::vector<abi::BlockCode> block_codes_;
  std::vector<abi::InstructionCode> instruction_codes_;
  std::vector<std::uint32_t> words_;
  llvm::StringMap<std::uint32_t> files_;
  std::string strings_ = std::string(1, '\0');
};

}  // namespace

void emit_code_table(llvm::Module& module, const ProgramLayout& layout,
                     llvm::ArrayRef<Site> sites) {
  llvm::Constant* data = llvm::ConstantDataArray::getString(
      module.getContext(), Table(layout, sites).bytes(), /*AddNull=*/false);
  auto* table = new llvm::GlobalVariable(module, data->getType(), /*isConstant=*/true,
                                         llvm::GlobalValue::PrivateLinkage, data, "heddle.code");
  table->setSection(abi::kCodeSection);
  table->setAlignment(llvm::Align(alignof(std::uint32_t)));
  llvm::appendToUsed(module, {table});
}

}  // namespace heddle::pass
