// SPDX-License-Identifier: Apache-2.0
//
// Several targets of one program, each owned by a thread of its own: the kernel ends a target
// together with the thread that started it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "driver/target.h"

namespace heddle::driver {

class TargetPool {
 public:
  using Start = std::function<std::unique_ptr<Target>()>;
  /// `start` is called by each worker when it is first needed.
  TargetPool(unsigned workers, Start start);
  ~TargetPool();
  TargetPool(const TargetPool&) = delete;
  TargetPool& operator=(const TargetPool&) = delete;

  unsigned size() const { return static_cast<unsigned>(threads_.size()); }

  /// Has `work` done by up to `workers` of them at once, each with its own target; returns when all
  /// are through. What one of them throws is thrown here.
  void run(unsigned workers, const std::function<void(Target&)>& work);

 private:
  void serve(unsigned worker);

  const Start start_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t task_ = 0;  // how many were given
  unsigned wanted_ = 0;     // workers of the task
  unsigned busy_ = 0;
  bool over_ = false;
  const std::function<void(Target&)>* work_ = nullptr;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace heddle::driver
