// SPDX-License-Identifier: Apache-2.0
#include "driver/build/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

extern char** environ;

namespace heddle::build {
namespace {

Error cannot_start(const std::string& tool, int reason) {
  return environment_error(fmt::format("cannot start {}: {}; run scripts/setup to install it", tool,
                                       std::strerror(reason)));
}

std::string read_all(int descriptor) {
  std::string all;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count > 0) all.append(part.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return all;
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ToolResult run_tool(const std::vector<std::string>& command, const std::filesystem::path& directory,
                    bool capture) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  std::array<int, 2> pipe_ends{-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  if (capture) {
    if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
      const int reason = errno;
      posix_spawn_file_actions_destroy(&actions);
      throw cannot_start(command.front(), reason);
    }
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  }
  pid_t child = 0;
  const int reason =
      ::posix_spawnp(&child, command.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (capture) ::close(pipe_ends[1]);

  ToolResult result{0, ""};
  if (reason == 0) {
    if (capture) result.output = read_all(pipe_ends[0]);
    result.status = wait_for(child);
  }
  if (capture) ::close(pipe_ends[0]);
  if (reason != 0) throw cannot_start(command.front(), reason);
  return result;
}

}  // namespace heddle::build
