// SPDX-License-Identifier: Apache-2.0
#include "ir/stack_walk.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <unistd.h>

#include <map>

#include "ir/code_places.h"

namespace heddle::ir {
namespace {

/// A runaway recursion has hundreds of thousands; nobody reads more than the innermost.
constexpr std::size_t kMostFrames = 256;

class StackWalk {
 public:
  StackWalk(const MachineState& state, const std::string& loaded_from,
            const std::filesystem::path& program)
      : state_(state), dwfl_(begin()) {
    report_files(loaded_from, program);
  }

  std::vector<ThreadStack> run() {
    if (dwfl_ && dwfl_attach_state(dwfl_.get(), nullptr, 1, &kThreads, this)) {
      dwfl_getthreads(dwfl_.get(), &StackWalk::on_thread, this);
    }
    return std::move(stacks_);
  }

 private:
  static Dwfl* begin();
  static const Dwfl_Callbacks kFiles;
  static const Dwfl_Thread_Callbacks kThreads;

  void report_files(const std::string& loaded_from, const std::filesystem::path& program) {
    if (!dwfl_) return;
    dwfl_report_begin(dwfl_.get());
    const auto& mappings = state_.mappings();
    for (std::size_t i = 0; i < mappings.size();) {
      // A file is loaded in several pieces; what else the process mapped of it counts again.
      std::size_t end = i + 1;
      while (end < mappings.size() && mappings[end].file == mappings[i].file) ++end;
      const std::string file =
          mappings[i].file == loaded_from ? program.string() : mappings[i].file;
      dwfl_report_module(dwfl_.get(), file.c_str(), mappings[i].begin, mappings[end - 1].end);
      i = end;
    }
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  }

  static int find_file(Dwfl_Module*, void**, const char* name, Dwarf_Addr, char**, Elf**) {
    return ::open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  }

  static pid_t next_thread(Dwfl*, void* walk, void** position) {
    const auto& threads = static_cast<StackWalk*>(walk)->state_.threads();
    const auto* const previous = static_cast<const MachineState::Thread*>(*position);
    const auto* const next = previous == nullptr ? threads.data() : previous + 1;
    if (next == threads.data() + threads.size()) return 0;
    *position = const_cast<MachineState::Thread*>(next);
    return static_cast<pid_t>(next - threads.data()) + 1;
  }

  static bool set_registers(Dwfl_Thread* thread, void* position) {
    const Registers& registers = static_cast<const MachineState::Thread*>(position)->registers;
    static_assert(sizeof(Dwarf_Word) == sizeof(std::uint64_t));
    dwfl_thread_state_register_pc(thread, registers.value[Registers::Rip]);
    return dwfl_thread_state_registers(thread, 0, Registers::Count, registers.value.data());
  }

  static bool read_word(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* walk) {
    return static_cast<StackWalk*>(walk)->state_.read_exactly(
        address, {reinterpret_cast<char*>(word), sizeof *word});
  }

  static int on_thread(Dwfl_Thread* thread, void* walk) {
    auto& self = *static_cast<StackWalk*>(walk);
    const std::size_t index = self.stacks_.size();
    self.stacks_.push_back({self.state_.threads()[index].id, {}, false});
    const int result = dwfl_thread_getframes(thread, &StackWalk::on_frame, walk);
    self.stacks_.back().is_whole = result == 0;
    return DWARF_CB_OK;
  }

  static int on_frame(Dwfl_Frame* frame, void* walk) {
    auto& self = *static_cast<StackWalk*>(walk);
    std::vector<StackFrame>& frames = self.stacks_.back().frames;
    Dwarf_Addr address = 0;
    bool is_exact = false;
    if (!dwfl_frame_pc(frame, &address, &is_exact)) return DWARF_CB_ABORT;
    // The outermost frame of a thread returns to nowhere.
    if (address == 0 && !frames.empty()) return DWARF_CB_OK;
    if (frames.size() == kMostFrames) return DWARF_CB_ABORT;
    frames.push_back(self.frame_at(is_exact ? address : address - 1));
    frames.back().in_call = !is_exact;
    return DWARF_CB_OK;
  }

  StackFrame frame_at(std::uint64_t address) {
    if (const auto known = known_.find(address); known != known_.end()) return known->second;
    StackFrame frame{address, address, "", {}, false};
    if (Dwfl_Module* const module = dwfl_addrmodule(dwfl_.get(), address)) {
      GElf_Addr bias = 0;
      if (dwfl_module_getelf(module, &bias) != nullptr) frame.file_address = address - bias;
      frame.file =
          dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
      frame.places = frames_at(module, address);
    }
    known_.emplace(address, frame);
    return frame;
  }

  const MachineState& state_;
  DwflHandle dwfl_;
  std::map<std::uint64_t, StackFrame> known_;  // threads are often at the same places
  std::vector<ThreadStack> stacks_;
};

char* debug_path = nullptr;  // libdwfl wants an address of it; null: the usual places

const Dwfl_Callbacks StackWalk::kFiles = {&StackWalk::find_file, dwfl_standard_find_debuginfo,
                                          nullptr, &debug_path};
const Dwfl_Thread_Callbacks StackWalk::kThreads = {
    &StackWalk::next_thread,   nullptr, &StackWalk::read_word,
    &StackWalk::set_registers, nullptr, nullptr};

Dwfl* StackWalk::begin() {
  return dwfl_begin(&kFiles);
}

}  // namespace

std::vector<ThreadStack> walk_stacks(const MachineState& state, const std::string& loaded_from,
                                     const std::filesystem::path& program) {
  return StackWalk(state, loaded_from, program).run();
}

}  // namespace heddle::ir
