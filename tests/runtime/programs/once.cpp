// SPDX-License-Identifier: Apache-2.0
// ALSO: libc++
// std::call_once and pthread_once, contended, nested, left by an exception and by pthread_exit.
#include <pthread.h>

#include <mutex>
#include <thread>
#include <vector>

#include "../check.h"

int inner_calls = 0;
int outer_calls = 0;
pthread_once_t inner = PTHREAD_ONCE_INIT;
pthread_once_t outer = PTHREAD_ONCE_INIT;
pthread_once_t left = PTHREAD_ONCE_INIT;
int left_calls = 0;

void run_inner() {
  std::this_thread::yield();
  ++inner_calls;
}

void run_outer() {
  pthread_once(&inner, run_inner);
  CHECK(inner_calls == 1);
  std::this_thread::yield();
  ++outer_calls;
}

void leave() {
  if (++left_calls < 3) pthread_exit(nullptr);
}

void* try_left(void*) {
  pthread_once(&left, leave);
  return &left;
}

template <typename Function>
void in_threads(int count, Function function) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(function);
  for (std::thread& thread : threads) thread.join();
}

int main() {
  in_threads(4, [] {
    pthread_once(&outer, run_outer);
    CHECK(outer_calls == 1 && inner_calls == 1);
  });

  std::once_flag flag;
  int calls = 0;
  int thrown = 0;
  in_threads(5, [&] {
    try {
      std::call_once(flag, [&] {
        std::this_thread::yield();
        if (++calls < 3) throw 1;
      });
      CHECK(calls == 3);
    } catch (int) {
      ++thrown;
    }
  });
  CHECK(calls == 3 && thrown == 2);

  pthread_t threads[4];
  int finished = 0;
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, try_left, nullptr);
  for (pthread_t& thread : threads) {
    void* result = nullptr;
    pthread_join(thread, &result);
    finished += result == &left;
  }
  CHECK(left_calls == 3 && finished == 2);
  puts("done");
}
