// SPDX-License-Identifier: Apache-2.0
#include "ir/machine_access.h"

#include <algorithm>
#include <initializer_list>

namespace heddle::ir {
namespace {

bool is_one_of(std::uint8_t byte, std::initializer_list<std::uint8_t> known) {
  return std::ranges::find(known, byte) != known.end();
}

bool is_within(std::uint8_t byte, std::uint8_t first, std::uint8_t last) {
  return byte >= first && byte <= last;
}

bool is_legacy_prefix(std::uint8_t byte) {
  return is_one_of(byte, {0x66, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x67, 0xf0});
}

/// What an opcode of the map without an escape byte does with memory.
enum class Operands : std::uint8_t { None, Modrm, Implied };

Operands of_one_byte(std::uint8_t opcode) {
  constexpr std::uint8_t kLea = 0x8d;
  if (opcode == kLea) return Operands::None;
  // movs, cmps, stos, lods, scas, mov to and from a fixed address, xlat
  if (is_within(opcode, 0xa0, 0xa7) || is_within(opcode, 0xaa, 0xaf) || opcode == 0xd7) {
    return Operands::Implied;
  }
  const bool is_arithmetic = opcode < 0x40 && (opcode & 7) < 4;
  return is_arithmetic || is_within(opcode, 0x80, 0x8f) || is_within(opcode, 0xd0, 0xd3) ||
                 is_within(opcode, 0xd8, 0xdf) ||
                 is_one_of(opcode,
                           {0x63, 0x69, 0x6b, 0xc0, 0xc1, 0xc6, 0xc7, 0xf6, 0xf7, 0xfe, 0xff})
             ? Operands::Modrm
             : Operands::None;
}

Operands of_two_bytes(std::uint8_t opcode) {
  // Prefetches and long no-operations have an operand and do not use it.
  const bool is_hint = opcode == 0x0d || is_within(opcode, 0x18, 0x1f);
  const bool has_none = is_within(opcode, 0x05, 0x0b) || opcode == 0x0e ||
                        is_within(opcode, 0x30, 0x37) || opcode == 0x77 ||
                        is_within(opcode, 0x80, 0x8f) || is_within(opcode, 0xa0, 0xa2) ||
                        is_within(opcode, 0xa8, 0xaa) || is_within(opcode, 0xc8, 0xcf);
  return is_hint || has_none ? Operands::None : Operands::Modrm;
}

/// Bytes of a constant that is added to the address; `base` as in the last byte before it.
std::size_t displacement(std::uint8_t mode, std::uint8_t base) {
  constexpr std::uint8_t kNoBase = 5;
  if (mode == 0) return base == kNoBase ? 4 : 0;
  return mode == 1 ? 1 : 4;
}

/// `extended`: the base is one of r8 to r15.
MachineOperand of_modrm(std::span<const std::uint8_t> rest, bool extended) {
  if (rest.empty() || rest[0] >> 6 == 3) return {};  // a register
  constexpr std::uint8_t kSib = 4;
  constexpr std::uint8_t kStackPointer = 4;
  const auto mode = static_cast<std::uint8_t>(rest[0] >> 6);
  const auto base = static_cast<std::uint8_t>(rest[0] & 7);
  if (base != kSib) return {MachineAccess::Other, 1 + displacement(mode, base)};
  if (rest.size() < 2) return {};
  const auto sib_base = static_cast<std::uint8_t>(rest[1] & 7);
  const bool is_stack = sib_base == kStackPointer && !extended;
  return {is_stack ? MachineAccess::Stack : MachineAccess::Other, 2 + displacement(mode, sib_base)};
}

/// Bytes of a VEX or EVEX prefix; 0: it is none.
std::size_t vector_prefix(std::uint8_t byte) {
  switch (byte) {
    case 0xc5: return 2;
    case 0xc4: return 3;
    case 0x62: return 4;
    default: return 0;
  }
}

}  // namespace

MachineOperand machine_operand(std::span<const std::uint8_t> code) {
  const std::size_t length = code.size();
  const auto skip = [&code](std::size_t bytes) {
    code = code.subspan(std::min(bytes, code.size()));
  };
  const auto behind = [&](MachineOperand operand) {
    if (operand.access != MachineAccess::None) operand.end += length - code.size();
    return operand;
  };
  while (!code.empty() && is_legacy_prefix(code[0])) skip(1);
  bool extended = false;
  if (!code.empty() && is_within(code[0], 0x40, 0x4f)) {
    extended = (code[0] & 1) != 0;
    skip(1);
  }
  if (code.empty()) return {};
  if (const std::size_t prefix = vector_prefix(code[0]); prefix != 0) {
    constexpr std::uint8_t kZeroUpper = 0x77;
    extended = prefix > 2 && code.size() > 1 && (code[1] & 0x20) == 0;
    skip(prefix);
    const bool has_operands = code.size() > 1 && code[0] != kZeroUpper;
    skip(1);
    return has_operands ? behind(of_modrm(code, extended)) : MachineOperand{};
  }
  Operands operands = of_one_byte(code[0]);
  if (code[0] == 0x0f && code.size() > 1) {
    skip(1);
    operands = of_two_bytes(code[0]);
    if (is_one_of(code[0], {0x38, 0x3a})) skip(1);
  }
  skip(1);
  if (operands == Operands::Implied) return behind({MachineAccess::Other, 0});
  return operands == Operands::Modrm ? behind(of_modrm(code, extended)) : MachineOperand{};
}

}  // namespace heddle::ir
