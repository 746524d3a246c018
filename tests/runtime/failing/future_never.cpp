// SPDX-License-Identifier: Apache-2.0
// EXPECT: lost-wakeup
// The value of a promise is set only if a thread comes late enough.
#include <future>
#include <thread>

std::promise<int> promise;
bool started = false;

int main() {
  std::thread late([] {
    std::this_thread::yield();
    if (started) promise.set_value(1);
  });
  std::this_thread::yield();
  started = true;
  promise.get_future().wait();
  late.join();
}
