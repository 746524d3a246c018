// SPDX-License-Identifier: Apache-2.0
//
// Missed notification, fixed: the flag is set and tested under the mutex that the wait releases.

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

struct Mailbox {
  std::mutex mutex;
  std::condition_variable arrived;
  bool full = false;
  int letter = 0;
};

void receive(Mailbox* box) {
  std::unique_lock<std::mutex> lock(box->mutex);
  while (!box->full) box->arrived.wait(lock);
  std::printf("letter %d\n", box->letter);
}

void post(Mailbox* box, int letter) {
  std::lock_guard<std::mutex> lock(box->mutex);
  box->letter = letter;
  box->full = true;
  box->arrived.notify_one();
}

int main() {
  const auto box = std::make_unique<Mailbox>();
  std::thread receiver(receive, box.get());
  post(box.get(), 7);
  receiver.join();
  return 0;
}
