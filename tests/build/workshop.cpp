// SPDX-License-Identifier: Apache-2.0
#include "tests/build/workshop.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "driver/build/build.h"

namespace heddle::build {

namespace fs = std::filesystem;

Workshop::Workshop() {
  std::string pattern = (fs::temp_directory_path() / "heddle-test.XXXXXX").string();
  root_ = ::mkdtemp(pattern.data());
  source_ = root_ / "source";
  cache_ = root_ / "cache";
  fs::create_directory(source_);
  ::setenv("HEDDLE_CACHE", cache_.c_str(), 1);
  ::setenv("HEDDLE_LIB", HEDDLE_TEST_LIB, 1);
  ::setenv("CC", HEDDLE_TEST_BIN "/heddle-cc", 1);
  ::setenv("CXX", HEDDLE_TEST_BIN "/heddle-c++", 1);
  ::unsetenv("HEDDLE_CACHE_LIMIT");
}

Workshop::~Workshop() {
  std::error_code ignored;
  for (const char* directory : {"links", "tmp", ""}) {
    fs::permissions(cache_ / directory, fs::perms::owner_all, ignored);
  }
  fs::remove_all(root_, ignored);
}

fs::path Workshop::write(const std::string& name, const std::string& text) const {
  const fs::path file = source_ / name;
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
  return file;
}

Workshop::Result Workshop::shell(const std::string& command) const {
  const std::string line = fmt::format("cd '{}' && {{ {}\n}} 2>&1", source_.string(), command);
  std::FILE* pipe = ::popen(line.c_str(), "r");
  Result result{-1, ""};
  std::array<char, 4096> part{};
  for (std::size_t count; (count = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
    result.output.append(part.data(), count);
  }
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string Workshop::must(const std::string& command) const {
  const Result result = shell(command);
  EXPECT_EQ(result.status, 0) << command << "\n" << result.output;
  return result.output;
}

Workshop::Result Workshop::run_variant(const fs::path& program,
                                       const std::string& arguments) const {
  const fs::path variant = derive_variant(program, Variant::Full);
  return shell(fmt::format("HEDDLE_FAKE_COUNTS=1 LD_PRELOAD='{}' '{}' {}",
                           runtime_library().string(), variant.string(), arguments));
}

std::vector<std::string> Workshop::files_below(const fs::path& directory) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(directory, none)) {
    if (entry.is_regular_file()) {
      files.push_back(fs::relative(entry.path(), directory).string());
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace heddle::build
