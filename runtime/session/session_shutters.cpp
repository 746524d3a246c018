// SPDX-License-Identifier: Apache-2.0
//
// The part of Session that says which plain accesses are events: all, or those that are scheduling
// points, or for a while the latter and then, for so many events, all; never those at sites that
// the schedule says are overlooked.
#include "runtime/base/remains.h"
#include "runtime/base/system.h"
#include "runtime/session/session.h"

namespace heddle::runtime {

void Session::begin_view(const abi::Options& options, Plan advice) {
  // What is pending is known here alone: of memory with delayed stores every access must be seen.
  overlooks_ = options.overlook != 0 && !delays_stores_;
  sees_from_ = options.see_from;
  sees_until_ = options.see_from + options.see_events;
  view_changes_at_ = overlooks_ && sees_from_ < sees_until_ ? sees_from_ : kNeverLook;
  frequent_.begin_run(advice, abi::DecisionKind::Quiet, 1);
  unseen_.begin_run(delays_stores_ ? Plan{} : left_out_, abi::DecisionKind::Overlook);
  shutters_.clear();
  main_has_begun_ = false;
}

bool Session::is_seen(abi::SiteId site) const {
  if (unseen_.contains(site)) return false;
  if (!overlooks_) return true;
  const std::uint64_t events = recorder_.event_count();
  if (sees_from_ <= events && events < sees_until_) return true;
  if (only_at_sync_) return false;
  return !(sees_from_ < sees_until_ ? frequent_ : quiet_).contains(site);
}

void Session::close_shutters(std::uint8_t* bytes, std::uint64_t count, abi::SiteId first) {
  const Shutters added{bytes, count, first};
  if (!main_has_begun_) {
    const PolicyMemory memory;
    shutters_.push_back(added);
  }
  if (overlooks_ || !unseen_.empty()) apply_view(added);
}

void Session::abandon() {
  running_ = false;
  for (const Shutters& shutters : shutters_) shutters.bytes[shutters.count] = 1;
}

void Session::apply_view(const Shutters& shutters) const {
  for (std::uint64_t i = 0; i < shutters.count; ++i) {
    shutters.bytes[i] = !is_seen(shutters.first + static_cast<abi::SiteId>(i));
  }
}

void Session::change_view() {
  view_changes_at_ = recorder_.event_count() < sees_until_ ? sees_until_ : kNeverLook;
  // Executed again with everything in view, the run must not differ by what this leaves behind.
  call_apart(
      [](void* self) {
        const auto& session = *static_cast<const Session*>(self);
        for (const Shutters& shutters : session.shutters_) session.apply_view(shutters);
      },
      this);
}

}  // namespace heddle::runtime
