// SPDX-License-Identifier: Apache-2.0
//
// Double-checked initialisation, fixed: the flag is stored last.

#include <atomic>
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

struct Settings {
  std::mutex mutex;
  std::atomic<bool> ready{false};
  std::atomic<int> level{0};
};

int level_of(Settings& settings) {
  if (!settings.ready.load()) {
    const std::lock_guard<std::mutex> lock(settings.mutex);
    if (!settings.ready.load()) {
      settings.level.store(3);
      settings.ready.store(true);
    }
  }
  return settings.level.load();
}

void use(Settings* settings) {
  assert(level_of(*settings) == 3);
}

int main() {
  const auto settings = std::make_unique<Settings>();
  std::thread other(use, settings.get());
  use(settings.get());
  other.join();
  return 0;
}
