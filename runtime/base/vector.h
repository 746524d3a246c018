// SPDX-License-Identifier: Apache-2.0
//
// A growing array for the runtime, which may not use the program's heap: its memory is the
// runtime's own and is given back never (an execution is short-lived). Elements are plain data.
#pragma once

#include <cstddef>
#include <type_traits>

#include "runtime/base/system.h"

namespace heddle::runtime {

template <typename T>
class Vector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }

  void push_back(const T& value) {
    if (size_ == capacity_) grow(capacity_ == 0 ? 64 : capacity_ * 2);
    data_[size_++] = value;
  }

  /// New elements are zero bytes.
  void resize(std::size_t size) {
    if (size > capacity_) {
      grow(size);  // zero already, and not even there until it is used
    } else if (size > size_) {
      clear(data_ + size_, (size - size_) * sizeof(T));
    }
    size_ = size;
  }

  /// Removes element i, keeping the order of the others.
  void erase(std::size_t i) {
    copy(data_ + i, data_ + i + 1, (size_ - i - 1) * sizeof(T));
    --size_;
  }

 private:
  // libc's functions for it leave what they copied in wide registers (runtime/base/remains.h).
  static void copy(void* to, const void* from, std::size_t bytes) {  // `to` not within `from`
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
  }
  static void clear(void* at, std::size_t bytes) {
    asm volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(0) : "memory");
  }

  void grow(std::size_t capacity) {
    T* const data = static_cast<T*>(own_memory(capacity * sizeof(T)));
    copy(data, data_, size_ * sizeof(T));
    data_ = data;
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace heddle::runtime
