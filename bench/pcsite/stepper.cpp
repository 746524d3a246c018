// SPDX-License-Identifier: Apache-2.0
//
// stepper MAIN TEXT_BEGIN TEXT_END LIMIT LOG PROGRAM ARGUMENT...
//
// Executes a program instruction by instruction, all its threads, from its main function on, and
// logs where it is: 64-bit words, the thread's number in the upper 16 bits, below it the address
// within the program's file. Addresses outside [TEXT_BEGIN, TEXT_END) are not logged. Addresses are
// given in hexadecimal, as in the file. A program of one thread runs freely for a moment after
// every few thousand instructions, so that more of it is seen; a word of ones stands for what was
// missed.
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kBurst = 4000;
constexpr useconds_t kFreely = 2000;
constexpr std::uint64_t kGap = ~std::uint64_t{0};

// Threads that wait for each other by spinning hardly get on in steps; what was seen by then
// counts.
constexpr unsigned kSeconds = 10;
volatile std::sig_atomic_t time_is_over = 0;

void limit_time() {
  struct sigaction action{};
  action.sa_handler = [](int) { time_is_over = 1; };
  sigaction(SIGALRM, &action, nullptr);  // without SA_RESTART: a wait ends, too
  alarm(kSeconds);
}

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(3);
}

std::uint64_t hexadecimal(const char* text) {
  return std::strtoull(text, nullptr, 16);
}

/// What is added to the file's addresses when it is loaded.
std::uint64_t load_bias(const std::string& program, pid_t process) {
  Elf64_Ehdr header{};
  std::ifstream(program, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
  if (header.e_type == ET_EXEC) return 0;
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  std::string line;
  std::getline(maps, line);  // nothing is loaded below the program
  return hexadecimal(line.c_str());
}

[[noreturn]] void become(char** words) {
  personality(ADDR_NO_RANDOMIZE);
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, 0);
  dup2(nothing, 1);
  dup2(nothing, 2);
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  execv(words[0], words);
  _exit(127);
}

void run_to(pid_t process, std::uint64_t address) {
  const long word = ptrace(PTRACE_PEEKTEXT, process, address, nullptr);
  ptrace(PTRACE_POKETEXT, process, address, (word & ~0xffl) | 0xcc);
  ptrace(PTRACE_CONT, process, nullptr, nullptr);
  int status = 0;
  if (waitpid(process, &status, 0) != process || !WIFSTOPPED(status)) give_up("the program ended");
  ptrace(PTRACE_POKETEXT, process, address, word);
  user_regs_struct registers{};
  ptrace(PTRACE_GETREGS, process, nullptr, &registers);
  registers.rip = address;
  ptrace(PTRACE_SETREGS, process, nullptr, &registers);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) return 2;
  const std::uint64_t begin = hexadecimal(argv[2]);
  const std::uint64_t end = hexadecimal(argv[3]);
  const std::size_t limit = std::strtoull(argv[4], nullptr, 10);
  char** const words = argv + 6;
  const pid_t process = fork();
  if (process == 0) become(words);
  int status = 0;
  if (waitpid(process, &status, 0) != process || !WIFSTOPPED(status)) give_up(words[0]);
  ptrace(PTRACE_SETOPTIONS, process, nullptr, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
  const std::uint64_t bias = load_bias(words[0], process);
  run_to(process, bias + hexadecimal(argv[1]));

  std::vector<std::uint64_t> log;
  std::map<pid_t, std::uint64_t> threads = {{process, 0}};
  limit_time();
  ptrace(PTRACE_SINGLESTEP, process, nullptr, nullptr);
  for (pid_t thread = 0;
       log.size() < limit && time_is_over == 0 && (thread = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) continue;
    const std::uint64_t number = threads.try_emplace(thread, threads.size()).first->second;
    const auto at = static_cast<std::uint64_t>(
        ptrace(PTRACE_PEEKUSER, thread, offsetof(user_regs_struct, rip), nullptr));
    if (at - bias >= begin && at - bias < end) log.push_back(number << 48 | (at - bias));
    const int signal = WSTOPSIG(status);
    const bool is_ours = signal == SIGTRAP || signal == SIGSTOP;
    if (threads.size() == 1 && signal == SIGTRAP && log.size() % kBurst == kBurst - 1) {
      log.push_back(kGap);
      ptrace(PTRACE_CONT, thread, nullptr, nullptr);
      usleep(kFreely);
      kill(thread, SIGSTOP);
      continue;
    }
    ptrace(PTRACE_SINGLESTEP, thread, nullptr, is_ours ? 0 : signal);
  }
  kill(process, SIGKILL);
  std::ofstream(argv[5], std::ios::binary)
      .write(reinterpret_cast<const char*>(log.data()),
             static_cast<std::streamsize>(log.size() * sizeof log[0]));
  return 0;
}
