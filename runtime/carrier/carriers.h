// SPDX-License-Identifier: Apache-2.0
//
// The carriers there are. find_carrier (carrier.h) chooses among them by name.
#pragma once

#include "runtime/carrier/carrier.h"

namespace heddle::runtime {
Carrier& fiber_carrier();
Carrier& kernel_carrier();
/// Lets a thread that the kernel carrier has created run, beside its creator.
void set_free(abi::ThreadIndex thread);
}  // namespace heddle::runtime
