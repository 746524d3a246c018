// SPDX-License-Identifier: Apache-2.0
// ALSO: libc++
// std::atomic::wait and notify, of a size the kernel knows and of others.
#include <atomic>
#include <thread>
#include <vector>

#include "../check.h"

template <typename T>
void ping_pong() {
  std::atomic<T> turn{0};
  std::thread other([&] {
    for (int i = 0; i < 5; ++i) {
      turn.wait(0);
      CHECK(turn.load() == 1);
      turn.store(0);
      turn.notify_one();
    }
  });
  for (int i = 0; i < 5; ++i) {
    turn.store(1);
    turn.notify_one();
    turn.wait(1);
  }
  other.join();
}

int main() {
  ping_pong<int>();
  ping_pong<char>();
  ping_pong<long>();

  std::atomic<int> gate{0};
  std::atomic<int> passed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      gate.wait(0);
      ++passed;
    });
  }
  gate = 1;
  gate.notify_all();
  for (std::thread& thread : threads) thread.join();
  CHECK(passed == 4);
  puts("done");
}
