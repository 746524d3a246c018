// SPDX-License-Identifier: Apache-2.0
//
// The channel's state word (abi::ChannelState) as the target sees it.
#pragma once

#include "abi/channel.h"

namespace heddle::runtime {

abi::ChannelState state_of(const abi::ChannelHeader& channel);
void set_state(abi::ChannelHeader& channel, abi::ChannelState state);
/// For states that nobody waits for.
void set_state_quietly(abi::ChannelHeader& channel, abi::ChannelState state);
/// Returns when the driver wants an execution; false when it wants no more.
bool wait_for_request(const abi::ChannelHeader& channel);

}  // namespace heddle::runtime
