// SPDX-License-Identifier: Apache-2.0
//
// Latch, fixed: it counts all pieces.

#include <atomic>
#include <cassert>
#include <latch>
#include <memory>
#include <thread>

constexpr int kPieces = 2;

struct Work {
  std::latch done{kPieces};
  std::atomic<int> sum{0};
};

void do_piece(Work& work) {
  work.sum.fetch_add(1);
  if (!work.done.try_wait()) work.done.count_down();
}

void collect(Work* work) {
  work->done.wait();
  assert(work->sum.load() == kPieces);
}

int main() {
  const auto work = std::make_unique<Work>();
  std::thread collector(collect, work.get());
  for (int i = 0; i < kPieces; ++i) do_piece(*work);
  collector.join();
  return 0;
}
