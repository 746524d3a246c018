// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/channel_state.h"

#include "runtime/base/system.h"

namespace heddle::runtime {
namespace {

/// The driver answers within microseconds or not for long: looking that often before sleeping saves
/// two wake-ups an execution.
constexpr int kLooks = 500;

}  // namespace

abi::ChannelState state_of(const abi::ChannelHeader& channel) {
  return static_cast<abi::ChannelState>(__atomic_load_n(&channel.state, __ATOMIC_ACQUIRE));
}

void set_state_quietly(abi::ChannelHeader& channel, abi::ChannelState state) {
  __atomic_store_n(&channel.state, static_cast<std::uint32_t>(state), __ATOMIC_RELEASE);
}

void set_state(abi::ChannelHeader& channel, abi::ChannelState state) {
  set_state_quietly(channel, state);
  futex_wake_all(&channel.state);
}

bool wait_for_request(const abi::ChannelHeader& channel) {
  for (int looks = 0;; ++looks) {
    const abi::ChannelState state = state_of(channel);
    if (state == abi::ChannelState::RunRequested) return true;
    if (state == abi::ChannelState::Quit) return false;
    if (looks < kLooks) {
      __builtin_ia32_pause();
    } else {
      futex_wait(&channel.state, static_cast<std::uint32_t>(state));
    }
  }
}

}  // namespace heddle::runtime
