// SPDX-License-Identifier: Apache-2.0
//
// What one trial of a systematic search teaches. Every decision that it met behind its prefix was
// the default, and each alternative to one of them begins a prefix of its own.
//
// Three things leave out schedules that differ from a tried one of no higher cost only in the order
// of independent operations (docs/decisions/0006-pruning-within-a-bound.md says why each is safe):
//   states    a state (happens_before.h) reached again, with the same choice, no fewer preemptions
//             and no fewer threads asleep, is not gone on from;
//   sleep     behind a preemption of t before its operation a, schedules are redundant in which t
//             does a before anything depending on it has happened (sleep sets, Godefroid 1996,
//             restricted to the preempted thread: waking up any other could cost a preemption);
//   deferral  nobody is preempted before an operation on something no other thread uses; should one
//             be seen to, the preemption is made up for (frontier.h).
#pragma once

#include "driver/search/trial_source.h"
#include "driver/search/visited_states.h"

namespace heddle::driver {

struct BoundedSearch {
  Cost cost;
  std::uint32_t bound;
  bool prune = true;
  bool incomplete = false;  // something was met that cannot be searched systematically
  Frontier frontier{};
  VisitedStates visited{};
};

/// False for a prefix that would repeat what another has begun or done: asked when its turn comes,
/// not when it is found, since most never have one.
bool worth_trying(const Prefix& prefix, BoundedSearch& search);

/// `planned`: how many decisions the trial was told.
void learn_from(const Channel& channel, const Prefix& prefix, std::size_t planned,
                BoundedSearch& search);

}  // namespace heddle::driver
