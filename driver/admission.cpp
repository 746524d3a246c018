// SPDX-License-Identifier: Apache-2.0
#include "driver/admission.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "ir/elf_file.h"

namespace heddle::driver {
namespace {

/// A sanitizer's runtime is part of the program, or a library it needs.
struct SanitizerRuntime {
  const char* symbol;
  const char* library;
  const char* name;
  const char* advice;
};
constexpr SanitizerRuntime kSanitizerRuntimes[] = {
    {"__tsan_init", "libtsan.so", "ThreadSanitizer",
     "its objects can stay as they are, but link them with heddle-cc or heddle-c++ in place of "
     "your compiler"},
    {"__msan_init", "libclang_rt.msan", "MemorySanitizer", "build it without -fsanitize=memory"},
    {"__lsan_init", "liblsan.so", "LeakSanitizer", "build it without -fsanitize=leak"},
    {"__asan_init", "libasan.so", "AddressSanitizer",
     "build it without -fsanitize=address; Heddle notices uses after free and double frees itself"},
};

void refuse_sanitizers(const ir::ElfFile& file, const std::string& name) {
  const std::vector<std::string> libraries = file.needed_libraries();
  for (const SanitizerRuntime& runtime : kSanitizerRuntimes) {
    const bool needs = std::ranges::any_of(libraries, [&](const std::string& library) {
      return library.starts_with(runtime.library);
    });
    if (!needs && !file.defines(runtime.symbol)) continue;
    throw user_error(
        fmt::format("{} is linked with {}'s runtime, which takes the place of Heddle's; {}", name,
                    runtime.name, runtime.advice));
  }
}

/// The kernel makes the loader ignore LD_PRELOAD then.
bool gains_rights(const std::string& name) {
  struct stat status{};
  if (stat(name.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getgid()) return true;
  return getuid() != 0 && getxattr(name.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

void refuse_uncontrollable(const std::filesystem::path& path) {
  const std::string name = path.string();
  const ir::ElfFile file(path);
  if (file.is_library()) {
    throw user_error(
        fmt::format("{} is a shared library; give Heddle a program that uses it", name));
  }
  if (!file.has_interpreter()) {
    throw user_error(
        fmt::format("{} is linked statically, and Heddle's runtime is a shared library; link it "
                    "without -static",
                    name));
  }
  if (gains_rights(name)) {
    throw user_error(fmt::format(
        "{} is setuid, setgid or has capabilities, so that the kernel keeps Heddle's runtime out; "
        "run a copy that is not: cp {} ./{} && heddle explore -- ./{}",
        name, name, path.filename().string(), path.filename().string()));
  }
  refuse_sanitizers(file, name);
}

}  // namespace heddle::driver
