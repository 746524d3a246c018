// SPDX-License-Identifier: Apache-2.0
#include "driver/kept_beginning.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>

#include "base/error.h"

namespace heddle::driver {
namespace {

constexpr std::chrono::seconds kLimit{60};

Descriptor make_file() {
  Descriptor file(memfd_create("heddle-beginning", MFD_CLOEXEC));
  if (!file.valid()) {
    throw environment_error(
        fmt::format("no memory for the program's beginning: {}", strerror(errno)));
  }
  return file;
}

}  // namespace

KeptBeginning::KeptBeginning(const Image& image, const Inputs& inputs)
    : file_(make_file()),
      target_(image, inputs, 1, kLimit, {-1, {file_.get(), -1}}, abi::Beginning::Kept) {
  const Execution execution = target_.run({}, {});
  const abi::FailureRecord& failure = target_.channel().header().failure;
  if (failure.kind == abi::FailureKind::Unsupported) throw environment_error(failure.message);
  if (execution.timed_out || execution.status != 0) {
    throw defect("the program's beginning was not written down");
  }
}

std::string KeptBeginning::image() const {
  return contents(file_);
}

}  // namespace heddle::driver
