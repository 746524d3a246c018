// SPDX-License-Identifier: Apache-2.0
//
// A program right before its first instruction, as an image of its memory: what a run that begins
// there needs where the program is not installed. Its loader has done its work by then, and nothing
// has to be found, or to be put where it was, again.
#pragma once

#include <string>

#include "driver/descriptor.h"
#include "driver/target.h"

namespace heddle::driver {

class KeptBeginning {
 public:
  /// Starts the program. environment_error when that, or writing the image, does not work.
  KeptBeginning(const Image& image, const Inputs& inputs);

  /// As abi/memory_image.h says.
  std::string image() const;
  /// The process that stands there, for as long as this lives.
  pid_t process() const { return target_.process(); }

 private:
  Descriptor file_;
  Target target_;
};

}  // namespace heddle::driver
