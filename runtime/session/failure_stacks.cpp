// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/failure_stacks.h"

#include "runtime/session/session.h"

/// Saves the caller's registers as heddle_fiber_switch does while `function` runs.
extern "C" void heddle_call_saved(void** save_sp, void (*function)(void*), void* argument);

namespace heddle::runtime {
namespace {

using abi::StackRecord;

/// As heddle_fiber_switch pushes them (runtime/carrier/fiber_switch.S).
struct SavedRegisters {
  std::uint64_t control_words;
  std::uint64_t r15, r14, r13, r12, rbx, rbp;
  std::uint64_t return_address;
};

StackRecord record_of(const SavedRegisters& saved) {
  StackRecord record{};
  record.registers[StackRecord::Rip] = saved.return_address;
  record.registers[StackRecord::Rsp] = reinterpret_cast<std::uint64_t>(&saved + 1);
  record.registers[StackRecord::Rbp] = saved.rbp;
  record.registers[StackRecord::Rbx] = saved.rbx;
  record.registers[StackRecord::R12] = saved.r12;
  record.registers[StackRecord::R13] = saved.r13;
  record.registers[StackRecord::R14] = saved.r14;
  record.registers[StackRecord::R15] = saved.r15;
  return record;
}

StackRecord record_of(const ucontext_t& interrupted) {
  const auto& machine = interrupted.uc_mcontext.gregs;
  StackRecord record{};
  const auto set = [&](StackRecord::Register to, int from) {
    record.registers[to] = static_cast<std::uint64_t>(machine[from]);
  };
  set(StackRecord::Rip, REG_RIP);
  set(StackRecord::Rsp, REG_RSP);
  set(StackRecord::Rbp, REG_RBP);
  set(StackRecord::Rbx, REG_RBX);
  set(StackRecord::R12, REG_R12);
  set(StackRecord::R13, REG_R13);
  set(StackRecord::R14, REG_R14);
  set(StackRecord::R15, REG_R15);
  return record;
}

void record_all(Session& run, const StackRecord& current) {
  Recorder& recorder = run.recorder();
  if (recorder.channel().stacks.capacity == 0) return;  // no driver to read them
  for (std::uint32_t i = 0; i < run.thread_count(); ++i) {
    const auto index = static_cast<abi::ThreadIndex>(i);
    const Thread& thread = run.thread(index);
    if (thread.finished || thread.absent || thread.is_flusher()) continue;
    StackRecord record = current;
    if (index != run.current_index()) {
      if (!run.one_at_a_time()) continue;  // it runs on: where it is cannot be known from here
      const std::uint64_t* const saved = run.carrier().suspended_at(index);
      if (saved == nullptr) continue;
      record = record_of(*reinterpret_cast<const SavedRegisters*>(saved));
    }
    record.thread = index;
    recorder.add_stack(record);
  }
  recorder.add_loaded_files();
}

struct Caller {
  Session& run;
  void* stack_pointer;
};

}  // namespace

void record_stacks(Session& run) {
  Caller caller{run, nullptr};
  heddle_call_saved(
      &caller.stack_pointer,
      [](void* argument) {
        const Caller& from = *static_cast<const Caller*>(argument);
        record_all(from.run, record_of(*static_cast<const SavedRegisters*>(from.stack_pointer)));
      },
      &caller);
}

void record_stacks(Session& run, const ucontext_t& interrupted) {
  record_all(run, record_of(interrupted));
}

}  // namespace heddle::runtime
