// SPDX-License-Identifier: Apache-2.0
//
// Names of temporary files and folders. libc draws them from random numbers of its own; a
// controlled run draws them from those that are the same in each run (random.cpp).
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "runtime/entry/entry.h"

using namespace heddle::runtime;

namespace {

constexpr std::size_t kDrawn = 6;  // letters that stand for the name
constexpr int kAttempts = 10'000;

bool is_controlled() {
  const Gate gate;
  return static_cast<bool>(gate);
}

void draw(char* letters) {
  static constexpr char kLetters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = 0;
  for (std::size_t i = 0; i < kDrawn; ++i) {
    letters[i] = kLetters[random % (sizeof kLetters - 1)];
    random /= sizeof kLetters - 1;
  }
}

/// Draws names until `make` says of one that it was not there before. `suffix`: bytes that follow
/// what is drawn.
template <typename Make>
int make_by_name(char* pattern, int suffix, Make make) {
  const std::size_t length = std::strlen(pattern);
  const auto kept = static_cast<std::size_t>(suffix);
  if (suffix < 0 || length < kDrawn + kept) {
    errno = EINVAL;
    return -1;
  }
  char* const letters = pattern + length - kept - kDrawn;
  if (std::memcmp(letters, "XXXXXX", kDrawn) != 0) {
    errno = EINVAL;
    return -1;
  }
  for (int i = 0; i < kAttempts; ++i) {
    draw(letters);
    const int made = make(pattern);
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

int make_file(char* pattern, int suffix, int flags) {
  return make_by_name(pattern, suffix, [flags](const char* path) {
    return open(path, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
  });
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

HEDDLE_ENTRY int mkostemps(char* pattern, int suffix, int flags) {
  static const auto real = next<int(char*, int, int)>("mkostemps");
  return is_controlled() ? make_file(pattern, suffix, flags) : real(pattern, suffix, flags);
}

HEDDLE_ENTRY int mkostemps64(char* pattern, int suffix, int flags) {
  return mkostemps(pattern, suffix, flags);
}

HEDDLE_ENTRY int mkstemps(char* pattern, int suffix) {
  return mkostemps(pattern, suffix, 0);
}

HEDDLE_ENTRY int mkstemps64(char* pattern, int suffix) {
  return mkostemps(pattern, suffix, 0);
}

HEDDLE_ENTRY int mkostemp(char* pattern, int flags) {
  return mkostemps(pattern, 0, flags);
}

HEDDLE_ENTRY int mkostemp64(char* pattern, int flags) {
  return mkostemps(pattern, 0, flags);
}

HEDDLE_ENTRY int mkstemp(char* pattern) {
  return mkostemps(pattern, 0, 0);
}

HEDDLE_ENTRY int mkstemp64(char* pattern) {
  return mkostemps(pattern, 0, 0);
}

HEDDLE_ENTRY char* mkdtemp(char* pattern) noexcept {
  static const auto real = next<char*(char*)>("mkdtemp");
  if (!is_controlled()) return real(pattern);
  const int made = make_by_name(pattern, 0, [](const char* path) { return mkdir(path, S_IRWXU); });
  return made < 0 ? nullptr : pattern;
}

HEDDLE_ENTRY char* mktemp(char* pattern) noexcept {
  static const auto real = next<char*(char*)>("mktemp");
  if (!is_controlled()) return real(pattern);
  const int free = make_by_name(pattern, 0, [](const char* path) {
    struct stat status{};
    if (lstat(path, &status) == 0) {
      errno = EEXIST;
      return -1;
    }
    return errno == ENOENT ? 0 : -1;
  });
  if (free < 0) *pattern = '\0';
  return pattern;
}
