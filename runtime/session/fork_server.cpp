// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/fork_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "runtime/base/system.h"
#include "runtime/carrier/carrier.h"
#include "runtime/entry/gate.h"
#include "runtime/session/options.h"

namespace heddle::runtime {
namespace {

constexpr std::uint64_t kPrivateEvents = 1 << 21;

std::uint32_t state_of(const abi::ChannelHeader& channel) {
  return __atomic_load_n(&channel.state, __ATOMIC_ACQUIRE);
}

void set_state(abi::ChannelHeader& channel, abi::ChannelState state) {
  __atomic_store_n(&channel.state, static_cast<std::uint32_t>(state), __ATOMIC_RELEASE);
  futex_wake_all(&channel.state);
}

/// For a program started by hand: it runs under control, and what it recorded ends with it.
abi::ChannelHeader& private_channel() {
  std::uint64_t bytes = sizeof(abi::ChannelHeader);
  const auto region = [&bytes](std::uint64_t record_bytes, std::uint64_t capacity) {
    const abi::Region result{bytes, capacity, 0};
    bytes += (record_bytes * capacity + 63) & ~63ull;
    return result;
  };
  const abi::Region events = region(sizeof(abi::EventRecord), kPrivateEvents);
  const abi::Region decisions = region(sizeof(abi::DecisionRecord), kPrivateEvents);
  const abi::Region threads = region(sizeof(abi::ThreadRecord), abi::kMaxThreads);
  const abi::Region objects = region(sizeof(abi::ObjectRecord), kPrivateEvents);
  const abi::Region text = region(1, 1 << 20);
  auto& channel = *static_cast<abi::ChannelHeader*>(map_memory(bytes));
  channel.options = abi::Options{};
  channel.events = events;
  channel.decisions = decisions;
  channel.threads = threads;
  channel.objects = objects;
  channel.text = text;
  read_options(channel.options, std::getenv("HEDDLE_OPTIONS"));
  return channel;
}

}  // namespace

abi::ChannelHeader& open_channel(bool& has_driver) {
  struct stat status{};
  has_driver = false;
  if (fstat(abi::kChannelDescriptor, &status) != 0) return private_channel();
  void* const memory = mmap(nullptr, static_cast<std::size_t>(status.st_size),
                            PROT_READ | PROT_WRITE, MAP_SHARED, abi::kChannelDescriptor, 0);
  if (memory == MAP_FAILED) return private_channel();
  auto& channel = *static_cast<abi::ChannelHeader*>(memory);
  if (channel.magic != abi::kChannelMagic) return private_channel();
  if (channel.version != abi::kVersion) {
    print_error("heddle: the runtime library and the heddle command are of different versions\n");
    exit_now(125);
  }
  close(abi::kChannelDescriptor);  // the mapping stays; the program never sees the descriptor
  has_driver = true;
  return channel;
}

void serve_executions(abi::ChannelHeader& channel) {
  set_state(channel, abi::ChannelState::Ready);
  for (;;) {
    std::uint32_t state = state_of(channel);
    while (state != static_cast<std::uint32_t>(abi::ChannelState::RunRequested) &&
           state != static_cast<std::uint32_t>(abi::ChannelState::Quit)) {
      futex_wait(&channel.state, state);
      state = state_of(channel);
    }
    if (state == static_cast<std::uint32_t>(abi::ChannelState::Quit)) exit_now(0);

    // Threads the last execution had, this one will probably have too.
    Carrier* const carrier = find_carrier(channel.options.carrier);
    if (carrier != nullptr && channel.threads.count > 1) {
      Gate::close();
      carrier->prepare(channel.threads.count - 1);
      Gate::open();
    }

    // _Fork, not fork: no handlers of the program run, and libc leaves the lenders' memory alone.
    const pid_t child = _Fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      return;
    }
    channel.child = child;
    set_state(channel, abi::ChannelState::Running);
    int status = 0;
    while (raw_syscall(SYS_wait4, child, reinterpret_cast<long>(&status), 0, 0) != child) {
    }
    channel.status = status;
    set_state(channel, abi::ChannelState::Finished);
  }
}

}  // namespace heddle::runtime
