// SPDX-License-Identifier: Apache-2.0
//
// Semaphore. A counting semaphore is to let as many threads in as there are slots, but starts
// with one permit more. The third thread finds no slot.
// Origin: C++20 primitives: a counting semaphore initialised with one permit too many for what it
// guards.

#include <atomic>
#include <cassert>
#include <memory>
#include <semaphore>
#include <thread>

constexpr int kSlots = 2;

struct Pool {
  std::counting_semaphore<8> permits{kSlots + 1};  // heddle: culprit permits
  std::atomic<int> used{0};
};

void use(Pool* pool) {
  // Not acquire(): that of libstdc++ 12 can sleep for ever, which is another finding.
  while (!pool->permits.try_acquire()) std::this_thread::yield();
  assert(pool->used.fetch_add(1) < kSlots);  // heddle: culprit use
  pool->used.fetch_sub(1);                   // heddle: culprit leave
  pool->permits.release();
}

int main() {
  const auto pool = std::make_unique<Pool>();
  std::thread first(use, pool.get());
  std::thread second(use, pool.get());
  use(pool.get());
  first.join();
  second.join();
  return 0;
}
