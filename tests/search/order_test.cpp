// SPDX-License-Identifier: Apache-2.0
//
// Orders of a plan: the follow strategy on a model of two threads that read and write one variable.
#include <gtest/gtest.h>

#include "abi/channel.h"
#include "tests/search/model_program.h"

namespace heddle::search_model {
namespace {

using abi::DecisionKind;
using abi::PlanRecord;

/// Who did each event of a run under these orders: pairs (waits, until), by place in the run that
/// nobody disturbs.
class Orders {
 public:
  Orders()
      : model_({{{{Step::Write, 0, 1}, {Step::Write, 1, 1}}, {{Step::Read, 0}, {Step::Read, 1}}}}) {
    model_.run(options("follow"), {});
    events_.assign(model_.channel().events().begin(), model_.channel().events().end());
    for (const abi::ThreadRecord& thread : model_.channel().threads()) {
      hashes_.push_back(thread.hash);
    }
  }

  std::vector<abi::ThreadIndex> run(
      const std::vector<std::pair<std::size_t, std::size_t>>& orders) {
    std::vector<PlanRecord> plan;
    for (const auto& [waits, until] : orders) {
      plan.push_back(point(waits, DecisionKind::Hold));
      plan.push_back(point(until, DecisionKind::Until));
    }
    return model_.run(options("follow"), plan).order;
  }

  /// With a switch before an event to a thread that there is not.
  std::vector<abi::ThreadIndex> run_with_switch_to_nobody(std::size_t before) {
    PlanRecord record = point(before, DecisionKind::Thread);
    record.target = ~std::uint64_t{0};
    return model_.run(options("follow"), std::vector{record}).order;
  }

  /// The n-th event of a thread in the undisturbed run.
  std::size_t event(abi::ThreadIndex thread, std::size_t n) const {
    for (std::size_t i = 0;; ++i) {
      if (events_.at(i).thread == thread && n-- == 0) return i;
    }
  }

 private:
  PlanRecord point(std::size_t event, DecisionKind kind) const {
    std::uint32_t occurrence = 0;
    for (std::size_t i = 0; i <= event; ++i) {
      const bool same =
          events_[i].thread == events_[event].thread && events_[i].site == events_[event].site;
      if (same) ++occurrence;
    }
    return {hashes_.at(events_[event].thread), 0, events_[event].site, occurrence, kind, {}};
  }

  Model model_;
  std::vector<abi::EventRecord> events_;
  std::vector<std::uint64_t> hashes_;
};

using Order = std::vector<abi::ThreadIndex>;

Order first_of(const Order& order, std::size_t count) {
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(Orders, WithoutThemTheRunningThreadGoesOn) {
  Orders orders;
  EXPECT_EQ(first_of(orders.run({}), 3), (Order{0, 0, 0}));
}

TEST(Orders, WhoIsToGiveWayToAThreadThatIsNotThereYetGivesWay) {
  Orders orders;
  EXPECT_EQ(first_of(orders.run_with_switch_to_nobody(orders.event(0, 1)), 2), (Order{0, 1}));
}

TEST(Orders, AThreadWaitsAtItsPlaceUntilTheOtherHasPassed) {
  Orders orders;
  // The second write waits for the first read: 0, then 1 up to it, then 0 when 1 has ended.
  const Order order = orders.run({{orders.event(0, 1), orders.event(1, 0)}});
  EXPECT_EQ(first_of(order, 3), (Order{0, 1, 1}));
}

TEST(Orders, OfTwoThatCannotBothBeMetTheWeakerIsGivenUp) {
  Orders orders;
  const auto write = orders.event(0, 0);
  const auto read = orders.event(1, 0);
  EXPECT_EQ(orders.run({{write, read}, {read, write}}).front(), 1u);
  EXPECT_EQ(orders.run({{read, write}, {write, read}}).front(), 0u);
}

}  // namespace
}  // namespace heddle::search_model
