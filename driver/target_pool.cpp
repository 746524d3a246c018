// SPDX-License-Identifier: Apache-2.0
#include "driver/target_pool.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace heddle::driver {

TargetPool::TargetPool(unsigned workers, Start start) : start_(std::move(start)) {
  for (unsigned i = 0; i < std::max(workers, 1u); ++i) {
    threads_.emplace_back([this, i] { serve(i); });
  }
}

TargetPool::~TargetPool() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TargetPool::run(unsigned workers, const std::function<void(Target&)>& work) {
  std::unique_lock lock(mutex_);
  ++task_;
  work_ = &work;
  wanted_ = busy_ = std::clamp(workers, 1u, size());
  error_ = nullptr;
  changed_.notify_all();
  changed_.wait(lock, [this] { return busy_ == 0; });
  if (error_) std::rethrow_exception(error_);
}

void TargetPool::serve(unsigned worker) {
  std::unique_ptr<Target> target;
  std::uint64_t done = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return over_ || task_ != done; });
    if (over_) return;
    done = task_;
    if (worker >= wanted_) continue;
    const std::function<void(Target&)>& work = *work_;
    lock.unlock();
    std::exception_ptr error;
    try {
      if (!target) {
        target = start_();
        target->stay_on_one_cpu();
      }
      work(*target);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error && !error_) error_ = error;
    if (--busy_ == 0) changed_.notify_all();
  }
}

}  // namespace heddle::driver
