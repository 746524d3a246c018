// SPDX-License-Identifier: Apache-2.0
//
// The hit is certain, and the sides go on in their order: side 0 has done its next access before
// side 1 does anything, whoever came first. Three sides, too, and a chosen schedule.
#include <heddle/breakpoint.h>

#include <cassert>
#include <string>
#include <thread>

namespace {

int value = 0;
int seen = -1;
std::string log;

void two_sides() {
  std::thread writer([] {
    const bool hit = heddle::conflict("write, read", &value).pause(std::chrono::seconds(1)).first();
    value = 1;
    assert(hit);
  });
  std::thread reader([] {
    const bool hit =
        heddle::conflict("write, read", &value).pause(std::chrono::seconds(1)).second();
    seen = value;
    assert(hit);
  });
  writer.join();
  reader.join();
  assert(seen == 1);
  assert(heddle::breakpoint_stats("write, read").paused.count() == 0);
}

void three_sides() {
  log.clear();
  const auto side = [](unsigned number) {
    const bool hit =
        heddle::conflict<3>("three", &value).side(number, [&] { log += char('0' + number); });
    assert(hit);
  };
  std::thread last(side, 2u);
  std::thread first(side, 0u);
  std::thread middle(side, 1u);
  last.join();
  first.join();
  middle.join();
  assert(log == "012");
}

void chosen_schedule() {
  heddle::Schedule schedule("a, b, c", {"a", "b", "c"});
  log.clear();
  const auto step = [&](const char* point) { schedule.step(point, [&] { log += point; }); };
  std::thread other([&] { step("b"); });
  step("a");
  step("c");
  other.join();
  assert(log == "abc" && schedule.followed());
}

}  // namespace

int main() {
  two_sides();
  three_sides();
  chosen_schedule();
}
