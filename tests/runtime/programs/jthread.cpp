// SPDX-License-Identifier: Apache-2.0
// ALSO: libc++
// jthread, stop_token, stop_callback, condition_variable_any with a stop_token.
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include "../check.h"

int main() {
  int callbacks = 0;
  {
    std::jthread thread([&](std::stop_token token) {
      std::stop_callback callback(token, [&] { ++callbacks; });
      std::mutex mutex;
      std::condition_variable_any condition;
      std::unique_lock lock(mutex);
      CHECK(!condition.wait(lock, token, [] { return false; }));
    });
    std::this_thread::yield();
    thread.request_stop();
  }
  CHECK(callbacks <= 1);

  bool ready = false;
  std::mutex mutex;
  std::condition_variable_any condition;
  std::jthread waiter([&](std::stop_token token) {
    std::unique_lock lock(mutex);
    condition.wait(lock, token, [&] { return ready; });
    CHECK(ready);
  });
  {
    std::lock_guard lock(mutex);
    ready = true;
  }
  condition.notify_all();
  waiter.join();
  puts("done");
}
