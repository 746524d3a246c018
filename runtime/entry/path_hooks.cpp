// SPDX-License-Identifier: Apache-2.0
//
// Entry points of the way through the program's instructions (runtime/record/path_recorder.h). Like
// steps, none is a scheduling point.
#include "runtime/entry/gate.h"
#include "runtime/entry/hooks.h"
#include "runtime/record/path_recorder.h"

namespace heddle::runtime {
namespace {

using abi::PathItem;

/// Calls `write` with where the thread is, if there is anything to write down.
template <typename Write>
void tell(Write write) {
  if (Gate::closed() || !session().one_at_a_time()) return;
  const Gate gate;
  Session& run = session();
  run.complete_write();  // an event that is about to be counted comes before
  write(PathRecorder::Place{run.recorder().channel(), run.current_index()});
}

void tell(PathItem item, U32 instruction) {
  tell([&](const PathRecorder::Place& place) { path_recorder().at(place, item, instruction); });
}

void tell_frame(PathItem item, Ptr frame) {
  tell([&](const PathRecorder::Place& place) {
    path_recorder().frame(place, item, reinterpret_cast<U64>(frame));
  });
}

}  // namespace
}  // namespace heddle::runtime

using namespace heddle::runtime;
using heddle::abi::PathItem;

void __heddle_path_block(U32 instruction) {
  tell(PathItem::Block, instruction);
}

void __heddle_path_call(U32 instruction) {
  tell(PathItem::Call, instruction);
}

void __heddle_path_access(Ptr address, U32 instruction) {
  tell([&](const PathRecorder::Place& place) {
    path_recorder().access(place, instruction, reinterpret_cast<U64>(address));
  });
}

void __heddle_path_range(Ptr address, U64 bytes, U32 instruction) {
  tell([&](const PathRecorder::Place& place) {
    path_recorder().range(place, instruction, reinterpret_cast<U64>(address), bytes);
  });
}

void __heddle_path_enter(Ptr frame, U32) {
  tell_frame(PathItem::Enter, frame);
}

void __heddle_path_landed(Ptr frame, U32) {
  tell_frame(PathItem::Landed, frame);
}

void __heddle_path_exit(U32) {
  tell([](const PathRecorder::Place& place) { path_recorder().exit(place); });
}
