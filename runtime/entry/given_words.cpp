// SPDX-License-Identifier: Apache-2.0
#include "runtime/entry/given_words.h"

#include <unistd.h>

#include <cstring>
#include <initializer_list>

#include "runtime/base/address_space.h"
#include "runtime/base/system.h"

namespace heddle::runtime {
namespace {

/// Differ from one start to the next, or are not there in each.
bool is_added(const char* variable) {
  for (const char* const name : {"LD_PRELOAD=", "GLIBC_TUNABLES=", "HEDDLE_CONTROLLED="}) {
    if (std::strncmp(variable, name, std::strlen(name)) == 0) return true;
  }
  return false;
}

std::size_t bytes_of(char* const* words) {
  std::size_t bytes = 0;
  for (; *words != nullptr; ++words) bytes += std::strlen(*words) + 1;
  return bytes;
}

char* move_word(char*& word, char* to) {
  const std::size_t bytes = std::strlen(word) + 1;
  std::memcpy(to, word, bytes);
  word = to;
  return to + bytes;
}

}  // namespace

char** move_given_words(char** arguments) {
  std::size_t count = 0;
  while (arguments[count] != nullptr) ++count;
  const std::size_t array = (count + 2) * sizeof *arguments;  // with room to align it
  const std::size_t bytes = bytes_of(arguments) + bytes_of(environ) + array;
  auto* to = static_cast<char*>(map_memory(bytes, reinterpret_cast<void*>(kWordsBase)));
  for (char** word = arguments; *word != nullptr; ++word) to = move_word(*word, to);
  char** moved = nullptr;
  for (const bool added : {false, true}) {
    for (char** word = environ; *word != nullptr; ++word) {
      const bool is_moved = *word >= reinterpret_cast<char*>(kWordsBase) && *word < to;
      if (!is_moved && is_added(*word) == added) to = move_word(*word, to);
    }
    if (added) continue;
    const std::uint64_t behind = reinterpret_cast<std::uint64_t>(to) + sizeof *moved - 1;
    moved = reinterpret_cast<char**>(behind / sizeof *moved * sizeof *moved);
    std::memcpy(moved, arguments, (count + 1) * sizeof *moved);
    to = reinterpret_cast<char*>(moved + count + 1);
  }
  return moved;
}

}  // namespace heddle::runtime
