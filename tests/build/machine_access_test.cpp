// SPDX-License-Identifier: Apache-2.0
#include "ir/machine_access.h"

#include <sstream>

#include "tests/build/workshop.h"

namespace heddle::ir {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(MachineAccess, TellsMemoryFromRegisters) {
  const std::pair<MachineAccess, Bytes> rows[] = {
      {MachineAccess::Other, {0x03, 0x07}},                          // add (%rdi), %eax
      {MachineAccess::None, {0x01, 0xd8}},                           // add %ebx, %eax
      {MachineAccess::Stack, {0x8b, 0x44, 0x24, 0x08}},              // mov 8(%rsp), %eax
      {MachineAccess::Other, {0x41, 0x8b, 0x04, 0x24}},              // mov (%r12), %eax
      {MachineAccess::None, {0x48, 0x8d, 0x04, 0x37}},               // lea (%rdi,%rsi), %rax
      {MachineAccess::Other, {0x83, 0x3d, 0, 0, 0, 0, 0}},           // cmpl $0, 0(%rip)
      {MachineAccess::None, {0x0f, 0x1f, 0x44, 0, 0}},               // nopl 0(%rax,%rax)
      {MachineAccess::None, {0x0f, 0x84, 0x10, 0, 0, 0}},            // je
      {MachineAccess::Other, {0xf3, 0x48, 0xa5}},                    // rep movsq
      {MachineAccess::Other, {0xf0, 0x0f, 0xb1, 0x0f}},              // lock cmpxchg
      {MachineAccess::Other, {0x66, 0x0f, 0x38, 0x00, 0x06}},        // pshufb (%rsi), %xmm0
      {MachineAccess::Other, {0xc5, 0xfc, 0x58, 0x06}},              // vaddps (%rsi), ...
      {MachineAccess::None, {0xc5, 0xfc, 0x58, 0xc1}},               // vaddps %ymm1, ...
      {MachineAccess::Other, {0xc4, 0xc1, 0x7c, 0x10, 0x04, 0x24}},  // vmovups (%r12), %ymm0
      {MachineAccess::Stack, {0xc5, 0xfc, 0x10, 0x04, 0x24}},        // vmovups (%rsp), %ymm0
      {MachineAccess::None, {0xc5, 0xf8, 0x77}},                     // vzeroupper
      {MachineAccess::Other, {0x62, 0xf1, 0x7c, 0x48, 0x10, 0x06}},  // vmovups (%rsi), %zmm0
      {MachineAccess::Other, {0xff, 0x10}},                          // call *(%rax)
      {MachineAccess::None, {0xe8, 0, 0, 0, 0}},                     // call
      {MachineAccess::None, {0xc3}},                                 // ret
      {MachineAccess::None, {0x50}},                                 // push %rax
      {MachineAccess::None, {}},
      {MachineAccess::None, {0x8b}},  // cut short
      {MachineAccess::None, {0x48}},
      {MachineAccess::None, {0x0f}},
      {MachineAccess::None, {0xc5}},
      {MachineAccess::None, {0x8b, 0x04}},
  };
  for (const auto& [expected, code] : rows) {
    EXPECT_EQ(machine_access(code), expected) << testing::PrintToString(code);
  }
}

TEST(MachineAccess, SaysWhereTheOperandEnds) {
  const std::pair<std::size_t, Bytes> rows[] = {
      {2, {0x03, 0x07}},                                // add (%rdi), %eax
      {4, {0x4c, 0x8b, 0x47, 0x08}},                    // mov 8(%rdi), %r8
      {3, {0x8b, 0x04, 0x47}},                          // mov (%rdi,%rax,2), %eax
      {7, {0x66, 0x41, 0x0f, 0x28, 0x4c, 0xd0, 0xf0}},  // movapd -16(%r8,%rdx,8), %xmm1
      {7, {0x8b, 0x04, 0x85, 0, 0, 0, 0}},              // mov 0(,%rax,4), %eax
      {7, {0x48, 0x8b, 0x05, 0, 0, 0, 0}},              // mov 0(%rip), %rax
      {6, {0x8b, 0x87, 0, 1, 0, 0}},                    // mov 256(%rdi), %eax
      {6, {0x83, 0x3d, 0, 0, 0, 0, 0}},                 // cmpl $0, 0(%rip): a constant follows
      {6, {0xc4, 0xc1, 0x7c, 0x10, 0x04, 0x24}},        // vmovups (%r12), %ymm0
      {0, {0x01, 0xd8}},                                // add %ebx, %eax
  };
  for (const auto& [expected, code] : rows) {
    EXPECT_EQ(machine_operand(code).end, expected) << testing::PrintToString(code);
  }
}

// The runtime is compiled the same way everywhere. Sanitizers put data between the code of others,
// which a disassembler takes for code.
#if __has_feature(undefined_behavior_sanitizer)
const std::string kCode = HEDDLE_TEST_BIN "/../lib/libheddle_rt.so";
#else
const std::string kCode = HEDDLE_TEST_BIN "/../lib/libheddle_rt.so " HEDDLE_TEST_BIN "/heddle-cc";
#endif

// The disassembler's words against ours, on all code of a program.
class Disassembly : public build::Workshop {};

TEST_F(Disassembly, IsOfTheSameOpinion) {
  std::istringstream lines(must("llvm-objdump-19 -d -j .text " + kCode));
  std::size_t count = 0;
  std::size_t accesses = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t code_at = line.find(": ");
    const std::size_t name_at = line.find('\t');
    if (code_at == std::string::npos || name_at == std::string::npos || name_at < code_at) continue;
    Bytes code;
    std::istringstream digits(line.substr(code_at + 1, name_at - code_at));
    for (unsigned byte = 0; digits >> std::hex >> byte;) {
      code.push_back(static_cast<std::uint8_t>(byte));
    }
    const std::string words = line.substr(name_at + 1);
    if (words.starts_with("<unknown>")) continue;  // data between the code
    const bool is_unused = words.starts_with("lea") || words.starts_with("nop") ||
                           words.starts_with("prefetch") || words.starts_with("data16");
    const bool is_stack = words.find("%st(") != std::string::npos;  // of floating-point numbers
    const bool names_memory =
        words.find('(') != std::string::npos || words.find("%fs:") != std::string::npos;
    const bool expected = names_memory && !is_unused && !is_stack;
    ++count;
    accesses += expected ? 1 : 0;
    EXPECT_EQ(machine_access(code) != MachineAccess::None, expected) << line;
  }
  EXPECT_GT(count, 1000u);
  EXPECT_GT(accesses, 100u);
}

}  // namespace
}  // namespace heddle::ir
