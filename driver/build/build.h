// SPDX-License-Identifier: Apache-2.0
//
// From a program the user built to a program Heddle can run: everything the driver needs of this
// library.
#pragma once

#include "driver/build/build_id.h"
#include "driver/build/toolchain.h"
#include "driver/build/variant.h"
