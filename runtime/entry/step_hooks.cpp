// SPDX-License-Identifier: Apache-2.0
//
// Entry points of steps (abi/steps.def). Nobody else can notice a step, so none is a scheduling
// point, and the gate need not be closed: nothing here calls anything that would come back.
#include "runtime/entry/gate.h"
#include "runtime/entry/hooks.h"

namespace heddle::runtime {
namespace {

using abi::StepKind;

void step(StepKind kind, U32 site, U64 value = 0) {
  if (Gate::closed() || !session().running()) return;
  session().recorder().add_step(kind, session().current_index(), site, value);
}

}  // namespace
}  // namespace heddle::runtime

using heddle::abi::StepKind;
using heddle::runtime::step;

void __heddle_loop_iteration(U32 is_first, U32 site) {
  if (is_first != 0) step(StepKind::LoopEnter, site);
  step(StepKind::LoopIteration, site);
}

void __heddle_loop_exit(U32 was_inside, U32 site) {
  if (was_inside != 0) step(StepKind::LoopExit, site);
}

void __heddle_call_enter(Ptr invocation, U32 site) {
  step(StepKind::CallEnter, site, reinterpret_cast<U64>(invocation));
}

void __heddle_landed(Ptr invocation, U32 site) {
  step(StepKind::Landed, site, reinterpret_cast<U64>(invocation));
}

void __heddle_call_exit(U32 site) {
  step(StepKind::CallExit, site);
}

void __heddle_block(U32 site) {
  step(StepKind::Block, site);
}

void __heddle_branch(U64 value, U32 site) {
  step(StepKind::Branch, site, value);
}
