// SPDX-License-Identifier: Apache-2.0
#include "driver/failure_stacks.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <initializer_list>

#include "ir/stack_walk.h"
#include "ir/stopped_process.h"

namespace heddle::driver {
namespace {

using abi::StackRecord;
using ir::Registers;

Registers registers_of(const StackRecord& record) {
  Registers registers;
  registers.value[Registers::Rip] = record.registers[StackRecord::Rip];
  registers.value[Registers::Rsp] = record.registers[StackRecord::Rsp];
  registers.value[Registers::Rbp] = record.registers[StackRecord::Rbp];
  registers.value[Registers::Rbx] = record.registers[StackRecord::Rbx];
  registers.value[Registers::R12] = record.registers[StackRecord::R12];
  registers.value[Registers::R13] = record.registers[StackRecord::R13];
  registers.value[Registers::R14] = record.registers[StackRecord::R14];
  registers.value[Registers::R15] = record.registers[StackRecord::R15];
  return registers;
}

/// The target may have written anything into the channel: no view leaves its region.
class FailedExecution final : public ir::MachineState {
 public:
  explicit FailedExecution(const Channel& channel) : mappings_(ir::parse_maps(channel.loaded())) {
    const std::span<const char> bytes = channel.stack_bytes();
    for (const StackRecord& record : channel.stacks()) {
      if (record.offset > bytes.size() || record.bytes > bytes.size() - record.offset) continue;
      threads_.push_back({record.thread, registers_of(record)});
      stacks_.push_back(
          {record.registers[StackRecord::Rsp], bytes.subspan(record.offset, record.bytes)});
    }
  }

  const std::vector<Mapping>& mappings() const override { return mappings_; }
  const std::vector<Thread>& threads() const override { return threads_; }

  std::size_t read(std::uint64_t address, std::span<char> to) const override {
    for (const Stack& stack : stacks_) {
      if (address < stack.begin || address - stack.begin >= stack.bytes.size()) continue;
      const std::span<const char> from = stack.bytes.subspan(address - stack.begin);
      const std::size_t length = std::min(from.size(), to.size());
      std::memcpy(to.data(), from.data(), length);
      return length;
    }
    return 0;
  }

 private:
  struct Stack {
    std::uint64_t begin;
    std::span<const char> bytes;
  };
  std::vector<Mapping> mappings_;
  std::vector<Thread> threads_;
  std::vector<Stack> stacks_;
};

/// Its sources are nobody's here, even where there is debug information for it.
bool is_of_the_system(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  return std::ranges::any_of(
      std::initializer_list<const char*>{"libc.so", "libc-", "libpthread", "ld-linux",
                                         "libstdc++.so", "libc++.so", "libc++abi.so"},
      [&](const char* prefix) { return name.starts_with(prefix); });
}

trace::Stack told_stack(const ir::ThreadStack& walked, const std::string& runtime) {
  trace::Stack stack;
  stack.thread = static_cast<trace::ThreadId>(walked.thread);
  // A thread begins in the runtime, where the walk ends for want of a caller.
  stack.is_whole =
      walked.is_whole || (!walked.frames.empty() && walked.frames.back().file == runtime);
  for (const ir::StackFrame& frame : walked.frames) {
    if (frame.file == runtime || frame.places.empty()) continue;
    if (is_of_the_system(frame.file)) {
      stack.frames.push_back({frame.places.back().function, "", 0, 0});
    } else {
      stack.frames.insert(stack.frames.end(), frame.places.begin(), frame.places.end());
    }
  }
  // Outside of main and of what a thread was started with is only what started them.
  while (!stack.frames.empty() && stack.frames.back().line == 0) stack.frames.pop_back();
  return stack;
}

}  // namespace

std::vector<trace::Stack> failure_stacks(const Program& program, const Channel& channel) {
  std::vector<trace::Stack> stacks;
  if (channel.stacks().empty()) return stacks;
  const FailedExecution execution(channel);
  const std::string runtime = std::filesystem::canonical(program.runtime()).string();
  const std::size_t threads = channel.threads().size();
  for (const ir::ThreadStack& walked :
       ir::walk_stacks(execution, program.executable().string(), program.executable())) {
    if (walked.thread >= static_cast<long>(threads)) continue;
    stacks.push_back(told_stack(walked, runtime));
  }
  return stacks;
}

}  // namespace heddle::driver
