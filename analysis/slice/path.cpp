// SPDX-License-Identifier: Apache-2.0
#include "analysis/slice/path.h"

#include <fmt/format.h>

#include <algorithm>

#include "abi/path_record.h"
#include "analysis/slice/event_dependences.h"
#include "base/error.h"

namespace heddle::analysis {
namespace {

using abi::CodeKind;
using abi::PathItem;
using Kind = PathEntry::Kind;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;

Error damaged(std::string_view why) {
  return user_error(
      fmt::format("what was written down of the run's instructions cannot be read: "
                  "{}; --static does without it",
                  why));
}

class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  std::uint64_t next() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) throw damaged("it is cut short");
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      number |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return number;
    }
    throw damaged("a number is too long");
  }

 private:
  std::string_view rest_;
};

/// Where an activation is.
struct Position {
  std::uint32_t activation = kNowhere;
  std::uint32_t block = kNowhere;
  std::uint32_t from = kNowhere;  // the block before
  std::uint32_t next = 0;         // the first instruction of the block that is in no entry yet
  std::uint32_t call = 0;         // begun and not known to be over
  bool leaves = false;            // over but for the call (musttail)
};

class PathReader {
 public:
  PathReader(std::uint64_t first_event, const ir::ProgramCode& code, const trace::Trace& trace,
             const std::vector<std::uint32_t>& instructions)
      : code_(code),
        trace_(trace),
        instructions_(instructions),
        owner_(owners(trace)),
        threads_(trace.threads.size()) {
    path_.first_event = first_event;
    path_.earlier.assign(trace.events.size(), kNowhere);
    path_.is_over.assign(trace.events.size(), false);
  }

  Path read(std::string_view bytes) {
    path_.bytes = bytes.size();
    Numbers numbers(bytes);
    bool is_first = true;
    while (!numbers.empty()) {
      const std::uint64_t number = numbers.next();
      if (is_first) begin(number);
      is_first = false;
      read_item(static_cast<PathItem>(number & 7), number >> 3, numbers);
    }
    if (is_first) events_ = path_.first_event;
    add_events(trace_.events.size());
    for (Thread& thread : threads_) end(thread);
    return std::move(path_);
  }

 private:
  struct Thread {
    std::vector<Position> stack;
    std::uint32_t event_instruction = 0;  // of its last event, if that was an access
    std::uint32_t event = kNowhere;
    bool is_seen = false;  // it has been in some function
  };

  /// The first item says how many events there were before, of which those of the window count.
  void begin(std::uint64_t number) {
    const bool tells_events =
        static_cast<PathItem>(number & 7) == PathItem::Other && ((number >> 3) & 1) == 0;
    const std::uint64_t before = tells_events ? number >> 4 : 0;
    if (before < path_.first_event) throw damaged("it begins too early");
    events_ = path_.first_event;
  }

  void read_item(PathItem item, std::uint64_t argument, Numbers& numbers) {
    switch (item) {
      case PathItem::Block: at_block(instruction(argument)); break;
      case PathItem::Access:
      case PathItem::Range: {
        const std::uint32_t number = instruction(argument);
        const std::uint64_t address = addresses_.address_for(number, numbers.next());
        const std::uint64_t bytes =
            item == PathItem::Range ? numbers.next() : code_.at(number).bytes;
        if (bytes >= kMostBytes) throw damaged("an access is too large");
        at_access(number, address, static_cast<std::uint32_t>(bytes));
        break;
      }
      case PathItem::Call: at_call(instruction(argument)); break;
      case PathItem::Enter: enter(frames_.frame_for(current_, argument)); break;
      case PathItem::Exit: exit(); break;
      case PathItem::Landed: land(frames_.frame_for(current_, argument)); break;
      case PathItem::Other:
        if ((argument & 1) != 0) {
          if ((argument >> 1) >= threads_.size()) throw damaged("there is no such thread");
          current_ = static_cast<trace::ThreadId>(argument >> 1);
        } else {
          told_ += argument >> 1;
          add_events(told_);
        }
        break;
    }
  }

  std::uint32_t instruction(std::uint64_t argument) {
    const std::uint64_t number = instruction_ + abi::from_zigzag(argument);
    if (number == 0 || number > code_.instruction_count()) throw damaged("no such instruction");
    return instruction_ = static_cast<std::uint32_t>(number);
  }

  // Entries.

  PathEntry& add(Kind kind, std::uint32_t activation, std::uint32_t number) {
    PathEntry entry;
    entry.kind = kind;
    entry.activation = activation;
    entry.instruction = number;
    path_.entries.push_back(entry);
    return path_.entries.back();
  }

  /// What the activation did up to `end`.
  void run_to(Position& at, std::uint32_t end) {
    if (at.block == kNowhere || at.next >= end) return;
    PathEntry& entry = add(Kind::Run, at.activation, at.next);
    entry.end = end;
    entry.from = at.from;
    for (std::uint32_t i = at.next; i < end; ++i) {
      const CodeKind kind = code_.at(i).kind;
      if (kind != CodeKind::Access && kind != CodeKind::Call) ++path_.instructions;
    }
    at.next = end;
  }

  void end_call(Position& at) {
    if (at.call != 0) add(Kind::CallEnd, at.activation, at.call);
    at.call = 0;
  }

  void finish_block(Position& at) {
    end_call(at);
    if (at.block != kNowhere) run_to(at, code_.end(at.block));
  }

  /// What the thread is in, without functions that are over.
  Position* top(trace::ThreadId thread) {
    std::vector<Position>& stack = threads_[thread].stack;
    while (!stack.empty() && stack.back().leaves) leave(stack);
    return stack.empty() ? nullptr : &stack.back();
  }

  void leave(std::vector<Position>& stack) {
    Position& at = stack.back();
    finish_block(at);
    if (at.block != kNowhere) add(Kind::Exit, at.activation, code_.end(at.block) - 1);
    stack.pop_back();
  }

  /// The position at which `number` is executed by the current thread.
  Position& position_for(std::uint32_t number) {
    const std::uint32_t function = code_.function_of(code_.block_of(number));
    Position* at = top(current_);
    if (at != nullptr) {
      std::uint32_t& known = path_.activations[at->activation].function;
      if (known == kNowhere) known = function;
      if (known == function) return *at;
    }
    // The thread was in there when the path began, or came there unnoticed.
    Activation activation;
    activation.thread = current_;
    activation.function = function;
    activation.is_torn = threads_[current_].is_seen || path_.first_event == 0;
    return push(activation);
  }

  Position& push(const Activation& activation) {
    const auto number = static_cast<std::uint32_t>(path_.activations.size());
    path_.activations.push_back(activation);
    threads_[current_].is_seen = true;
    threads_[current_].stack.push_back({});
    threads_[current_].stack.back().activation = number;
    add(Kind::Enter, number, 0);
    return threads_[current_].stack.back();
  }

  void at_block(std::uint32_t number) {
    const std::uint32_t block = code_.block_of(number);
    if (code_.first(block) != number) throw damaged("a block begins in the middle");
    Position& at = position_for(number);
    finish_block(at);
    at.from = at.block;
    at.block = block;
    at.next = number;
  }

  /// Brings the current thread's position to `number`.
  Position& come_to(std::uint32_t number) {
    Position& at = position_for(number);
    end_call(at);
    const std::uint32_t block = code_.block_of(number);
    if (at.block != block || number + 1 < at.next) {  // after longjmp
      at.from = kNowhere;
      at.block = block;
      at.next = number;
    }
    run_to(at, number);
    return at;
  }

  void at_access(std::uint32_t number, std::uint64_t address, std::uint32_t bytes) {
    const abi::InstructionCode& code = code_.at(number);
    if (code.kind != CodeKind::Access) throw damaged("what is no access has an address");
    Position& at = come_to(number);
    const bool is_again = at.next == number + 1;  // the second part of a copy
    if (!is_again) ++path_.instructions;
    PathEntry& entry = add(Kind::Access, at.activation, number);
    entry.address = address;
    entry.bytes = bytes;
    if ((code.flags & abi::kCopies) != 0) entry.part = is_again ? 2 : 1;
    Thread& thread = threads_[current_];
    if (thread.event_instruction == number) entry.event = thread.event;
    for (std::uint32_t event = entry.event; event != kNowhere; event = path_.earlier[event]) {
      path_.is_over[event] = true;
    }
    if (entry.part != 1) {
      thread.event_instruction = 0;
      thread.event = kNowhere;
    }
    at.next = number + 1;
  }

  void at_call(std::uint32_t number) {
    if (code_.at(number).kind != CodeKind::Call) throw damaged("what is no call is called");
    Position& at = come_to(number);
    add(Kind::CallBegin, at.activation, number);
    ++path_.instructions;
    at.call = number;
    at.next = number + 1;
  }

  void enter(std::uint64_t frame) {
    const std::vector<Position>& stack = threads_[current_].stack;
    Activation activation;
    activation.thread = current_;
    activation.frame = frame;
    if (!stack.empty()) {
      activation.parent = stack.back().activation;
      activation.call = stack.back().call;
    }
    push(activation);
  }

  void exit() {
    Position* const at = top(current_);
    if (at == nullptr) return;
    if (at->call != 0 && (code_.at(at->call).flags & abi::kLeaves) != 0) {
      at->leaves = true;
    } else {
      leave(threads_[current_].stack);
    }
  }

  void land(std::uint64_t frame) {
    std::vector<Position>& stack = threads_[current_].stack;
    const auto found = std::find_if(stack.rbegin(), stack.rend(), [&](const Position& at) {
      return path_.activations[at.activation].frame == frame;
    });
    if (found == stack.rend()) {
      stack.clear();  // what it ends in was begun before the path
      return;
    }
    const auto depth = static_cast<std::size_t>(stack.rend() - found);
    const std::uint32_t landed = found->activation;
    for (; stack.size() > depth; stack.pop_back()) {
      const Position& at = stack.back();
      const std::uint32_t last = at.call != 0 ? at.call : at.next == 0 ? 0 : at.next - 1;
      add(Kind::Left, at.activation, last).end = landed;
    }
    if (stack.back().leaves) stack.back().leaves = false;
  }

  // Events.

  void add_events(std::uint64_t count) {
    if (count > trace_.events.size()) throw damaged("there are not so many events");
    for (; events_ < count; ++events_) add_event(static_cast<std::uint32_t>(events_));
  }

  void add_event(std::uint32_t number) {
    const trace::Event& event = trace_.events[number];
    const trace::ThreadId owner = owner_[event.thread];
    const std::uint32_t where = event.site == trace::kNone ? 0 : instructions_[event.site];
    Thread& thread = threads_[owner];
    thread.event_instruction = 0;
    Position* const at = top(owner);
    const bool is_flushed = event.thread != owner;
    const bool is_here = at != nullptr && where != 0 && !is_flushed && is_at(*at, where);
    if (is_here && where != at->call) {
      end_call(*at);
      run_to(*at, where);
    }
    const bool is_access = is_here && code_.at(where).kind == CodeKind::Access;
    PathEntry& entry = add(Kind::Event, at == nullptr ? kNowhere : at->activation, where);
    entry.event = number;
    entry.end = at == nullptr ? 0 : at->call;
    entry.is_displaced = where != 0 && !is_here;
    if (!is_access) {
      thread.event = kNowhere;
      return;
    }
    if (thread.event != kNowhere && last_instruction_of(thread) == where) {
      path_.earlier[number] = thread.event;
    }
    thread.event = number;
    thread.event_instruction = where;
  }

  std::uint32_t last_instruction_of(const Thread& thread) const {
    const trace::SiteIndex site = trace_.events[thread.event].site;
    return site == trace::kNone ? 0 : instructions_[site];
  }

  bool is_at(const Position& at, std::uint32_t number) const {
    if (number == at.call) return true;
    return at.block != kNowhere && code_.block_of(number) == at.block && number >= at.next &&
           code_.at(number).kind != CodeKind::Call;
  }

  void end(Thread& thread) {
    PathEnd end;
    if (!thread.stack.empty()) {
      const Position& at = thread.stack.back();
      end.activation = at.activation;
      end.call = at.call;
      if (at.block != kNowhere && at.call == 0) {
        end.first = at.next;
        end.end = std::min(at.next, code_.end(at.block));
        // An access is told when it is over, a call before.
        while (end.end < code_.end(at.block) && code_.at(end.end).kind != CodeKind::Call) {
          const bool is_access = code_.at(end.end++).kind == CodeKind::Access;
          if (is_access) break;
        }
      }
    }
    path_.ends.push_back(end);
  }

  const ir::ProgramCode& code_;
  const trace::Trace& trace_;
  const std::vector<std::uint32_t>& instructions_;
  const std::vector<trace::ThreadId> owner_;
  std::vector<Thread> threads_;
  abi::PathAddresses addresses_;
  abi::PathFrames frames_;
  trace::ThreadId current_ = 0;
  std::uint32_t instruction_ = 0;
  std::uint64_t told_ = 0;    // events, by the path
  std::uint64_t events_ = 0;  // that have been added
  Path path_;
};

}  // namespace

Path read_path(std::string_view bytes, std::uint64_t first_event, const ir::ProgramCode& code,
               const trace::Trace& trace, const std::vector<std::uint32_t>& instructions) {
  return PathReader(first_event, code, trace, instructions).read(bytes);
}

}  // namespace heddle::analysis
