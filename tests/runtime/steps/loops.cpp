// SPDX-License-Identifier: Apache-2.0
//
// Loops left in every way. check_steps compares the loop steps with what the comments promise:
//   LOOP name entered iterations exited   (a loop is told by the function it is in)
#include <pthread.h>
#include <setjmp.h>

#include <stdexcept>

namespace {

volatile int shared;
volatile int many = 9;  // or the compiler would unroll the loops
jmp_buf jump;

[[gnu::noinline]] void throw_at(int i, int limit) {
  ++shared;
  if (i == limit) throw std::runtime_error("enough");
}

// LOOP passed_by_exception 1 3 1
[[gnu::noinline]] void passed_by_exception() {
  for (int i = 0; i < many; ++i) throw_at(i, 2);
}

// LOOP left_by_return 1 4 1
[[gnu::noinline]] int left_by_return() {
  for (int i = 0;; ++i) {
    ++shared;
    if (i == many - 6) return i;
  }
}

// Its own handler is outside the loop.
// LOOP left_by_exception 1 2 1
[[gnu::noinline]] void left_by_exception() {
  try {
    for (int i = 0; i < many; ++i) throw_at(i, 1);
  } catch (const std::exception&) {
    ++shared;
  }
}

// LOOP left_by_longjmp 1 3 1
[[gnu::noinline]] void left_by_longjmp() {
  for (int i = 0;; ++i) {
    ++shared;
    if (i == many - 7) longjmp(jump, 1);
  }
}

// The exception ends inside the loop, which goes on.
// LOOP catches_inside 1 2 1
[[gnu::noinline]] void catches_inside() {
  int i = 0;
  do {
    try {
      if (i == many - 9) passed_by_exception();
    } catch (const std::exception&) {
      ++shared;
    }
  } while (++i < many - 7);
}

void* worker(void*) {
  catches_inside();
  left_by_exception();
  return nullptr;
}

}  // namespace

int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, worker, nullptr);
  if (setjmp(jump) == 0) left_by_longjmp();
  const int result = left_by_return() - 3;
  pthread_join(thread, nullptr);
  return result;
}
