// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

namespace heddle::driver {

/// A file descriptor that is closed when it goes out of scope.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }
  void reset() {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

/// What is in the file, from its beginning.
inline std::string contents(const Descriptor& file) {
  std::string bytes;
  char buffer[64 << 10];
  for (;;) {
    const ssize_t got = pread(file.get(), buffer, sizeof buffer, static_cast<off_t>(bytes.size()));
    if (got <= 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace heddle::driver
