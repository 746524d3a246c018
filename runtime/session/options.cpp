// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/options.h"

#include <cstdlib>

#include "runtime/base/system.h"
#include "runtime/base/text.h"

namespace heddle::runtime {
namespace {

bool set(std::uint64_t& option, const char* value) {
  char* end = nullptr;
  option = std::strtoull(value, &end, 10);
  return end != value && *end == 0;
}

template <std::size_t N>
bool set(char (&option)[N], const char* value) {
  copy_text(option, value);
  return same_text(option, value);
}

bool set_by_name(abi::Options& options, const char* name, const char* value) {
#define HEDDLE_OPTION(Type, option, default_value, help) \
  if (same_text(name, #option)) return set(options.option, value);
#include "abi/options.def"
  return false;
}

[[noreturn]] void refuse(const char* name) {
  print_error("heddle: HEDDLE_OPTIONS: cannot take '");
  print_error(name);
  print_error("'; there are:");
#define HEDDLE_OPTION(Type, option, default_value, help) print_error(" " #option);
#include "abi/options.def"
  print_error("\n");
  exit_now(2);
}

}  // namespace

void read_options(abi::Options& options, const char* text) {
  while (text != nullptr && *text != 0) {
    char item[128] = {};
    std::size_t length = 0;
    while (*text != 0 && *text != ':' && length + 1 < sizeof item) item[length++] = *text++;
    if (*text == ':') ++text;
    char* value = item;
    while (*value != 0 && *value != '=') ++value;
    if (*value != '=') refuse(item);
    *value++ = 0;
    if (!set_by_name(options, item, value)) refuse(item);
  }
}

}  // namespace heddle::runtime
