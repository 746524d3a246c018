// SPDX-License-Identifier: Apache-2.0
//
// Double-checked initialisation. Who comes first makes the settings under a lock; everybody else
// looks at a flag without it. The flag is stored before the settings are complete, and a reader
// that trusts it uses half of them.
// Origin: Double-checked initialisation: the flag is published before the object it stands for.

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
  if (!settings.ready.load()) {  // heddle: culprit check
    const std::lock_guard<std::mutex> lock(settings.mutex);
    if (!settings.ready.load()) {
      settings.ready.store(true);  // heddle: culprit publish
      settings.level.store(3);     // heddle: culprit init
    }
  }
  return settings.level.load();  // heddle: culprit use
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
