// SPDX-License-Identifier: Apache-2.0
//
// Stolen wake-up, fixed: every change wakes all.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

class Place {
 public:
  void put() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (full_) changed_.wait(lock);
    full_ = true;
    changed_.notify_all();
  }

  void take() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!full_) changed_.wait(lock);
    full_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool full_ = false;
};

int main() {
  const auto place = std::make_unique<Place>();
  std::thread producer([&] { place->put(); });
  std::thread other([&] { place->put(); });
  std::thread consumer([&] { place->take(); });
  place->take();
  producer.join();
  other.join();
  consumer.join();
  return 0;
}
