// SPDX-License-Identifier: Apache-2.0
#include "runtime/entry/ports.h"

#include <netinet/in.h>

#include "runtime/entry/entry.h"
#include "runtime/entry/kernel_result.h"

namespace heddle::runtime {
namespace {

struct Port {
  in_port_t real;
  in_port_t shown;
};
constexpr unsigned kRemembered = 256;  // the last ones
constexpr std::uint16_t kFirstShown = 49152;
constexpr std::uint16_t kShown = 65535 - kFirstShown;
constinit Port ports[kRemembered] = {};
constinit unsigned count = 0;

/// Where the port of an internet address is, of either kind; nullptr: it is of another family.
in_port_t* port_of(sockaddr* address, socklen_t length) {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  const bool is_internet = address->sa_family == AF_INET || address->sa_family == AF_INET6;
  return length >= sizeof(sockaddr_in) && is_internet
             ? &reinterpret_cast<sockaddr_in*>(address)->sin_port
             : nullptr;
}

}  // namespace

// Bound first, so that the port is known before anybody can see it.
void port_assign(int descriptor) {
  sockaddr_in6 own{};
  auto* const address = reinterpret_cast<sockaddr*>(&own);
  socklen_t length = sizeof own;
  const auto name = [&] {
    length = sizeof own;
    return raw_syscall(SYS_getsockname, descriptor, word(address), word(&length)) == 0;
  };
  if (!name()) return;
  const in_port_t* const port = port_of(address, length);
  if (port == nullptr || *port != 0) return;
  if (raw_syscall(SYS_bind, descriptor, word(address), length) != 0 || !name() || *port == 0)
    return;
  const auto shown = static_cast<std::uint16_t>(kFirstShown + count % kShown);
  ports[count++ % kRemembered] = {*port, htons(shown)};
}

void port_show(sockaddr* address, const socklen_t* length) {
  if (count == 0 || address == nullptr || length == nullptr) return;
  in_port_t* const port = port_of(address, *length);
  if (port == nullptr || *port == 0) return;
  // The newest first: the kernel may choose a port again.
  for (unsigned i = count; i > 0 && count - i < kRemembered; --i) {
    if (ports[(i - 1) % kRemembered].real != *port) continue;
    *port = ports[(i - 1) % kRemembered].shown;
    return;
  }
}

}  // namespace heddle::runtime
