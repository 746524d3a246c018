// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/base/vector.h"
#include "runtime/schedule/pos_strategy.h"

namespace heddle::runtime {

/// Tries to bring about given reads-from pairs (records of kind ReadsFrom: the read at `site` sees
/// what the write at `target` wrote) and to avoid others (ReadsEarly: the read comes before any
/// such write), otherwise partial order sampling. The idea of reads-from
/// fuzzing (Wolff, Shi, Duck, Mathur, Roychoudhury, "Greybox Fuzzing for Concurrency Testing",
/// ASPLOS 2024): a schedule is described by who reads from whom, and such pairs can be asked for
/// before it is known how to reach them. Which to ask for, the driver decides.
///
/// A thread that is to read waits until another has written at the wanted site, then goes at once;
/// meanwhile other writers of the same location wait; one that is to read early goes at once, and
/// until then those who would write at that site wait. A wish that holds up everybody is given up,
/// and all are when they hold up somebody for long: the others may be spinning.
class GuidedStrategy final : public Strategy {
 public:
  void begin_run(const abi::Options& options, Plan plan, ThreadFinder find) override;
  abi::ThreadIndex choose(const SchedulingPoint& point) override;
  std::uint32_t choose_value(const SchedulingPoint& point, std::uint32_t bound) override;

 private:
  struct Wish {
    abi::SiteId write;
    abi::SiteId read;
    std::uint64_t location;  // where the write happened; 0: not yet
    abi::ThreadIndex writer;
    bool early;  // the read comes before the write
    bool over;   // fulfilled or given up
  };
  struct LastWrite {
    std::uint64_t location;  // 0: free slot
    abi::SiteId site;
    abi::ThreadIndex thread;
  };

  enum class Advice { None, Hold, Go };
  /// False: no wish is about this, as for nearly all threads at nearly all choices.
  bool may_concern(const Pending& pending) const {
    return ((sites_ >> (pending.site % 64)) & 1) != 0 || awaits_read_;
  }
  void forget_fulfilled();
  Advice advice(const Pending& pending, abi::ThreadIndex thread);
  LastWrite& last_write(std::uint64_t location);
  void note(const Pending& done, abi::ThreadIndex thread);
  void give_up_one(const SchedulingPoint& point);

  PosStrategy base_;
  Random random_;
  Vector<Wish> wishes_;  // those that are not over
  static constexpr std::uint32_t kPatience = 512;
  std::uint32_t held_ = 0;    // choices at which somebody was held up
  std::uint64_t sites_ = 0;   // that wishes are about, a bit for each remainder
  bool awaits_read_ = false;  // a wish's write has happened
  Vector<LastWrite> writes_;  // open addressing, a power of two, at most half full
  std::size_t used_ = 0;
  LastWrite* looked_up_ = nullptr;  // in writes_, last
};

}  // namespace heddle::runtime
