// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/thread_locals.h"

#include <climits>

#include "runtime/base/vector.h"

namespace heddle::runtime {
namespace {

struct Destructor {
  void (*function)(void*);
  void* object;
  abi::ThreadIndex thread;
};

struct Key {
  pthread_key_t key;
  void (*destructor)(void*);
};

constinit Vector<Destructor> destructors;
constinit Vector<Key> keys;

bool run_last_destructor(abi::ThreadIndex thread) {
  for (std::size_t i = destructors.size(); i-- > 0;) {
    if (destructors[i].thread != thread) continue;
    const Destructor last = destructors[i];
    destructors.erase(i);
    last.function(last.object);
    return true;
  }
  return false;
}

}  // namespace

void add_thread_local_destructor(abi::ThreadIndex thread, void (*destructor)(void*), void* object) {
  destructors.push_back({destructor, object, thread});
}

void add_key(pthread_key_t key, void (*destructor)(void*)) {
  keys.push_back({key, destructor});
}

void remove_key(pthread_key_t key) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].key == key) return keys.erase(i);
  }
}

// Destructors may register others and set keys again; POSIX gives keys a few rounds.
void run_thread_local_destructors(abi::ThreadIndex thread) {
  while (run_last_destructor(thread)) {
  }
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    bool any = false;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Key key = keys[i];
      void* const value = key.destructor == nullptr ? nullptr : pthread_getspecific(key.key);
      if (value == nullptr) continue;
      any = true;
      pthread_setspecific(key.key, nullptr);
      key.destructor(value);
    }
    while (run_last_destructor(thread)) {
    }
    if (!any) break;
  }
}

}  // namespace heddle::runtime
