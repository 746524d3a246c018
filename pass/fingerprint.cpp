// SPDX-License-Identifier: Apache-2.0
#include "pass/fingerprint.h"

#include "abi/site_record.h"
#include "llvm/ADT/APInt.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

namespace heddle::pass {
namespace {

constexpr int kDepth = 3;

// LLVM's own hashes may differ from process to process; this one (FNV-1a) must not.
class Hash {
 public:
  void add(llvm::StringRef text) {
    for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
    add_byte(0xff);
  }
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) add_byte(static_cast<std::uint8_t>(number >> (8 * i)));
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

// Linking numbers what would else be called the same: ".str.12", "struct.node.3".
llvm::StringRef without_number(llvm::StringRef name) {
  const llvm::StringRef stem = name.rtrim("0123456789");
  return stem.size() < name.size() && stem.ends_with(".") ? stem.drop_back() : name;
}

// A function template's name has the place of a lambda it is made for: "thread<(lambda at
// a.cpp:12:46), void>". A line above would make it another one.
void add_without_places(Hash& hash, llvm::StringRef name) {
  while (!name.empty()) {
    const auto [before, behind] = name.split(" at ");
    hash.add(before);
    const std::size_t end = behind.find(')');
    name = end == llvm::StringRef::npos ? behind : behind.drop_front(end);
  }
}

void add_type(Hash& hash, const llvm::Type* type) {
  hash.add(type->getTypeID());
  if (const auto* integer = llvm::dyn_cast<llvm::IntegerType>(type)) {
    hash.add(integer->getBitWidth());
  } else if (const auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    hash.add(structure->hasName() ? without_number(structure->getName()) : "");
  }
}

void add_value(Hash& hash, const llvm::Value* value, int depth) {
  hash.add(value->getValueID());
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    hash.add(number->getValue().getLoBits(64).getLimitedValue());
    return;
  }
  if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(value)) {
    hash.add(without_number(global->getName()));
    return;
  }
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(value)) {
    hash.add(argument->getArgNo());
    return;
  }
  add_type(hash, value->getType());
  if (depth == 0 || llvm::isa<llvm::PHINode>(value)) return;
  if (const auto* element = llvm::dyn_cast<llvm::GEPOperator>(value)) {
    add_type(hash, element->getSourceElementType());
  }
  if (const auto* operation = llvm::dyn_cast<llvm::User>(value)) {
    for (const llvm::Value* operand : operation->operand_values()) {
      if (!llvm::isa<llvm::BasicBlock>(operand)) add_value(hash, operand, depth - 1);
    }
  }
}

// The order of uses is an accident: what they are is added up.
std::uint64_t hash_of_uses(const llvm::Instruction& instruction) {
  std::uint64_t sum = 0;
  for (const llvm::User* user : instruction.users()) {
    Hash hash;
    hash.add(user->getValueID());
    add_type(hash, user->getType());
    sum += hash.value();
  }
  return sum;
}

}  // namespace

std::uint32_t fingerprint(const llvm::Instruction& instruction) {
  Hash hash;
  add_value(hash, &instruction, kDepth);
  hash.add(hash_of_uses(instruction));
  for (const llvm::DILocation* location = instruction.getDebugLoc(); location != nullptr;
       location = location->getInlinedAt()) {
    add_without_places(hash, location->getScope()->getSubprogram()->getName());
  }
  return static_cast<std::uint32_t>(hash.value() % abi::kFingerprints);
}

}  // namespace heddle::pass
