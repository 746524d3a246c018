// SPDX-License-Identifier: Apache-2.0
//
// What every file of entry points needs. An entry point is: gate, site, call of runtime/sync; with
// the gate closed, what libc would have done.
#pragma once

#include "runtime/entry/call_site.h"
#include "runtime/entry/gate.h"
#include "runtime/entry/real.h"

#define HEDDLE_ENTRY extern "C" __attribute__((visibility("default")))
