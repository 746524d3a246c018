// SPDX-License-Identifier: Apache-2.0
#include "pass/condition.h"

#include <algorithm>
#include <vector>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace heddle::pass {
namespace {

/// Typedefs, const and the like do not change a value.
const llvm::DIType* plain_type(const llvm::DIType* type) {
  while (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
    switch (derived->getTag()) {
      case llvm::dwarf::DW_TAG_typedef:
      case llvm::dwarf::DW_TAG_const_type:
      case llvm::dwarf::DW_TAG_volatile_type:
      case llvm::dwarf::DW_TAG_atomic_type: type = derived->getBaseType(); continue;
      default: return type;
    }
  }
  return type;
}

const llvm::DIType* pointee(const llvm::DIType* type) {
  const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(plain_type(type));
  if (derived == nullptr || derived->getTag() != llvm::dwarf::DW_TAG_pointer_type) return nullptr;
  return plain_type(derived->getBaseType());
}

/// Bits of a value that fits a number; 0: it does not.
unsigned bits_of(const llvm::DIType* type) {
  type = plain_type(type);
  if (type == nullptr) return 0;
  const std::uint64_t bits = type->getSizeInBits();
  const bool is_enum = type->getTag() == llvm::dwarf::DW_TAG_enumeration_type;
  const bool is_pointer = type->getTag() == llvm::dwarf::DW_TAG_pointer_type;
  const auto* basic = llvm::dyn_cast<llvm::DIBasicType>(type);
  const bool is_number = basic != nullptr && basic->getEncoding() != llvm::dwarf::DW_ATE_float;
  if (!is_enum && !is_pointer && !is_number) return 0;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? static_cast<unsigned>(bits) : 0;
}

bool is_unsigned(const llvm::DIType* type) {
  const auto* basic = llvm::dyn_cast_or_null<llvm::DIBasicType>(plain_type(type));
  if (basic == nullptr) return true;
  return basic->getEncoding() == llvm::dwarf::DW_ATE_unsigned ||
         basic->getEncoding() == llvm::dwarf::DW_ATE_unsigned_char ||
         basic->getEncoding() == llvm::dwarf::DW_ATE_boolean;
}

/// One statement of the debug information about where a local is.
struct Whereabouts {
  const llvm::DILocalVariable* variable;
  const llvm::DILocation* location;
  llvm::Instruction* before;  // holds from here on
  llvm::Value* value;         // null: nowhere, or not as it is
  bool is_address;
};

std::vector<Whereabouts> all_locals(llvm::Function& function) {
  std::vector<Whereabouts> found;
  const auto add = [&](const auto& record, llvm::Instruction& at, bool is_address) {
    llvm::Value* value =
        record.getNumVariableLocationOps() == 1 && record.getExpression()->getNumElements() == 0
            ? record.getVariableLocationOp(0)
            : nullptr;
    if (value != nullptr && llvm::isa<llvm::UndefValue>(value)) value = nullptr;
    found.push_back({record.getVariable(), record.getDebugLoc().get(), &at, value, is_address});
  };
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& instruction : block) {
      for (llvm::DbgVariableRecord& record : llvm::filterDbgVars(instruction.getDbgRecordRange())) {
        add(record, instruction, record.isDbgDeclare());
      }
      if (const auto* intrinsic = llvm::dyn_cast<llvm::DbgVariableIntrinsic>(&instruction)) {
        add(*intrinsic, instruction, llvm::isa<llvm::DbgDeclareInst>(intrinsic));
      }
    }
  }
  return found;
}

/// A number, and what the source says it is.
struct Typed {
  llvm::Value* value = nullptr;  // i64; null: there was a problem
  const llvm::DIType* type = nullptr;
};

class Condition {
 public:
  Condition(llvm::Instruction& at, llvm::StringRef text, std::string& problem)
      : at_(at), text_(text), problem_(problem), builder_(&at), dominators_(*at.getFunction()) {}

  /// An i1, or null.
  llvm::Value* build() {
    llvm::Value* const number = any_of();
    if (number == nullptr) return nullptr;
    if (!rest().empty()) return fail("not understood from '" + rest().str() + "' on");
    return builder_.CreateICmpNE(number, builder_.getInt64(0));
  }

 private:
  std::nullptr_t fail(const std::string& what) {
    if (problem_.empty()) problem_ = "condition '" + text_.str() + "': " + what;
    return nullptr;
  }
  llvm::StringRef rest() const { return text_.drop_front(next_).ltrim(); }
  bool take(llvm::StringRef word) {
    if (!rest().starts_with(word)) return false;
    next_ = text_.size() - rest().size() + word.size();
    return true;
  }
  llvm::Value* truth(llvm::Value* bit) { return builder_.CreateZExt(bit, builder_.getInt64Ty()); }
  llvm::Value* is_set(llvm::Value* number) {
    return builder_.CreateICmpNE(number, builder_.getInt64(0));
  }

  llvm::Value* any_of() {
    llvm::Value* left = all_of();
    while (left != nullptr && take("||")) {
      llvm::Value* const right = all_of();
      if (right == nullptr) return nullptr;
      left = truth(builder_.CreateOr(is_set(left), is_set(right)));
    }
    return left;
  }
  llvm::Value* all_of() {
    llvm::Value* left = comparison();
    while (left != nullptr && take("&&")) {
      llvm::Value* const right = comparison();
      if (right == nullptr) return nullptr;
      left = truth(builder_.CreateAnd(is_set(left), is_set(right)));
    }
    return left;
  }
  llvm::Value* comparison() {
    llvm::Value* const left = sum();
    if (left == nullptr) return nullptr;
    using Predicate = llvm::CmpInst::Predicate;
    // Longer ones first.
    static constexpr std::pair<const char*, Predicate> kOperators[] = {
        {"==", Predicate::ICMP_EQ},  {"!=", Predicate::ICMP_NE}, {"<=", Predicate::ICMP_SLE},
        {">=", Predicate::ICMP_SGE}, {"<", Predicate::ICMP_SLT}, {">", Predicate::ICMP_SGT}};
    for (const auto& [word, predicate] : kOperators) {
      if (!take(word)) continue;
      llvm::Value* const right = sum();
      return right == nullptr ? nullptr : truth(builder_.CreateICmp(predicate, left, right));
    }
    return left;
  }
  llvm::Value* sum() {
    llvm::Value* left = term();
    while (left != nullptr) {
      const bool plus = take("+");
      if (!plus && !take("-")) break;
      llvm::Value* const right = term();
      if (right == nullptr) return nullptr;
      left = plus ? builder_.CreateAdd(left, right) : builder_.CreateSub(left, right);
    }
    return left;
  }
  llvm::Value* term() {
    if (take("(")) {
      llvm::Value* const inner = any_of();
      if (inner != nullptr && !take(")")) return fail("a ')' is missing");
      return inner;
    }
    if (take("*")) {
      const Typed pointer = name();
      if (pointer.value == nullptr) return nullptr;
      const llvm::DIType* const type = pointee(pointer.type);
      if (bits_of(type) == 0) return fail("what it points to is no number");
      return load(builder_.CreateIntToPtr(pointer.value, builder_.getPtrTy()), type).value;
    }
    const bool negative = take("-");
    const llvm::StringRef digits = rest().take_while(llvm::isDigit);
    if (!digits.empty()) {
      std::int64_t number = 0;
      if (digits.getAsInteger(10, number)) return fail("number " + digits.str() + " is too large");
      take(digits);
      return builder_.getInt64(static_cast<std::uint64_t>(negative ? -number : number));
    }
    if (negative) return fail("a number is missing after '-'");
    return name().value;
  }

  Typed load(llvm::Value* address, const llvm::DIType* type) {
    return widen(builder_.CreateLoad(builder_.getIntNTy(bits_of(type)), address), type);
  }
  Typed widen(llvm::Value* value, const llvm::DIType* type) {
    llvm::Type* const number = builder_.getInt64Ty();
    if (value->getType()->isPointerTy()) return {builder_.CreatePtrToInt(value, number), type};
    if (!value->getType()->isIntegerTy()) return {fail("no number"), type};
    return {is_unsigned(type) ? builder_.CreateZExtOrTrunc(value, number)
                              : builder_.CreateSExtOrTrunc(value, number),
            type};
  }

  Typed name() {
    const llvm::StringRef word =
        rest().take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    if (word.empty()) return {fail("a name or a number is missing before '" + rest().str() + "'")};
    take(word);
    bool known = false;
    if (const Typed local_value = local(word, known); known) return local_value;
    if (const Typed global_value = global(word, known); known) return global_value;
    return {fail("nothing is called " + word.str() + " here; there are: " + nearest(word))};
  }

  /// Whether the variable is one of the (inlined) function that the place is in.
  bool in_scope(const Whereabouts& local) const {
    const llvm::DILocation* const here = at_.getDebugLoc().get();
    if (here == nullptr) return local.location->getInlinedAt() == nullptr;
    return local.location->getInlinedAt() == here->getInlinedAt() &&
           local.variable->getScope()->getSubprogram() == here->getScope()->getSubprogram();
  }

  /// Whether what `other` says can still hold at the place: a way leads there that does not come by
  /// `best` again.
  bool bypasses(const Whereabouts& other, const Whereabouts& best) const {
    llvm::BasicBlock* const block = best.before->getParent();
    // Whoever comes into the place's block comes by `best`, which is before it there.
    if (block == at_.getParent()) return false;
    if (block == other.before->getParent()) return true;
    llvm::SmallPtrSet<llvm::BasicBlock*, 1> excluded = {block};
    return llvm::isPotentiallyReachable(other.before, &at_, &excluded, &dominators_);
  }

  Typed local(llvm::StringRef word, bool& known) {
    const Whereabouts* best = nullptr;
    std::vector<const Whereabouts*> others;
    const std::vector<Whereabouts> locals = all_locals(*at_.getFunction());
    for (const Whereabouts& l : locals) {
      if (l.variable->getName() != word || !in_scope(l)) continue;
      known = true;
      if (l.before != &at_ && !dominators_.dominates(l.before, &at_)) {
        others.push_back(&l);
      } else if (best == nullptr || best->before == l.before ||
                 dominators_.dominates(best->before, l.before)) {
        best = &l;
      }
    }
    const bool contested = std::ranges::any_of(others, [&](const Whereabouts* other) {
      return best != nullptr && bypasses(*other, *best);
    });
    if (!known) return {};
    if (best == nullptr || best->value == nullptr || (contested && !best->is_address)) {
      return {fail(word.str() + " was optimised away here: compile with less optimisation")};
    }
    const llvm::DIType* const type = best->variable->getType();
    if (bits_of(type) == 0) return {fail(word.str() + " is no number and no pointer")};
    return best->is_address ? load(best->value, type) : widen(best->value, type);
  }

  Typed global(llvm::StringRef word, bool& known) {
    for (llvm::GlobalVariable& variable : at_.getModule()->globals()) {
      llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> described;
      variable.getDebugInfo(described);
      for (const llvm::DIGlobalVariableExpression* expression : described) {
        if (expression->getVariable()->getName() != word) continue;
        known = true;
        const llvm::DIType* const type = expression->getVariable()->getType();
        if (bits_of(type) == 0) return {fail(word.str() + " is no number and no pointer")};
        return load(&variable, type);
      }
    }
    return {};
  }

  std::string nearest(llvm::StringRef word) const {
    std::vector<llvm::StringRef> names;
    for (const Whereabouts& l : all_locals(*at_.getFunction())) {
      if (in_scope(l)) names.push_back(l.variable->getName());
    }
    for (const llvm::GlobalVariable& variable : at_.getModule()->globals()) {
      llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> described;
      variable.getDebugInfo(described);
      for (const auto* expression : described)
        names.push_back(expression->getVariable()->getName());
    }
    std::erase(names, "");  // texts in the source are globals without a name
    std::ranges::sort(names, {}, [&](llvm::StringRef name) {
      return std::pair(name.edit_distance(word), name.str());
    });
    names.erase(std::unique(names.begin(), names.end()), names.end());
    if (names.size() > 5) names.resize(5);
    return names.empty() ? "none" : llvm::join(names, ", ");
  }

  llvm::Instruction& at_;
  llvm::StringRef text_;
  std::string& problem_;
  std::size_t next_ = 0;
  llvm::IRBuilder<> builder_;
  llvm::DominatorTree dominators_;
};

}  // namespace

llvm::Instruction* insert_condition(llvm::Instruction& at, llvm::StringRef condition,
                                    std::string& problem) {
  llvm::Value* const holds = Condition(at, condition, problem).build();
  return holds == nullptr
             ? nullptr
             : llvm::SplitBlockAndInsertIfThen(holds, at.getIterator(), /*Unreachable=*/false);
}

}  // namespace heddle::pass
