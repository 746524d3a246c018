// SPDX-License-Identifier: Apache-2.0
// A coroutine's frame is on the heap and its locals live across suspension.
// HOOKS: __heddle_load4 __heddle_store4
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>

struct Numbers {
  struct promise_type {
    int value = 0;
    Numbers get_return_object() {
      return Numbers{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) {
      value = next;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  explicit Numbers(std::coroutine_handle<promise_type> given) : handle(given) {}
  Numbers(Numbers&& other) noexcept : handle(std::exchange(other.handle, {})) {}
  ~Numbers() {
    if (handle) handle.destroy();
  }
  std::coroutine_handle<promise_type> handle;
};

int seen;

Numbers fibonacci(int limit) {
  int a = 0;
  int b = 1;
  while (a < limit) {
    seen++;
    co_yield a;
    a = std::exchange(b, a + b);
  }
}

int main() {
  Numbers numbers = fibonacci(1000);
  while (numbers.handle.resume(), !numbers.handle.done()) {
    std::printf("%d ", numbers.handle.promise().value);
  }
  std::printf("(%d)\n", seen);
  return 0;
}
