// SPDX-License-Identifier: Apache-2.0
//
// Which orders of two steps pass: what tells a step that was meant to be one from an order that was
// meant to be kept.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "analysis/localise/experiment.h"

namespace heddle::analysis {

class SerialOrders {
 public:
  /// Learns from the passing runs, and, unless `experiments` is null, from executions made for it.
  SerialOrders(const std::vector<std::unique_ptr<Observed>>& passing, Experiments* experiments)
      : passing_(passing), experiments_(experiments) {}

  const std::vector<std::unique_ptr<Observed>>& passing() const { return passing_; }
  /// Whether some passing run has `first` and then `last`, if it comes to that, and `other` only
  /// later or not at all.
  bool passes_before(const Point& first, const Point& last, const Point& other);

 private:
  const std::vector<std::unique_ptr<Observed>>& passing_;
  Experiments* experiments_;
  std::map<std::tuple<Point, Point, Point>, bool> known_;
};

}  // namespace heddle::analysis
