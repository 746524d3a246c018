// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/text.h"
#include "runtime/schedule/follow_strategy.h"
#include "runtime/schedule/prefix_strategy.h"
#include "runtime/schedule/random_strategy.h"
#include "runtime/schedule/replay_strategy.h"

namespace heddle::runtime {

Strategy* find_strategy(const char* name) {
  static constinit RandomStrategy random;
  static constinit PrefixStrategy prefix;
  static constinit ReplayStrategy replay;
  static constinit FollowStrategy follow;
  struct Row {
    const char* name;
    Strategy* strategy;
  };
  // "sequential" is the prefix strategy given no prefix.
  const Row rows[] = {{"random", &random},
                      {"prefix", &prefix},
                      {"sequential", &prefix},
                      {"replay", &replay},
                      {"follow", &follow}};
  for (const Row& row : rows) {
    if (same_text(row.name, name)) return row.strategy;
  }
  return nullptr;
}

}  // namespace heddle::runtime
