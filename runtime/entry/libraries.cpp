// SPDX-License-Identifier: Apache-2.0
//
// Stands in front of dlopen: of a library that was built with heddle-cc, its variant is loaded.
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>

#include "runtime/entry/entry.h"
#include "runtime/environment/stand_ins.h"

using namespace heddle::runtime;

namespace {

constexpr std::size_t kSearchBytes = 4 << 10;

/// Where `name` is in one of the directories that the code at `caller` has its libraries from.
bool search(const char* name, const void* caller, char (&found)[PATH_MAX]) {
  Dl_info info{};
  link_map* module = nullptr;
  if (dladdr1(caller, &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) == 0) return false;
  alignas(Dl_serinfo) char memory[kSearchBytes];
  auto* const paths = reinterpret_cast<Dl_serinfo*>(memory);
  if (dlinfo(module, RTLD_DI_SERINFOSIZE, paths) != 0 || paths->dls_size > sizeof memory ||
      dlinfo(module, RTLD_DI_SERINFOSIZE, paths) != 0 ||
      dlinfo(module, RTLD_DI_SERINFO, paths) != 0) {
    return false;
  }
  const std::size_t length = std::strlen(name);
  for (unsigned i = 0; i < paths->dls_cnt; ++i) {
    const char* const directory = paths->dls_serpath[i].dls_name;
    const std::size_t before = std::strlen(directory);
    if (before + 1 + length >= sizeof found) continue;
    std::memcpy(found, directory, before);
    found[before] = '/';
    std::memcpy(found + before + 1, name, length + 1);
    if (access(found, R_OK) == 0) return true;
  }
  return false;
}

const char* instead_of(const char* name, const void* caller) {
  char found[PATH_MAX];
  const char* given = name;
  if (std::strchr(name, '/') == nullptr) {
    if (!search(name, caller, found)) return name;
    given = found;
  }
  char path[PATH_MAX];
  if (realpath(given, path) == nullptr) return name;
  const char* const instead = stand_ins().find(path);
  if (instead != nullptr) return instead;
  if (session().one_at_a_time()) stand_ins().note(path);
  return name;
}

}  // namespace

extern "C" {

[[gnu::used]] decltype(&dlopen) heddle_loader_dlopen = nullptr;

/// The name that the loader is to be given.
[[gnu::used]] const char* heddle_library_to_open(const char* name, const void* caller) {
  if (heddle_loader_dlopen == nullptr) {
    heddle_loader_dlopen = reinterpret_cast<decltype(&dlopen)>(dlsym(RTLD_NEXT, "dlopen"));
  }
  const Gate gate;
  return gate && name != nullptr && *name != 0 ? instead_of(name, caller) : name;
}
}

// Whose search path the loader takes depends on where its dlopen returns to: so this one ends in a
// jump. The constructors of the library run outside the gate.
asm(R"(
  .pushsection .text
  .globl dlopen
  .type dlopen, @function
dlopen:
  pushq %rsi
  movq 8(%rsp), %rsi
  call heddle_library_to_open
  popq %rsi
  movq %rax, %rdi
  jmp *heddle_loader_dlopen(%rip)
  .size dlopen, . - dlopen
  .popsection
)");
