// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/instruction_slice.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "abi/names.h"
#include "analysis/slice/byte_set.h"

namespace heddle::analysis {
namespace {

using abi::Access;
using abi::CodeKind;
using trace::EventKind;
using Kind = PathEntry::Kind;

/// Goes backwards through the path: whatever an instance depends on lies before it. What is needed
/// of an activation is met by the last instance before, which is the next one on the way.
class InstructionSlicer {
 public:
  InstructionSlicer(const trace::Trace& trace, const Path& path, const ir::ProgramCode& program,
                    const Code& code)
      : trace_(trace),
        path_(path),
        program_(program),
        code_(code),
        owner_(owners(trace)),
        threads_(trace.threads.size()),
        dependences_(dependences_of_events(trace)),
        next_dependence_(dependences_.size()) {
    result_.slice.contains.assign(trace.events.size(), false);
  }

  /// The thread is what it is because of what it was doing at the end.
  void need_end(trace::ThreadId index) {
    threads_[index].is_reached = true;
    const PathEnd& end = path_.ends[index];
    if (end.activation == kNowhere) return;
    if (end.call != 0) states_[end.activation].needed.insert(end.call);
    for (std::uint32_t i = end.end; i > end.first; --i) mark(end.activation, i - 1);
  }
  void need_all(trace::ThreadId index) {
    threads_[index].is_reached = threads_[index].is_whole = true;
  }
  /// What the thread's first functions returned.
  void need_results(trace::ThreadId index) { threads_[index].needs_result = true; }

  InstructionSlice up_to(std::size_t at) {
    result_.slice.at = at;
    result_.slice.contains[at] = true;
    for (auto entry = path_.entries.rbegin(); entry != path_.entries.rend(); ++entry) {
      go_back_over(*entry);
    }
    return finish();
  }

 private:
  /// What is needed of an activation, of what it did before.
  struct State {
    std::unordered_set<std::uint32_t> needed;     // instructions
    std::unordered_set<std::uint32_t> arguments;  // of the function
    std::vector<std::uint32_t> undecided;         // blocks whose decisive branch is still to come
    bool is_touched = false;                      // something of it is in the slice
    bool needs_all_arguments = false;
    // Of the call that is being left behind:
    bool needs_call = false;    // that it was made
    bool knows_callee = false;  // what it was given counts as far as the callee uses it
  };
  struct Thread {
    bool is_reached = false;
    bool is_whole = false;
    bool needs_result = false;
    bool reads_any = false;                    // code outside may have read whatever was written
    bool keeps = false;                        // and what code outside kept
    ByteSet memory;                            // that no other thread sees
    std::unordered_set<std::uint32_t> always;  // instructions of which every instance counts
    std::unordered_set<std::uint32_t> instructions;
  };

  Thread& thread_of(std::uint32_t activation) {
    return threads_[path_.activations[activation].thread];
  }
  State* find_state(std::uint32_t activation) {
    const auto found = states_.find(activation);
    return found == states_.end() ? nullptr : &found->second;
  }
  bool is_needed(std::uint32_t activation, std::uint32_t instruction) {
    const Thread& thread = thread_of(activation);
    const State* const state = find_state(activation);
    return thread.is_whole || thread.always.contains(instruction) ||
           (state != nullptr && state->needed.contains(instruction));
  }
  bool has(std::uint32_t instruction, abi::CodeFlag flag) const {
    return (program_.at(instruction).flags & flag) != 0;
  }

  void need(State& state, std::uint32_t operand) {
    if ((operand & abi::kCodeArgument) != 0) {
      state.arguments.insert(operand & ~abi::kCodeArgument);
    } else if (operand != 0) {
      state.needed.insert(operand);
    }
  }

  void need_reached(State& state, std::uint32_t block) {
    if (program_.decisions(block).empty()) return;  // whenever the function is called
    if (std::find(state.undecided.begin(), state.undecided.end(), block) == state.undecided.end()) {
      state.undecided.push_back(block);
    }
  }

  /// True if the branch decided something that is in the slice.
  bool decides(State* state, std::uint32_t branch) {
    if (state == nullptr || !has(branch, abi::kBranches)) return false;
    return std::erase_if(state->undecided, [&](std::uint32_t block) {
             const auto decisions = program_.decisions(block);
             return std::find(decisions.begin(), decisions.end(), branch) != decisions.end();
           }) > 0;
  }

  /// The instance is in the slice. What it was computed from follows, except for calls, PHIs.
  State& mark_only(std::uint32_t activation, std::uint32_t instruction) {
    State& state = states_[activation];
    state.needed.erase(instruction);
    state.is_touched = true;
    need_reached(state, program_.block_of(instruction));
    Thread& thread = thread_of(activation);
    thread.is_reached = true;
    thread.instructions.insert(instruction);
    ++result_.instances;
    return state;
  }
  void mark(std::uint32_t activation, std::uint32_t instruction) {
    State& state = mark_only(activation, instruction);
    for (const std::uint32_t operand : program_.operands(instruction)) need(state, operand);
    note_effects(activation, instruction);
  }
  void note_effects(std::uint32_t activation, std::uint32_t instruction) {
    Thread& thread = thread_of(activation);
    if (has(instruction, abi::kReadsAny)) thread.reads_any = true;
    if (has(instruction, abi::kKeeps)) thread.keeps = true;
  }
  /// Whether what code outside did there may have to do with what is needed.
  bool may_have_left(std::uint32_t activation, std::uint32_t instruction) {
    const Thread& thread = thread_of(activation);
    return (has(instruction, abi::kWritesAny) && thread.memory.has_exposed()) ||
           (has(instruction, abi::kKeeps) && thread.keeps);
  }

  void go_back_over(const PathEntry& entry) {
    switch (entry.kind) {
      case Kind::Run: go_back_over_run(entry); break;
      case Kind::Access: go_back_over_access(entry); break;
      case Kind::CallEnd: go_back_over_call_end(entry); break;
      case Kind::CallBegin: go_back_over_call_begin(entry); break;
      case Kind::Exit: go_back_over_exit(entry); break;
      case Kind::Enter: go_back_over_enter(entry); break;
      case Kind::Left: go_back_over_left(entry); break;
      case Kind::Event: go_back_over_event(entry); break;
    }
  }

  void go_back_over_run(const PathEntry& run) {
    for (std::uint32_t i = run.end; i > run.instruction; --i) {
      const std::uint32_t number = i - 1;
      switch (program_.at(number).kind) {
        case CodeKind::Access:
        case CodeKind::Call: break;
        case CodeKind::Phi: return go_back_over_phis(run, number);
        case CodeKind::Value:
        case CodeKind::Return: {
          const bool decided = decides(find_state(run.activation), number);
          if (!decided && !is_needed(run.activation, number) &&
              !may_have_left(run.activation, number)) {
            break;
          }
          mark(run.activation, number);
          if (has(number, abi::kReadsAny)) states_[run.activation].needs_all_arguments = true;
          break;
        }
      }
    }
  }

  /// All PHIs of a block are computed at once, from what was before any of them.
  void go_back_over_phis(const PathEntry& run, std::uint32_t last) {
    std::vector<std::uint32_t> needed;
    for (std::uint32_t i = last; i >= run.instruction; --i) {
      if (is_needed(run.activation, i)) needed.push_back(i);
    }
    for (const std::uint32_t phi : needed) mark_only(run.activation, phi);
    for (const std::uint32_t phi : needed) {
      State& state = states_[run.activation];
      const auto words = program_.operands(phi);
      const bool is_known = run.from != kNowhere && comes_from(words, run.from);
      for (std::size_t i = 0; i < words.size(); i += 2) {
        if (is_known && words[i] != run.from) continue;
        need(state, words[i + 1]);
        need_reached(state, words[i]);
        const std::uint32_t branch = program_.end(words[i]) - 1;
        if (has(branch, abi::kBranches)) state.needed.insert(branch);
      }
    }
  }
  static bool comes_from(std::span<const std::uint32_t> words, std::uint32_t block) {
    for (std::size_t i = 0; i < words.size(); i += 2) {
      if (words[i] == block) return true;
    }
    return false;
  }

  void go_back_over_access(const PathEntry& access) {
    const std::uint32_t number = access.instruction;
    const bool reads = has(number, abi::kReads) && access.part != 2;
    const bool writes = has(number, abi::kWrites) && access.part != 1;
    const bool is_hooked = has(number, abi::kHooked);
    Thread& thread = thread_of(access.activation);
    bool needed = is_needed(access.activation, number);
    for (std::uint32_t event = access.event; event != kNowhere; event = path_.earlier[event]) {
      needed |= is_event_needed(event, number);
    }
    if (writes) {
      const bool is_read = shared_.remove(access.address, access.bytes);
      needed |= thread.memory.remove(access.address, access.bytes) || is_read;
      needed |= thread.reads_any && !is_hooked && !has(number, abi::kOwn);
    }
    if (!needed) return;
    for (std::uint32_t event = access.event; event != kNowhere; event = path_.earlier[event]) {
      include(event);
    }
    if (access.part == 2) {
      states_[access.activation].needed.insert(number);
      thread.is_reached = true;
    } else {
      mark(access.activation, number);
    }
    if (reads) {
      ByteSet& memory = is_hooked ? shared_ : thread.memory;
      memory.add(access.address, access.bytes, !has(number, abi::kOwn));
    }
  }

  void go_back_over_call_end(const PathEntry& call) {
    const bool decided = decides(find_state(call.activation), call.instruction);
    if (decided || is_needed(call.activation, call.instruction) ||
        may_have_left(call.activation, call.instruction)) {
      states_[call.activation].needed.insert(call.instruction);
    }
    if (State* const state = find_state(call.activation)) state->knows_callee = false;
  }

  bool is_direct(const Activation& activation) const {
    return activation.call != 0 && activation.function != kNowhere &&
           program_.at(activation.call).callee == activation.function + 1;
  }

  void go_back_over_exit(const PathEntry& exit) {
    const Activation& activation = path_.activations[exit.activation];
    const Thread& thread = threads_[activation.thread];
    if (activation.parent == kNowhere || activation.call == 0) {
      if (thread.is_reached || thread.needs_result) {
        states_[exit.activation].needed.insert(exit.instruction);
      }
      return;
    }
    if (is_needed(activation.parent, activation.call)) {
      states_[activation.parent].knows_callee = is_direct(activation);
      states_[exit.activation].needed.insert(exit.instruction);
    }
  }

  void go_back_over_enter(const PathEntry& enter) {
    const auto found = states_.find(enter.activation);
    if (found == states_.end()) return;
    const State state = std::move(found->second);
    states_.erase(found);
    const Activation& activation = path_.activations[enter.activation];
    if (!state.is_touched) return;
    // What is needed should have been met: more was done than is known.
    const bool has_begun = activation.frame != 0;
    if (activation.is_torn || (has_begun && !state.needed.empty())) {
      threads_[activation.thread].is_whole = true;
    }
    if (activation.parent == kNowhere || activation.call == 0) return;
    State& caller = states_[activation.parent];
    caller.is_touched = true;
    caller.needs_call = true;
    caller.knows_callee = is_direct(activation) && !state.needs_all_arguments;
    if (!caller.knows_callee) return;
    const auto operands = program_.operands(activation.call);
    for (const std::uint32_t argument : state.arguments) {
      // The last operand is what is called.
      if (argument + 1 < operands.size()) need(caller, operands[argument]);
    }
  }

  void go_back_over_call_begin(const PathEntry& call) {
    const bool needed = is_needed(call.activation, call.instruction);
    State* const state = find_state(call.activation);
    const bool made = state != nullptr && std::exchange(state->needs_call, false);
    const bool knows_callee = state != nullptr && std::exchange(state->knows_callee, false);
    if (!needed && !made) return;
    if (!knows_callee || has(call.instruction, abi::kReadsAny)) {
      mark(call.activation, call.instruction);
    } else {
      mark_only(call.activation, call.instruction);
      note_effects(call.activation, call.instruction);
    }
  }

  /// What made the activation end decided what its callers did next.
  void go_back_over_left(const PathEntry& left) {
    const State* const landed = find_state(left.end);
    const bool counts = landed != nullptr && landed->is_touched;
    if (counts && left.instruction != 0) {
      states_[left.activation].needed.insert(left.instruction);
      states_[left.activation].is_touched = true;
    }
  }

  // Events.

  bool is_event_needed(std::uint32_t number, std::uint32_t instruction) const {
    if (number > result_.slice.at) return false;
    if (result_.slice.contains[number]) return true;
    const trace::Event& event = trace_.events[number];
    const Thread& thread = threads_[owner_[event.thread]];
    if (!thread.is_reached) return false;
    const Access access = abi::access_of(event.kind);
    return thread.is_whole || access == Access::None || access == Access::Sync ||
           instruction == 0 || thread.always.contains(instruction);
  }

  void include(std::uint32_t number) {
    if (number <= result_.slice.at) result_.slice.contains[number] = true;
  }

  void go_back_over_event(const PathEntry& entry) {
    const std::uint32_t number = entry.event;
    while (next_dependence_ > 0 && dependences_[next_dependence_ - 1].to > number) {
      --next_dependence_;
    }
    const bool at_call = entry.instruction != 0 && entry.activation != kNowhere &&
                         !entry.is_displaced && entry.end == entry.instruction &&
                         is_needed_instance(entry.activation, entry.instruction);
    if (at_call) include(number);
    if (!is_event_needed(number, entry.instruction)) return;
    include(number);
    ++result_.slice.size;
    const trace::Event& event = trace_.events[number];
    threads_[owner_[event.thread]].is_reached = true;
    need_instruction(entry, event);
    for (std::size_t d = next_dependence_; d > 0 && dependences_[d - 1].to == number; --d) {
      follow(dependences_[d - 1]);
    }
  }
  bool is_needed_instance(std::uint32_t activation, std::uint32_t instruction) {
    return is_needed(activation, instruction) && program_.at(instruction).kind == CodeKind::Call;
  }

  void need_instruction(const PathEntry& entry, const trace::Event& event) {
    Thread& thread = threads_[owner_[event.thread]];
    // A thread begins and ends at no instruction of its own.
    if (event.kind == EventKind::ThreadStart || event.kind == EventKind::ThreadExit) return;
    if (entry.is_displaced) {
      thread.always.insert(entry.instruction);
    } else if (entry.instruction == 0) {
      if (entry.activation != kNowhere && entry.end != 0) {
        states_[entry.activation].needed.insert(entry.end);
      } else {
        thread.is_whole = true;
      }
    } else if (entry.activation == kNowhere) {
      thread.always.insert(entry.instruction);
    } else if (program_.at(entry.instruction).kind == CodeKind::Value) {
      mark(entry.activation, entry.instruction);
    } else if (program_.at(entry.instruction).kind == CodeKind::Call) {
      states_[entry.activation].needed.insert(entry.instruction);
    } else if (!path_.is_over[entry.event]) {
      mark(entry.activation, entry.instruction);  // an access that was never over
    }
  }

  void follow(const Dependence& dependence) {
    const trace::ThreadId from = owner_[trace_.events[dependence.from].thread];
    const trace::ThreadId to = owner_[trace_.events[dependence.to].thread];
    if (from != to && !threads_[from].is_reached && !result_.slice.contains[dependence.from]) {
      result_.slice.reasons.push_back(dependence);
    }
    result_.slice.contains[dependence.from] = true;
  }

  InstructionSlice finish() {
    SliceSoFar so_far;
    std::unordered_set<std::uint32_t> all;
    for (Thread& thread : threads_) {
      std::vector<std::uint32_t> sorted(thread.instructions.begin(), thread.instructions.end());
      std::sort(sorted.begin(), sorted.end());
      all.insert(sorted.begin(), sorted.end());
      so_far.threads.push_back({thread.is_reached, thread.is_whole, sorted});
      result_.instructions.push_back(std::move(sorted));
    }
    so_far.slice = std::move(result_.slice);
    result_.slice = slice_before(path_.first_event, std::move(so_far), trace_, code_);
    result_.slice.instructions = static_cast<std::uint32_t>(all.size());
    return std::move(result_);
  }

  const trace::Trace& trace_;
  const Path& path_;
  const ir::ProgramCode& program_;
  const Code& code_;
  const std::vector<trace::ThreadId> owner_;
  std::vector<Thread> threads_;
  ByteSet shared_;                                   // memory that other threads may see
  std::unordered_map<std::uint32_t, State> states_;  // by activation
  const std::vector<Dependence> dependences_;
  std::size_t next_dependence_;
  InstructionSlice result_;
};

/// What the failure is told by.
void need_failure(InstructionSlicer& slicer, const trace::Trace& trace, std::size_t at) {
  const trace::Outcome& outcome = trace.outcome;
  const trace::ThreadId thread = owners(trace)[trace.events[at].thread];
  switch (outcome.kind) {
    case trace::FailureKind::Exit:
      slicer.need_end(thread);
      slicer.need_results(0);
      return;
    case trace::FailureKind::Predicate:
    case trace::FailureKind::None: slicer.need_all(thread); return;
    default: break;
  }
  if (outcome.waits.empty()) return slicer.need_end(thread);
  for (const trace::Wait& wait : outcome.waits) slicer.need_end(owners(trace)[wait.thread]);
}

}  // namespace

InstructionSlice slice_instructions(const trace::Trace& trace, const Path& path,
                                    const ir::ProgramCode& program, const Code& code,
                                    std::optional<std::size_t> at) {
  const std::size_t end = at.value_or(failing_event(trace));
  if (end >= trace.events.size()) return {slice(trace, end), 0, {}};  // which says so
  InstructionSlicer slicer(trace, path, program, code);
  if (!at) need_failure(slicer, trace, end);
  return slicer.up_to(end);
}

}  // namespace heddle::analysis
