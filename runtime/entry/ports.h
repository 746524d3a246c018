// SPDX-License-Identifier: Apache-2.0
//
// The ports of sockets that connect without having been given one. The kernel chooses them at
// random, and servers remember who calls; so a controlled program is shown others in their place,
// counted from the first, and its runs come back. What it listens at is not touched.
#pragma once

#include <sys/socket.h>

namespace heddle::runtime {

/// Before a socket connects, by the thread whose turn it is.
void port_assign(int descriptor);
/// An address as the kernel gives it becomes one as the program is shown it.
void port_show(sockaddr* address, const socklen_t* length);

}  // namespace heddle::runtime
