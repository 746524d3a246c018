// SPDX-License-Identifier: Apache-2.0
//
// Prototypes of the hooks, from their table.
#pragma once

#include <cstdint>

using Void = void;
using Ptr = void*;
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

#define HEDDLE_HOOK(symbol, result, ...) \
  extern "C" __attribute__((visibility("default"))) result symbol(__VA_ARGS__);
#define HEDDLE_ACCESS_HOOK(symbol, result, ...) \
  extern "C" __attribute__((visibility("default"), preserve_most)) result symbol(__VA_ARGS__);
#include "abi/hooks.def"
