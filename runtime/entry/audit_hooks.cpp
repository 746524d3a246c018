// SPDX-License-Identifier: Apache-2.0
//
// Entry points of the audit (runtime/memory/audit.h). None is a scheduling point: what an audited
// run does is what it does without.
#include "abi/names.h"
#include "runtime/entry/gate.h"
#include "runtime/entry/hooks.h"

namespace heddle::runtime {
namespace {

bool is_audited() {
  return !Gate::closed() && session().one_at_a_time() && session().audit().active();
}

void check(void* address, std::uint64_t bytes, std::uint32_t sharing, abi::SiteId site,
           bool writes) {
  if (!is_audited()) return;
  const Gate gate;
  Session& run = session();
  run.complete_write();
  const Audit::Access access{reinterpret_cast<std::uint64_t>(address), bytes, site,
                             run.current_index(), writes};
  Audit::Contradiction found;
  const abi::SharingVerdict verdict = abi::verdict_of(static_cast<abi::Sharing>(sharing));
  if (!run.audit().unwatched(access, verdict, found)) run.contradict(access, found);
}

}  // namespace
}  // namespace heddle::runtime

using namespace heddle::runtime;

void __heddle_audit_begin(U32) {
  session().audit().begin();
}

void __heddle_audit_read(Ptr address, U64 bytes, U32 sharing, U32 site) {
  check(address, bytes, sharing, site, false);
}

void __heddle_audit_write(Ptr address, U64 bytes, U32 sharing, U32 site) {
  check(address, bytes, sharing, site, true);
}

void __heddle_audit_forget(Ptr address, U64 bytes, U32) {
  if (is_audited()) session().audit().forget(reinterpret_cast<U64>(address), bytes);
}
