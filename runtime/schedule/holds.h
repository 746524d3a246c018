// SPDX-License-Identifier: Apache-2.0
//
// Orders a plan asks for between operations of two threads: one waits at its place until the other
// has been done. Kept apart from who follows the plan, so that any strategy could honour them.
// Under a store buffer the operation may be a flush, named by its store's site: it holds up the
// flusher that could choose nothing else, and its owner where that would have to flush it itself.
#pragma once

#include "runtime/base/vector.h"
#include "runtime/schedule/strategy.h"
#include "runtime/schedule/visit_counter.h"

namespace heddle::runtime {

class Holds {
 public:
  /// Takes the Hold and Until records of the plan, which come in pairs; earlier pairs are stronger.
  void begin_run(Plan plan);
  bool empty() const { return orders_.empty(); }

  /// How strongly `thread`'s next operation has to wait: kFree, or the place in the plan of the
  /// strongest order that holds it.
  std::size_t holds(const SchedulingPoint& point, abi::ThreadIndex thread) const;
  static constexpr std::size_t kFree = ~std::size_t{0};

  /// Which of the stores that a flusher could make visible it should: `planned` unless it has to
  /// wait, else the one that has to least.
  std::uint32_t flush_choice_of(const SchedulingPoint& point, abi::ThreadIndex flusher,
                                std::uint32_t planned) const;

  /// The member of `point.enabled` that may go on although it is held: nobody else can, so an order
  /// must be given up, and it is the weakest.
  abi::ThreadIndex weakest(const SchedulingPoint& point) const;

  /// `thread` does its next operation now.
  void passes(const SchedulingPoint& point, abi::ThreadIndex thread);

 private:
  struct Order {
    abi::PlanRecord hold;
    abi::PlanRecord until;
    std::size_t next;  // of those that hold the same operation, + 1; 0: none
  };
  std::size_t holds_at(const SchedulingPoint& point, std::uint64_t thread, abi::SiteId site,
                       std::uint32_t occurrence) const;
  std::size_t holds_flush(const SchedulingPoint& point, abi::ThreadIndex flusher,
                          std::uint32_t choice) const;
  std::size_t holds_drain(const SchedulingPoint& point, abi::ThreadIndex thread) const;
  std::size_t slot(std::uint64_t thread, abi::SiteId site, std::uint32_t occurrence) const;

  Vector<Order> orders_;
  Vector<std::size_t> table_;  // of the first order for an operation, + 1; open addressing
  VisitCounter done_;
};

}  // namespace heddle::runtime
