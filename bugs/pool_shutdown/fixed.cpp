// SPDX-License-Identifier: Apache-2.0
//
// Pool shutdown, fixed: submit() looks at `stopping` under the lock that protects the tasks, so a
// task is either refused or there before the worker decides to leave.

#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

class Pool {
 public:
  Pool() : worker_(&Pool::work, this) {}

  // Hands in a task; false when the pool is stopping.
  bool submit() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return false;
    ++tasks_;
    wakeup_.notify_one();
    return true;
  }

  // Lets the worker finish what was handed in, and waits for it.
  void shutdown() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wakeup_.notify_one();
    worker_.join();
  }

  int completed() const { return completed_; }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      while (tasks_ == 0 && !stopping_) wakeup_.wait(lock);
      if (tasks_ == 0) return;
      --tasks_;
      lock.unlock();
      ++completed_;  // Here the task would run.
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wakeup_;
  bool stopping_ = false;
  int tasks_ = 0;       // handed in, not yet begun
  int completed_ = 0;   // of the worker alone until it is joined
  std::thread worker_;  // last: it uses all of the above
};

int accepted;

void client(Pool* pool) {
  if (pool->submit()) ++accepted;
}

int main() {
  const auto pool = std::make_unique<Pool>();
  std::thread submitter(client, pool.get());
  pool->shutdown();
  submitter.join();
  assert(pool->completed() == accepted);
  return 0;
}
