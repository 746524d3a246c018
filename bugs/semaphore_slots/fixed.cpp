// SPDX-License-Identifier: Apache-2.0
//
// Semaphore, fixed: as many permits as slots.

#include <atomic>
#include <cassert>
#include <memory>
#include <semaphore>
#include <thread>

constexpr int kSlots = 2;

struct Pool {
  std::counting_semaphore<8> permits{kSlots};
  std::atomic<int> used{0};
};

void use(Pool* pool) {
  // Not acquire(): that of libstdc++ 12 can sleep for ever, which is another finding.
  while (!pool->permits.try_acquire()) std::this_thread::yield();
  assert(pool->used.fetch_add(1) < kSlots);
  pool->used.fetch_sub(1);
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
