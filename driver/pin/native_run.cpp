// SPDX-License-Identifier: Apache-2.0
#include "driver/pin/native_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "driver/descriptor.h"
#include "driver/outcome.h"

namespace heddle::driver {
namespace {

using Clock = std::chrono::steady_clock;

Descriptor memory_file(const char* name) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  if (file.get() < 0) throw environment_error("cannot make a file in memory");
  return file;
}

std::string contents(int file) {
  std::string text;
  char buffer[1 << 14];
  for (off_t at = 0;;) {
    const ssize_t length = pread(file, buffer, sizeof buffer, at);
    if (length <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(length));
    at += length;
  }
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Time slices of each thread if all of them wait on a futex without a time limit. The kernel says
/// so in /proc; where it does not, only the time limit ends a run that is stuck.
std::optional<std::map<std::string, std::string>> slices_if_stuck(pid_t process) {
  std::map<std::string, std::string> slices;
  std::error_code error;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), error)) {
    std::ifstream call_file(task.path() / "syscall");
    std::string number, address, operation, value, limit;
    if (!(call_file >> number >> address >> operation >> value >> limit)) return std::nullopt;
    if (number != std::to_string(SYS_futex) || std::stoull(limit, nullptr, 16) != 0) {
      return std::nullopt;
    }
    std::ifstream schedule_file(task.path() / "schedstat");
    std::string running, waiting, count;
    if (!(schedule_file >> running >> waiting >> count)) return std::nullopt;
    slices[task.path().filename().string()] = count;
  }
  if (error || slices.empty()) return std::nullopt;
  return slices;
}

class Child {
 public:
  Child(const std::filesystem::path& executable, const Inputs& inputs,
        const std::vector<std::string>& environment)
      : input_(memory_file("input")), output_(memory_file("output")), error_(memory_file("error")) {
    const std::string& given = inputs.standard_input;
    if (pwrite(input_.get(), given.data(), given.size(), 0) != static_cast<ssize_t>(given.size())) {
      throw environment_error("cannot write the program's input");
    }
    std::vector<std::string> all = inputs.environment;
    all.insert(all.end(), environment.begin(), environment.end());
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input_.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output_.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, error_.get(), STDERR_FILENO);
    if (!inputs.directory.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions, inputs.directory.c_str());
    }
    const int result = posix_spawn(&process_, executable.c_str(), &actions, nullptr,
                                   pointers(inputs.arguments).data(), pointers(all).data());
    posix_spawn_file_actions_destroy(&actions);
    if (result != 0) {
      throw environment_error(
          fmt::format("cannot start {}: {}", executable.string(), std::strerror(result)));
    }
    handle_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
  }
  ~Child() {
    if (process_ > 0) end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t process() const { return process_; }

  bool ends_within(std::chrono::milliseconds time) {
    pollfd waiting{handle_.get(), POLLIN, 0};
    return poll(&waiting, 1, static_cast<int>(time.count())) > 0;
  }
  int wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    return status;
  }
  void end() {
    kill(process_, SIGKILL);
    wait();
  }
  std::string output() const { return contents(output_.get()); }
  std::string error() const { return contents(error_.get()); }

 private:
  Descriptor input_, output_, error_, handle_;
  pid_t process_ = -1;
};

}  // namespace

NativeEnd run_native(const std::filesystem::path& executable, const Inputs& inputs,
                     const std::vector<std::string>& environment, std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kLook(20);
  // A process that is being torn down looks stuck for a moment.
  constexpr std::chrono::milliseconds kLookAgain(150);
  const Clock::time_point begin = Clock::now();
  const auto passed = [&] { return Clock::now() - begin; };
  Child child(executable, inputs, environment);
  NativeEnd result;
  while (!child.ends_within(kLook)) {
    result.seconds = std::chrono::duration<double>(passed()).count();
    const auto slices = slices_if_stuck(child.process());
    if (slices) {
      if (child.ends_within(kLookAgain)) break;
      if (slices_if_stuck(child.process()) != slices) continue;
    }
    if (slices || passed() > limit) {
      child.end();
      result.stuck = true;
      result.late = !slices;
      break;
    }
  }
  if (!result.stuck) {
    result.status = child.wait();
    result.seconds = std::chrono::duration<double>(passed()).count();
  }
  result.standard_output = child.output();
  result.standard_error = child.error();
  return result;
}

bool shows(const NativeEnd& end, const trace::PinnedFailure& failure) {
  using abi::FailureKind;
  const bool aborted = WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT;
  const auto says = [&](std::string_view text) {
    return end.standard_error.find(text) != std::string::npos;
  };
  switch (failure.kind) {
    case FailureKind::Assert:
    case FailureKind::Exception: return !end.stuck && aborted && says(failure.message);
    case FailureKind::Signal:
      return !end.stuck && WIFSIGNALED(end.status) && WTERMSIG(end.status) == failure.signal;
    case FailureKind::Exit:
      return !end.stuck && WIFEXITED(end.status) && WEXITSTATUS(end.status) == failure.exit_code;
    case FailureKind::Deadlock:
    case FailureKind::LostWakeup:
    case FailureKind::NoProgress:
    case FailureKind::Hang: return end.stuck;
    case FailureKind::UseAfterFree:
    case FailureKind::DoubleFree:
      // Whichever of the two comes first; or the memory management of libc itself notices.
      return !end.stuck && WIFSIGNALED(end.status) &&
             (says("freed memory was used") || says("freed twice") || says("double free") ||
              WTERMSIG(end.status) == SIGSEGV);
    case FailureKind::Sanitizer: return says("ERROR: ") || says(": runtime error: ");
    case FailureKind::Predicate:
      return !end.stuck &&
             predicate_holds(failure.fails_if, {WIFEXITED(end.status) ? WEXITSTATUS(end.status) : 0,
                                                end.standard_output, end.standard_error});
    case FailureKind::None: return !how_it_ended(end).empty() && !end.late;
    default: return false;
  }
}

std::string how_it_ended(const NativeEnd& end) {
  if (end.stuck) return end.late ? kStillRunning : "stuck";
  if (WIFSIGNALED(end.status)) return fmt::format("signal {}", WTERMSIG(end.status));
  return WEXITSTATUS(end.status) == 0 ? "" : fmt::format("exit {}", WEXITSTATUS(end.status));
}

}  // namespace heddle::driver
