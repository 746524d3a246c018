// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "sample_traces.h"
#include "store/run.h"

namespace heddle::sample {

inline store::NewRun new_run(const std::string& output = "counter = 1\n") {
  store::NewRun run;
  run.command = "explore";
  run.trace = lost_update();
  run.schedule = lost_update_schedule();
  run.inputs = {{"./counter", "--name", "two words"}, {"PATH=/bin", "EMPTY="}, "/home/me", "1 2\n"};
  run.output = {output, "counter.c:19: Assertion failed\n"};
  run.seconds = 0.25;
  return run;
}

/// A directory that is gone when the test ends.
class ScratchTest : public testing::Test {
 protected:
  ScratchTest() {
    std::string name = testing::TempDir() + "heddle-store-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~ScratchTest() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_;
};

}  // namespace heddle::sample
