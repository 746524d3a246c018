// SPDX-License-Identifier: Apache-2.0
// ALSO: libc++
// Function-local statics whose initialisation is contended, also one that throws at first.
#include <thread>
#include <vector>

#include "../check.h"

int constructed = 0;
int attempts = 0;

struct Slow {
  int value;
  Slow() {
    ++constructed;
    for (int i = 0; i < 5; ++i) std::this_thread::yield();
    value = 42;
  }
};

struct Reluctant {
  Reluctant() {
    std::this_thread::yield();
    if (++attempts < 3) throw 1;
  }
};

Slow& slow() {
  static Slow instance;
  return instance;
}

bool reluctant() {
  try {
    static Reluctant instance;
    return true;
  } catch (int) {
    return false;
  }
}

int main() {
  std::vector<std::thread> threads;
  int successes[6] = {};
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      CHECK(slow().value == 42);
      successes[i] = reluctant();
    });
  }
  for (std::thread& thread : threads) thread.join();
  int sum = 0;
  for (int success : successes) sum += success;
  CHECK(constructed == 1 && attempts == 3 && sum == 4);
  puts("done");
}
