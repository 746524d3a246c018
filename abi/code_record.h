// SPDX-License-Identifier: Apache-2.0
//
// The program's code as far as its dependences go, instruction by instruction, as the pass writes
// it into the variant "instructions": a section that holds one CodeHeader, then as many
// FunctionCode, BlockCode, InstructionCode, words and bytes of zero-terminated strings as it says.
// Functions, blocks and instructions have the numbers of the site table (abi/site_record.h):
// functions and blocks from 0, instructions from 1.
#pragma once

#include <cstdint>

namespace heddle::abi {

inline constexpr char kCodeSection[] = "heddle_code";
inline constexpr std::uint32_t kCodeMagic = 0x4f434548;  // "HECO"
inline constexpr std::uint32_t kCodeVersion = 1;

struct CodeHeader {
  std::uint32_t magic;
  std::uint32_t version;  // kCodeVersion
  std::uint32_t function_count;
  std::uint32_t block_count;
  std::uint32_t instruction_count;
  std::uint32_t word_count;
  std::uint32_t string_bytes;
};

struct FunctionCode {
  std::uint32_t first_block;
};

struct BlockCode {
  std::uint32_t first_instruction;
  // Words: the instructions that decide whether it is reached (Ferrante et al., 1987).
  std::uint32_t first_word;
  std::uint32_t word_count;
};

enum class CodeKind : std::uint8_t {
  Value = 0,   // computes from its operands
  Phi = 1,     // words in pairs: the block it is reached from, the operand
  Access = 2,  // loads, stores, updates or copies: the path has its address
  Call = 3,    // words: the arguments in order, then what is called; the path has it
  Return = 4,  // one operand, or none
};

enum CodeFlag : std::uint16_t {
  kReads = 1,        // Access
  kWrites = 2,       // Access
  kCopies = 4,       // Access: reads at one address, then writes at another
  kHooked = 8,       // Access: other threads may see it
  kOwn = 16,         // Access: of a variable that no code outside has the address of
  kBranches = 32,    // has more than one successor
  kReadsAny = 64,    // may read whatever its thread wrote
  kWritesAny = 128,  // may write whatever its thread reads
  kKeeps = 256,      // may keep something that others of this kind use later
  kLeaves = 512,     // Call: the function is over before it begins (musttail)
};

struct InstructionCode {
  CodeKind kind;
  std::uint8_t reserved;
  std::uint16_t flags;       // sum of CodeFlag
  std::uint32_t bytes;       // Access: how many, if that is fixed
  std::uint32_t callee;      // Call: number of the function + 1, if it is one of the program's
  std::uint32_t first_word;  // its operands
  std::uint32_t word_count;
  std::uint32_t file;  // offset of the source file's name among the strings; of none, 0
  std::uint32_t line;
};

/// An operand is the number of an instruction, 0 for a constant, or this and the number of an
/// argument of the function.
inline constexpr std::uint32_t kCodeArgument = 0x80000000;

}  // namespace heddle::abi
