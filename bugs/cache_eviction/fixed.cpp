// SPDX-License-Identifier: Apache-2.0
//
// Cache eviction, fixed: a lookup copies the entry out while it holds the cache's lock; no pointer
// to an entry leaves the critical section.

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
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

std::optional<Entry> lookup(Cache* cache, int key) {
  std::lock_guard<std::mutex> lock(cache->mutex);
  const Entry* entry = cache->entry;
  if (entry->key != key) return std::nullopt;
  return *entry;
}

void insert(Cache* cache, int key) {
  std::lock_guard<std::mutex> lock(cache->mutex);
  cache->evicted = cache->entry;
  cache->entry = new Entry{key, {}};
  cache->eviction.notify_one();
}

// Frees the first evicted entry; there is only one in this program.
void reclaim(Cache* cache) {
  std::unique_lock<std::mutex> lock(cache->mutex);
  while (cache->evicted == nullptr) cache->eviction.wait(lock);
  Entry* victim = cache->evicted;
  lock.unlock();
  delete victim;
}

int main() {
  const auto cache = std::make_unique<Cache>();
  std::thread reclaimer(reclaim, cache.get());
  std::thread inserter(insert, cache.get(), 2);

  const std::optional<Entry> entry = lookup(cache.get(), 1);
  if (entry.has_value()) {
    for (int i = 0; i < 4; ++i) {
      std::printf("%d ", entry->values[i]);
    }
  }
  std::printf("%s\n", entry.has_value() ? "hit" : "miss");

  inserter.join();
  reclaimer.join();
  delete cache->entry;
  return 0;
}
