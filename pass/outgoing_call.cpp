// SPDX-License-Identifier: Apache-2.0
#include "pass/instrumenter.h"

namespace heddle::pass {

// A plain store: where the callee provably looks at no memory (sqrt), the optimiser may drop it. It
// stands before the call and nothing comes after, so a musttail call stays one.
void mark_outgoing_call(Place& place) {
  place.builder.CreateStore(place.id(), &place.hooks.call_site());
}

}  // namespace heddle::pass
