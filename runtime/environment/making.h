// SPDX-License-Identifier: Apache-2.0
//
// The turn of a call that makes a descriptor. Only in runs that are recorded or told: there is no
// such event in others.
#pragma once

#include "runtime/environment/environment.h"

namespace heddle::runtime {

/// Whether the run is recorded, or told from a recording.
inline bool is_watched(const Session& session) {
  return session.told().active() || session.notes_answers();
}

class MakingTurn {
 public:
  MakingTurn(Session& session, abi::SiteId site)
      : session_(session), operation_(operation_on(nullptr, abi::EventKind::Descriptor, site)) {
    session_.arrive(operation_);
  }
  /// Ends it; returns `result`.
  long done(long result) const {
    session_.record(operation_, 0, static_cast<std::uint64_t>(result), 0);
    return result;
  }

 private:
  Session& session_;
  Operation operation_;
};

}  // namespace heddle::runtime
