// SPDX-License-Identifier: Apache-2.0
//
// What the driver puts into the environment of a program, and the runtime takes out again.
#pragma once

namespace heddle::abi {

/// The loader is to find all functions before the program begins.
inline constexpr char kBindEagerly[] = "LD_BIND_NOW=heddle";

}  // namespace heddle::abi
