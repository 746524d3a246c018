// SPDX-License-Identifier: Apache-2.0
//
// Plain accesses of one block, with nothing between them that could leave the program or that
// another thread could notice otherwise: whether they are seen is asked once for all of them
// (shutters.h).
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "pass/selection.h"

namespace heddle::pass {

struct Stretch {
  /// As many sites as a word has bytes: it is what is looked at together.
  static constexpr unsigned kSites = 8;

  llvm::Instruction* first;
  llvm::Instruction* last;
  abi::SiteId first_site;
  std::uint8_t members = 0;  // bit i: the site first_site + i is hooked, and in the stretch
};

/// Of every hooked plain access exactly one. `sites` in the order of their ids.
std::vector<Stretch> find_stretches(llvm::ArrayRef<Site> sites);

}  // namespace heddle::pass
