// SPDX-License-Identifier: Apache-2.0
// ALSO: libc++
// thread_local objects, exceptions in several threads at once, longjmp, stack depth, dlopen, errno.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../check.h"

std::mutex mutex;
int constructed = 0, destroyed = 0, caught = 0, unwound = 0;

struct Local {
  std::string text = "long enough to be on the heap, surely";
  int own = ++constructed;
  ~Local() {
    std::lock_guard lock(mutex);  // an event inside the destructor
    ++destroyed;
    CHECK(text.size() > 10);
  }
};

thread_local Local local;
thread_local int plain = 7;

struct Unwound {
  ~Unwound() { ++unwound; }
};

int deep(int n) {
  volatile char frame[200];
  frame[0] = static_cast<char>(n);
  return n == 0 ? frame[0] : deep(n - 1) + 1 + frame[0] * 0;
}

void throws(int id) {
  Unwound unwinding;
  std::this_thread::yield();
  throw std::runtime_error("thread " + std::to_string(id));
}

void work(int id) {
  CHECK(plain == 7);
  plain = id;
  local.text += std::to_string(id);
  errno = id;
  for (int round = 0; round < 3; ++round) {
    try {
      try {
        throws(id);
      } catch (const std::runtime_error&) {
        std::this_thread::yield();  // another thread throws while this one handles
        throw;
      }
    } catch (const std::exception& error) {
      std::this_thread::yield();
      CHECK(error.what() == "thread " + std::to_string(id));
      ++caught;
    }
  }
  CHECK(errno == id && plain == id && deep(10000) == 10000);

  jmp_buf there;
  volatile int jumps = 0;
  const int n = setjmp(there);
  std::this_thread::yield();
  if (n < 3) {
    jumps = jumps + 1;
    longjmp(there, n + 1);
  }
  CHECK(jumps == 3);

  void* library = dlopen("libm.so.6", RTLD_NOW);
  CHECK(library != nullptr);
  const auto cosine = reinterpret_cast<double (*)(double)>(dlsym(library, "cos"));
  CHECK(cosine != nullptr && cosine(0) == 1);
  dlclose(library);
  CHECK(strcmp(strerror(ENOENT), "No such file or directory") == 0);
}

int main() {
  std::vector<std::thread> threads;
  for (int id = 1; id <= 4; ++id) threads.emplace_back(work, id);
  for (std::thread& thread : threads) thread.join();
  CHECK(constructed == 4 && destroyed == 4 && caught == 12 && unwound == 12);

#ifndef _LIBCPP_VERSION  // LLVM's unwinder and libc's, which pthread_exit uses, do not work
                         // together
  pthread_t thread;
  void* result = nullptr;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        Unwound unwinding;
        local.own = 1;
        pthread_exit(&mutex);
      },
      nullptr);
  pthread_join(thread, &result);
  CHECK(result == &mutex && unwound == 13 && destroyed == 5);
#endif
  printf("%d\n", caught);
}
