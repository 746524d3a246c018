// SPDX-License-Identifier: Apache-2.0
//
// Use before initialisation, fixed: the settings are set before the worker that reads them is
// created; the creation orders the two.

#include <cstdio>
#include <memory>
#include <thread>

struct Settings {
  int log_level;
};

class Service {
 public:
  void start(const Settings* settings) {
    settings_ = settings;
    worker_ = std::thread(&Service::run, this);
  }

  void stop() { worker_.join(); }

 private:
  void run() {
    const int level = settings_->log_level;
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
