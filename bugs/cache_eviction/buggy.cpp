// SPDX-License-Identifier: Apache-2.0
//
// Cache eviction. Main looks up an entry and reads it after it has released the cache's lock. It
// takes two others to break that: an inserter, whose new entry evicts the old one, and a reclaimer,
// which frees what was evicted. If both run between the lookup and the read, the entry is gone.
// Origin: shape of the item caches of servers such as memcached, where a looked-up item must be
// pinned while it is used.

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

struct Entry {
  int key;
  int values[4];
};

// A cache of one entry. What an insertion evicts waits in `evicted` for the reclaimer.
struct Cache {
  std::mutex mutex;
  std::condition_variable eviction;
  Entry* entry = new Entry{1, {10, 11, 12, 13}};
  Entry* evicted = nullptr;
};

Entry* lookup(Cache* cache, int key) {
  std::lock_guard<std::mutex> lock(cache->mutex);
  Entry* entry = cache->entry;  // heddle: culprit lookup
  return entry->key == key ? entry : nullptr;
}

void insert(Cache* cache, int key) {
  std::lock_guard<std::mutex> lock(cache->mutex);
  cache->evicted = cache->entry;
  cache->entry = new Entry{key, {}};  // heddle: culprit evict
  cache->eviction.notify_one();
}

// Frees the first evicted entry; there is only one in this program.
void reclaim(Cache* cache) {
  std::unique_lock<std::mutex> lock(cache->mutex);
  while (cache->evicted == nullptr) cache->eviction.wait(lock);
  Entry* victim = cache->evicted;
  lock.unlock();
  delete victim;  // heddle: culprit free
}

int main() {
  const auto cache = std::make_unique<Cache>();
  std::thread reclaimer(reclaim, cache.get());
  std::thread inserter(insert, cache.get(), 2);

  const Entry* entry = lookup(cache.get(), 1);
  if (entry != nullptr) {
    for (int i = 0; i < 4; ++i) {
      std::printf("%d ", entry->values[i]);  // heddle: culprit use
    }
  }
  std::printf("%s\n", entry != nullptr ? "hit" : "miss");

  inserter.join();
  reclaimer.join();
  delete cache->entry;
  return 0;
}
