// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/text.h"
#include "runtime/schedule/delays_strategy.h"
#include "runtime/schedule/follow_strategy.h"
#include "runtime/schedule/guided_strategy.h"
#include "runtime/schedule/order_strategy.h"
#include "runtime/schedule/pct_strategy.h"
#include "runtime/schedule/pos_strategy.h"
#include "runtime/schedule/prefix_strategy.h"
#include "runtime/schedule/random_strategy.h"
#include "runtime/schedule/replay_strategy.h"
#include "runtime/schedule/resume_strategy.h"
#include "runtime/schedule/surw_strategy.h"
#include "runtime/schedule/urw_strategy.h"

namespace heddle::runtime {

Strategy* find_strategy(const char* name) {
  static constinit RandomStrategy random;
  static constinit PrefixStrategy prefix;
  static constinit ReplayStrategy replay;
  static constinit FollowStrategy follow;
  static constinit OrderStrategy order;
  static constinit PctStrategy pct;
  static constinit PosStrategy pos;
  static constinit UrwStrategy urw;
  static constinit SurwStrategy surw;
  static constinit GuidedStrategy guided;
  static constinit ResumeStrategy resume;
  static constinit DelaysStrategy delays;
  struct Row {
    const char* name;
    Strategy* strategy;
  };
  // "sequential" is the prefix strategy given no prefix.
  const Row rows[] = {{"random", &random},     {"pct", &pct},       {"pos", &pos},
                      {"urw", &urw},           {"surw", &surw},     {"guided", &guided},
                      {"sequential", &prefix}, {"prefix", &prefix}, {"replay", &replay},
                      {"follow", &follow},     {"resume", &resume}, {"order", &order},
                      {"delays", &delays}};
  for (const Row& row : rows) {
    if (same_text(row.name, name)) return row.strategy;
  }
  return nullptr;
}

}  // namespace heddle::runtime
