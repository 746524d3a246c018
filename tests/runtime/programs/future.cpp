// SPDX-License-Identifier: Apache-2.0
// ALSO: libc++
// std::async, promise, packaged_task, shared_future; waiting with a time limit.
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../check.h"

int main() {
  std::vector<std::future<int>> results;
  for (int i = 0; i < 4; ++i) {
    results.push_back(std::async(std::launch::async, [i] {
      std::this_thread::yield();
      return i * i;
    }));
  }
  int sum = 0;
  for (std::future<int>& result : results) sum += result.get();
  CHECK(sum == 14);

  std::promise<int> promise;
  std::shared_future<int> shared = promise.get_future().share();
  CHECK(shared.wait_for(std::chrono::seconds(10)) == std::future_status::timeout);
  std::thread first([shared] { CHECK(shared.get() == 7); });
  std::thread second([shared] { CHECK(shared.get() == 7); });
  promise.set_value(7);
  first.join();
  second.join();

  std::packaged_task<int()> task([]() -> int { throw std::runtime_error("no"); });
  std::future<int> failure = task.get_future();
  std::thread runner(std::move(task));
  bool caught = false;
  try {
    failure.get();
  } catch (const std::runtime_error&) {
    caught = true;
  }
  runner.join();
  CHECK(caught);

  std::promise<int> abandoned;
  std::future<int> broken = abandoned.get_future();
  {
    std::promise<int> gone(std::move(abandoned));
  }
  try {
    broken.get();
    CHECK(false);
  } catch (const std::future_error& error) {
    CHECK(error.code() == std::future_errc::broken_promise);
  }
  printf("%d\n", sum);
}
