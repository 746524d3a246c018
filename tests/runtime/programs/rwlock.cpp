// SPDX-License-Identifier: Apache-2.0
// ALSO: libc++
// pthread_rwlock_t in all its forms, std::shared_mutex, std::shared_timed_mutex.
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "../check.h"

int main() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  int readers = 0, writers = 0, most_readers = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 4; ++round) {
        CHECK(pthread_rwlock_rdlock(&lock) == 0);
        CHECK(writers == 0);
        if (++readers > most_readers) most_readers = readers;
        std::this_thread::yield();
        CHECK(writers == 0);
        --readers;
        CHECK(pthread_rwlock_unlock(&lock) == 0);
      }
    });
  }
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 4; ++round) {
        CHECK(pthread_rwlock_wrlock(&lock) == 0);
        CHECK(readers == 0 && writers == 0);
        ++writers;
        std::this_thread::yield();
        CHECK(readers == 0 && writers == 1);
        --writers;
        CHECK(pthread_rwlock_unlock(&lock) == 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most_readers >= 1);

  CHECK(pthread_rwlock_wrlock(&lock) == 0);
  CHECK(pthread_rwlock_wrlock(&lock) == EDEADLK);
  CHECK(pthread_rwlock_rdlock(&lock) == EDEADLK);
  CHECK(pthread_rwlock_tryrdlock(&lock) == EBUSY);
  timespec deadline{};
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 50;
  std::thread([&] {
    CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
    CHECK(pthread_rwlock_timedrdlock(&lock, &deadline) == ETIMEDOUT);
    CHECK(pthread_rwlock_timedwrlock(&lock, &deadline) == ETIMEDOUT);
    CHECK(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &deadline) == ETIMEDOUT);
  }).join();
  CHECK(pthread_rwlock_unlock(&lock) == 0);
  CHECK(pthread_rwlock_rdlock(&lock) == 0 && pthread_rwlock_rdlock(&lock) == 0);
  CHECK(pthread_rwlock_trywrlock(&lock) == EBUSY);
  CHECK(pthread_rwlock_unlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
  CHECK(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &deadline) == 0);
  CHECK(pthread_rwlock_unlock(&lock) == 0 && pthread_rwlock_destroy(&lock) == 0);

  // Writers first: no reader gets in while one waits.
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_t fair;
  pthread_rwlock_init(&fair, &attributes);
  int value = 0;
  threads.clear();
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 3; ++round) {
        if (i == 0) {
          pthread_rwlock_wrlock(&fair);
          ++value;
        } else {
          pthread_rwlock_rdlock(&fair);
          CHECK(value >= 0);
        }
        pthread_rwlock_unlock(&fair);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(value == 3);

  std::shared_timed_mutex shared;
  int total = 0;
  threads.clear();
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        {
          std::shared_lock read(shared);
          std::this_thread::yield();
        }
        std::unique_lock write(shared, std::chrono::seconds(1));
        if (!write.owns_lock()) write.lock();
        const int before = total;
        std::this_thread::yield();
        total = before + 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(total == 9);
  puts("done");
}
