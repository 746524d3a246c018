// SPDX-License-Identifier: Apache-2.0
//
// Stolen wake-up. Producers and consumers of a one-place buffer wait on the same condition
// variable and wake one thread with each change. A producer's signal can reach the other
// producer, which cannot use it; the consumer it was meant for sleeps on.
// Origin: Condition-variable misuse: producers and consumers wait on one condition variable that
// is signalled, not broadcast.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

class Place {
 public:
  void put() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (full_) changed_.wait(lock);  // heddle: culprit wait
    full_ = true;
    changed_.notify_one();  // heddle: culprit signal
  }

  void take() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!full_) changed_.wait(lock);  // heddle: culprit wait
    full_ = false;
    changed_.notify_one();  // heddle: culprit signal
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
