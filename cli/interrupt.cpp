// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <signal.h>

namespace heddle::cli {
namespace {
std::atomic<bool> flag = false;
}

void stop_on_interrupt() {
  struct sigaction action{};
  action.sa_handler = [](int) { flag = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() {
  return flag;
}
const std::atomic<bool>& interrupt_flag() {
  return flag;
}

}  // namespace heddle::cli
