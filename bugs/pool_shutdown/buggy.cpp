// SPDX-License-Identifier: Apache-2.0
//
// Pool shutdown. A pool refuses tasks once it is stopping, and its worker leaves when it is
// stopping and no task is left. But submit() looks at `stopping` before it takes the lock: shut
// down in between, it accepts the task after the worker has left, and nobody ever runs it. Here
// that shows as fewer tasks completed than accepted.
// Origin: shape of the shutdown bugs of thread pools and executors, where an accepted task is lost.

#include <atomic>
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
    if (stopping_) return false;  // heddle: culprit check
    std::lock_guard<std::mutex> lock(mutex_);
    ++tasks_;  // heddle: culprit add
    wakeup_.notify_one();
    return true;
  }

  // Lets the worker finish what was handed in, and waits for it.
  void shutdown() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;  // heddle: culprit stop
    }
    wakeup_.notify_one();
    worker_.join();
  }

  int completed() const { return completed_; }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      while (tasks_ == 0 && !stopping_) wakeup_.wait(lock);  // heddle: culprit leave
      if (tasks_ == 0) return;                               // heddle: culprit leave
      --tasks_;
      lock.unlock();
      ++completed_;  // Here the task would run.
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wakeup_;
  std::atomic<bool> stopping_ = false;
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
