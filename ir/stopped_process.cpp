// SPDX-License-Identifier: Apache-2.0
#include "ir/stopped_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "ir/machine_registers.h"

namespace heddle::ir {
namespace {

namespace fs = std::filesystem;

/// Takes a hexadecimal number and what must follow it off the front.
bool take(std::string_view& text, std::uint64_t& number, char follows) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  const auto length = static_cast<std::size_t>(read.ptr - text.data());
  if (read.ec != std::errc() || length == text.size() || *read.ptr != follows) return false;
  text.remove_prefix(length + 1);
  return true;
}

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code gone;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fmt::format("/proc/{}/task", process), gone)) {
    threads.push_back(static_cast<pid_t>(std::stol(entry.path().filename().string())));
  }
  std::ranges::sort(threads);
  return threads;
}

}  // namespace

std::vector<MachineState::Mapping> parse_maps(std::string_view text) {
  std::vector<MachineState::Mapping> mappings;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    MachineState::Mapping mapping;
    // begin-end permissions offset device inode  name
    if (!take(line, mapping.begin, '-') || !take(line, mapping.end, ' ')) continue;
    line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
    if (!take(line, mapping.offset, ' ')) continue;
    const std::size_t name = line.find('/');
    if (name == line.npos || mapping.begin >= mapping.end) continue;
    // The name comes last; a device has no slash.
    mapping.file = line.substr(name);
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

StoppedProcess::StoppedProcess(pid_t process) : process_(process) {
  // Threads made while others are being stopped are seen in the next round.
  for (bool found_more = true; found_more;) {
    found_more = false;
    for (const pid_t thread : threads_of(process)) found_more |= stop(thread);
  }
  if (threads_.empty()) {
    throw user_error(fmt::format("there is no process {} whose threads can be looked at", process));
  }
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::ostringstream text;
  text << maps.rdbuf();
  mappings_ = parse_maps(text.view());
  memory_ = ::open(fmt::format("/proc/{}/mem", process).c_str(), O_RDONLY | O_CLOEXEC);
}

bool StoppedProcess::stop(pid_t thread) {
  if (std::ranges::find(threads_, thread, &Thread::id) != threads_.end()) return false;
  if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
    if (errno == ESRCH) return false;
    throw environment_error(fmt::format(
        "process {} cannot be looked at: {}; it must be your own and not be under a debugger, and "
        "/proc/sys/kernel/yama/ptrace_scope must allow it (0, or run as root)",
        process_, std::strerror(errno)));
  }
  user_regs_struct machine{};
  int status = 0;
  if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0 ||
      waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status) ||
      ptrace(PTRACE_GETREGS, thread, nullptr, &machine) != 0) {
    return false;  // it has just ended
  }
  // A signal that came first would be lost: it is sent again.
  if ((status >> 16) != PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP) {
    syscall(SYS_tgkill, process_, thread, WSTOPSIG(status));
  }
  threads_.push_back({thread, registers_of(machine)});
  return true;
}

StoppedProcess::~StoppedProcess() {
  for (const Thread& thread : threads_) ptrace(PTRACE_DETACH, thread.id, nullptr, nullptr);
  if (memory_ >= 0) ::close(memory_);
}

std::size_t StoppedProcess::read(std::uint64_t address, std::span<char> to) const {
  const ssize_t got = pread(memory_, to.data(), to.size(), static_cast<off_t>(address));
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

std::string StoppedProcess::executable() const {
  return fmt::format("/proc/{}/exe", process_);
}

}  // namespace heddle::ir
