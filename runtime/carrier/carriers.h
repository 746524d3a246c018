// SPDX-License-Identifier: Apache-2.0
//
// The carriers there are. find_carrier (carrier.h) chooses among them by name.
#pragma once

#include "runtime/carrier/carrier.h"

namespace heddle::runtime {
Carrier& fiber_carrier();
Carrier& kernel_carrier();
}  // namespace heddle::runtime
