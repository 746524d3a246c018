// SPDX-License-Identifier: Apache-2.0
//
// Texts kept in files. HEDDLE_UPDATE_GOLDEN=1 rewrites them: read the difference before committing.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "trace/file.h"

namespace heddle::sample {

inline void expect_golden(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("HEDDLE_UPDATE_GOLDEN") != nullptr) trace::write_file(path, text);
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing";
  EXPECT_EQ(trace::read_file(path), text) << "differs from " << path;
}

}  // namespace heddle::sample
