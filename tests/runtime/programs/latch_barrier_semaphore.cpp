// SPDX-License-Identifier: Apache-2.0
// ALSO: libc++
#include <barrier>
#include <chrono>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

#include "../check.h"

int main() {
  int phases = 0;
  auto completed = [&]() noexcept { ++phases; };
  std::barrier<decltype(completed)> barrier(3, completed);
  std::latch latch(3);
  std::counting_semaphore<10> tokens(0);
  std::binary_semaphore exclusive(1);
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int phase = 1; phase <= 4; ++phase) {
        barrier.arrive_and_wait();
        CHECK(phases >= phase);
      }
      latch.arrive_and_wait();
      exclusive.acquire();
      const int before = count;
      std::this_thread::yield();
      count = before + 1;
      exclusive.release();
      tokens.release();
    });
  }
  for (int i = 0; i < 3; ++i) tokens.acquire();
  CHECK(!tokens.try_acquire());
  CHECK(!tokens.try_acquire_for(std::chrono::seconds(5)));
  for (std::thread& thread : threads) thread.join();
  CHECK(phases == 4 && count == 3);
  puts("done");
}
