// SPDX-License-Identifier: Apache-2.0
//
// Latch. Main does pieces of work and counts a latch down for each; a collector waits for the
// latch and takes the sum of the results. The latch is made for one piece too few and opens while
// one result is missing.
// Origin: C++20 primitives: a latch that counts one piece of work too few.

#include <atomic>
#include <cassert>
#include <latch>
#include <memory>
#include <thread>

constexpr int kPieces = 2;

struct Work {
  std::latch done{kPieces - 1};  // heddle: culprit count
  std::atomic<int> sum{0};
};

void do_piece(Work& work) {
  work.sum.fetch_add(1);  // heddle: culprit store
  if (!work.done.try_wait()) work.done.count_down();
}

void collect(Work* work) {
  work->done.wait();
  assert(work->sum.load() == kPieces);  // heddle: culprit read
}

int main() {
  const auto work = std::make_unique<Work>();
  std::thread collector(collect, work.get());
  for (int i = 0; i < kPieces; ++i) do_piece(*work);
  collector.join();
  return 0;
}
