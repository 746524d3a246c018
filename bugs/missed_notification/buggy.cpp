// SPDX-License-Identifier: Apache-2.0
//
// Missed notification. A receiver looks whether its mailbox is full without holding the lock and,
// if not, waits for the notification. A letter posted between the look and the wait notifies
// nobody; the receiver then waits for a notification that never comes, and main waits for it.
// Origin: shape of the many lost wake-ups in which a condition is tested outside the lock that its
// condition variable is used with (Apache, MySQL and log4j each had one).

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

struct Mailbox {
  std::mutex mutex;
  std::condition_variable arrived;
  std::atomic<bool> full = false;
  int letter = 0;
};

void receive(Mailbox* box) {
  while (!box->full) {  // heddle: culprit check
    std::unique_lock<std::mutex> lock(box->mutex);
    box->arrived.wait(lock);  // heddle: culprit wait
  }
  std::printf("letter %d\n", box->letter);
}

void post(Mailbox* box, int letter) {
  box->letter = letter;
  box->full = true;           // heddle: culprit set
  box->arrived.notify_one();  // heddle: culprit notify
}

int main() {
  const auto box = std::make_unique<Mailbox>();
  std::thread receiver(receive, box.get());
  post(box.get(), 7);
  receiver.join();
  return 0;
}
