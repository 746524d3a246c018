// SPDX-License-Identifier: Apache-2.0
//
// system, popen and pclose, made of what the runtime stands in front of: libc's own would wait for
// the command where no other thread can go on.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/vector.h"
#include "runtime/entry/entry.h"
#include "runtime/parallel/stripes.h"

using namespace heddle::runtime;

namespace {

bool is_controlled() {
  return session().running() && !Gate::closed();
}

/// What is kept here about commands. Under control one thread runs at a time, and none is switched
/// away from while it holds this; in a recorded run they come at any time.
class Held {
 public:
  Held() {
    if (in_parallel_) lock_.lock();
  }
  ~Held() {
    if (in_parallel_) lock_.unlock();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  const bool in_parallel_ = !session().one_at_a_time();
  static inline constinit SpinLock lock_;
};

int start_shell(pid_t& child, const char* command, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes) {
  char shell[] = "sh", flag[] = "-c";
  char* const arguments[] = {shell, flag, const_cast<char*>(command), nullptr};
  return posix_spawn(&child, "/bin/sh", actions, attributes, arguments, environ);
}

/// Its status; -1 if there is none.
int wait_for_shell(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

/// While a command runs for any thread, what the keyboard sends is for the command alone.
class KeyboardIgnored {
 public:
  KeyboardIgnored() {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child, &mask_);
    const Held held;
    if (count_++ > 0) return;
    struct sigaction ignored{};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignored, &interrupt_);
    sigaction(SIGQUIT, &ignored, &quit_);
  }
  ~KeyboardIgnored() {
    give_back();
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    pthread_setcancelstate(cancel_state_, nullptr);
  }
  KeyboardIgnored(const KeyboardIgnored&) = delete;
  KeyboardIgnored& operator=(const KeyboardIgnored&) = delete;

  int start(pid_t& child, const char* command) const {
    sigset_t defaults;
    sigemptyset(&defaults);
    if (interrupt_.sa_handler != SIG_IGN) sigaddset(&defaults, SIGINT);
    if (quit_.sa_handler != SIG_IGN) sigaddset(&defaults, SIGQUIT);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &mask_);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    const int error = start_shell(child, command, nullptr, &attributes);
    posix_spawnattr_destroy(&attributes);
    return error;
  }

 private:
  static void give_back() {
    const Held held;
    if (--count_ > 0) return;
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }

  int cancel_state_ = 0;
  sigset_t mask_{};
  static inline constinit int count_ = 0;
  static inline constinit struct sigaction interrupt_ = {};
  static inline constinit struct sigaction quit_ = {};
};

struct Opened {
  FILE* stream;
  pid_t child;
};

constinit Vector<Opened> opened;  // and not closed yet

/// Takes it out of the list; false if it is not there.
bool take_opened(FILE* stream, pid_t& child) {
  const Held held;
  for (std::size_t i = 0; i < opened.size(); ++i) {
    if (opened[i].stream != stream) continue;
    child = opened[i].child;
    opened.erase(i);
    return true;
  }
  return false;
}

FILE* open_command(const char* command, const char* mode) {
  const bool reads = mode[0] == 'r';
  if (!reads && mode[0] != 'w') {
    errno = EINVAL;
    return nullptr;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  const int own = ends[reads ? 0 : 1], theirs = ends[reads ? 1 : 0];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs, reads ? STDOUT_FILENO : STDIN_FILENO);
  {
    const Held held;
    for (const Opened& other : opened) {
      posix_spawn_file_actions_addclose(&actions, fileno(other.stream));
    }
  }
  pid_t child = 0;
  const int error = start_shell(child, command, &actions, nullptr);
  posix_spawn_file_actions_destroy(&actions);
  close(theirs);
  FILE* const stream = error == 0 ? fdopen(own, reads ? "r" : "w") : nullptr;
  if (stream == nullptr) {
    close(own);
    if (error != 0) errno = error;
    return nullptr;
  }
  if (strchr(mode, 'e') == nullptr) fcntl(own, F_SETFD, 0);
  const Held held;
  opened.push_back({stream, child});
  return stream;
}

}  // namespace

HEDDLE_ENTRY int system(const char* command) {
  if (!is_controlled() || command == nullptr) return real().system(command);
  const KeyboardIgnored meanwhile;
  pid_t child = 0;
  if (meanwhile.start(child, command) != 0) return W_EXITCODE(127, 0);
  return wait_for_shell(child);
}

HEDDLE_ENTRY FILE* popen(const char* command, const char* mode) {
  return is_controlled() ? open_command(command, mode) : real().popen(command, mode);
}

HEDDLE_ENTRY int pclose(FILE* stream) {
  if (pid_t child = 0; take_opened(stream, child)) {
    fclose(stream);
    return wait_for_shell(child);
  }
  static const auto next = reinterpret_cast<decltype(&::pclose)>(dlsym(RTLD_NEXT, "pclose"));
  return next(stream);
}
