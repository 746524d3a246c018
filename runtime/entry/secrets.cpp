// SPDX-License-Identifier: Apache-2.0
//
// The kernel gives each process sixteen random bytes, of which libc makes the guards of stacks and
// of saved pointers. All three are ordinary values to a program that reads an uninitialised
// variable or copies a jmp_buf, so in a controlled run they are always the same.
//
// This library is initialised first (-z initfirst): nobody has saved a pointer yet, and no function
// that checks its stack's guard is under way.
#include <elf.h>

#include <cstring>

namespace {

constexpr unsigned long kStackGuard = 0x9d5c'21e7'43b8'6a00;  // ends C strings, as libc's does
constexpr unsigned long kPointerGuard = 0x6b1f'c04d'9372'e85a;

bool is_child_of_controlled(char** environment) {
  constexpr char kMark[] = "HEDDLE_CONTROLLED=";
  for (char** entry = environment; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, kMark, sizeof kMark - 1) == 0) return true;
  }
  return false;
}

__attribute__((constructor)) void fix_secrets(int, char**, char** environment) {
  if (is_child_of_controlled(environment)) return;
  asm volatile(
      "mov %0, %%fs:0x28\n\t"
      "mov %1, %%fs:0x30"
      :
      : "r"(kStackGuard), "r"(kPointerGuard));
  char** end = environment;
  while (*end != nullptr) ++end;
  for (auto* entry = reinterpret_cast<Elf64_auxv_t*>(end + 1); entry->a_type != AT_NULL; ++entry) {
    if (entry->a_type != AT_RANDOM) continue;
    const unsigned long bytes[2] = {kStackGuard | 0x5e, kPointerGuard};
    std::memcpy(reinterpret_cast<void*>(entry->a_un.a_val), bytes, sizeof bytes);
  }
}

}  // namespace
