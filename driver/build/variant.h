// SPDX-License-Identifier: Apache-2.0
//
// Derives instrumented programs from what was kept of a native build: the same link again, from
// bitcode instead of machine code and with Heddle's pass.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "abi/abi.h"
#include "abi/variant.h"

namespace heddle::build {

using abi::Variant;

/// Told what a slow derivation is about, in a few words each time.
using Progress = std::function<void(std::string_view)>;

/// What the `pinned` variant is given (abi/woven.h).
struct Weaving {
  std::string text;
  bool watches_freed_memory = false;
};

/// The path of the program's variant, made now or found in the cache. Two processes may ask at
/// once. The variant needs the runtime library but does not say where it is: whoever starts it
/// preloads it by absolute path. Throws heddle::Error.
std::filesystem::path derive_variant(const std::filesystem::path& program, Variant variant,
                                     const Progress& progress = {}, const Weaving& weaving = {});

/// The same of a library that a program loads under `soname`, its sites numbered from `first` on.
std::filesystem::path derive_library(const std::filesystem::path& library,
                                     const std::string& soname, abi::SiteId first, Variant variant,
                                     const Progress& progress = {});

/// A file with the site table of a program or a library: much sooner there than a variant that can
/// be run.
std::filesystem::path derive_sites(const std::filesystem::path& file,
                                   const Progress& progress = {});

/// Puts the variant in the place of the program that was just linked and saved. From then on it is
/// the program: other variants can be derived from it.
void replace_by_variant(const std::filesystem::path& program, Variant variant);

}  // namespace heddle::build
