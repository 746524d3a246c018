// SPDX-License-Identifier: Apache-2.0
#include "runtime/entry/real.h"

#include <dlfcn.h>

namespace heddle::runtime {

const RealFunctions& real() {
  static constinit RealFunctions functions{};
  static constinit bool found = false;
  if (found) return functions;
  found = true;
#define HEDDLE_ROW(name) \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(RTLD_NEXT, #name));
  HEDDLE_REAL_FUNCTIONS(HEDDLE_ROW)
#undef HEDDLE_ROW
  return functions;
}

}  // namespace heddle::runtime
