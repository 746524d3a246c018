// SPDX-License-Identifier: Apache-2.0
//
// Use before initialisation. A service starts its worker thread and only then sets the settings
// that the worker reads. As long as the starter is faster than the new thread, all is well; when it
// is preempted right after the creation, the worker dereferences a null pointer.
// Origin: shape of Mozilla's thread start-up, where the new thread used a field that its creator
// assigned only after the creation call had returned.

#include <cstdio>
#include <memory>
#include <thread>

struct Settings {
  int log_level;
};

class Service {
 public:
  void start(const Settings* settings) {
    worker_ = std::thread(&Service::run, this);
    settings_ = settings;  // heddle: culprit init
  }

  void stop() { worker_.join(); }

 private:
  void run() {
    const int level = settings_->log_level;  // heddle: culprit use
    std::printf("log level %d\n", level);
  }

  const Settings* settings_ = nullptr;
  std::thread worker_;
};

int main() {
  const auto settings = std::make_unique<Settings>(Settings{3});
  const auto service = std::make_unique<Service>();
  service->start(settings.get());
  service->stop();
  return 0;
}
