// SPDX-License-Identifier: Apache-2.0
// Exceptions, virtual calls, lambdas, static initialisation, containers, threads.
// HOOKS: __heddle_load8 __heddle_store8 __heddle_atomic_rmw4
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  explicit Square(double side) : side_(side) {}
  double area() const override { return side_ * side_; }
  double side_;
};
struct Bad : Shape {
  double area() const override { throw std::runtime_error("no area"); }
};

struct Counted {
  inline static std::atomic<int> alive = 0;
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
};

std::map<std::string, int> words;
std::mutex mutex;
int total;

std::string first_static() {
  static const std::string text = std::string(40, 'q') + "end";
  return text;
}

double sum(const std::vector<std::unique_ptr<Shape>>& shapes) {
  double area = 0;
  for (const auto& shape : shapes) {
    Counted guard;
    try {
      area += shape->area();
    } catch (const std::logic_error&) {
      area += 1000;
    }
  }
  return area;
}

}  // namespace

int main() {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < 10; ++i) shapes.push_back(std::make_unique<Square>(i));
  std::printf("%g\n", sum(shapes));
  shapes.push_back(std::make_unique<Bad>());
  try {
    std::printf("%g\n", sum(shapes));
  } catch (const std::exception& error) {
    std::printf("caught %s, %d alive\n", error.what(), Counted::alive.load());
  }
  for (const char* word : {"b", "a", "c", "a"}) words[word]++;
  for (const auto& [word, count] : words) std::printf("%s=%d ", word.c_str(), count);
  std::printf("%s\n", first_static().c_str());

  std::vector<std::function<int(int)>> functions;
  for (int i = 0; i < 3; ++i)
    functions.push_back([i, &shapes](int x) { return x * i + int(shapes.size()); });
  for (const auto& function : functions) std::printf("%d ", function(7));
  std::optional<std::vector<int>> maybe;
  maybe.emplace(5, 9);
  std::printf("%zu\n", maybe->size());

  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 100; ++i) {
        const std::lock_guard lock(mutex);
        total += t;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d\n", total);
  return total == 600 ? 0 : 1;
}
