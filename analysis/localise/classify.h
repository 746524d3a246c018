// SPDX-License-Identifier: Apache-2.0
//
// What kind of bug a class of pairs is: the 15 shapes of LOCON's Table 1. The accesses alone do not
// tell an order violation from an atomicity violation; passing runs do. Steps that were meant to be
// one pass when they come before what the failing run put between them, and when they come after
// it; where only one of the two ever passes, an order was meant. docs/locate.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/finding.h"
#include "analysis/localise/serial_orders.h"

namespace heddle::analysis {

/// One access of a pair, as the shapes see it.
struct ShapeAccess {
  bool second_thread = false;
  std::size_t order = 0;  // in its thread
  std::string variable;
  bool writes = false;
};

/// Shapes 8 to 15: two accesses of each of two threads, on two variables.
std::optional<unsigned> two_variable_shape(std::vector<ShapeAccess> accesses);
/// Shapes 4 to 7: two accesses of one thread and one of another between them.
std::optional<unsigned> one_variable_shape(bool first_writes, bool between_writes,
                                           bool last_writes);

/// Fills in class, shape and regions from the pairs.
void classify(Finding& finding, const Observed& failed, SerialOrders& orders);

}  // namespace heddle::analysis
