// SPDX-License-Identifier: Apache-2.0
//
// A text buffer whose methods all lock, and whose append is wrong all the same: it asks the other
// buffer for its length and copies that much later. With BUFFER_FIXED it does both in one step.
// (The shape of the StringBuffer bug in the paper's figure 3.)
#ifndef HEDDLE_BREAKPOINT_EXAMPLES_BUFFER_H_
#define HEDDLE_BREAKPOINT_EXAMPLES_BUFFER_H_

#include <heddle/breakpoint.h>

#include <mutex>
#include <stdexcept>
#include <string>

class Buffer {
 public:
  explicit Buffer(std::string text) : text_(std::move(text)) {}

  std::size_t length() {
    std::lock_guard lock(mutex_);
    return text_.size();
  }

  std::string first(std::size_t length) {
    std::lock_guard lock(mutex_);
    if (length > text_.size()) throw std::out_of_range("first: buffer is shorter than that");
    return text_.substr(0, length);
  }

  void clear() {
    heddle::atomicity("stale length", this).side(heddle::intruder);
    std::lock_guard lock(mutex_);
    text_.clear();
  }

  void append(Buffer& other) {
#ifdef BUFFER_FIXED
    std::scoped_lock lock(mutex_, other.mutex_);
    std::size_t length = other.text_.size();
    heddle::atomicity("stale length", &other).side(heddle::interrupted);
    text_ += other.text_.substr(0, length);
#else
    std::size_t length = other.length();
    heddle::atomicity("stale length", &other).side(heddle::interrupted);
    std::string copy = other.first(length);
    std::lock_guard lock(mutex_);
    text_ += copy;
#endif
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

#endif  // HEDDLE_BREAKPOINT_EXAMPLES_BUFFER_H_
