// SPDX-License-Identifier: Apache-2.0
//
// heddle-ld: what clang calls to link under heddle-cc and heddle-c++. Links natively with lld and
// keeps what is needed to link again, under the output's build-id. A link that cannot be kept is
// still a good link: the user is warned, the build goes on.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "driver/build/build_id.h"
#include "driver/build/cache.h"
#include "driver/build/response_file.h"
#include "driver/build/saved_link.h"
#include "driver/build/subprocess.h"
#include "driver/build/toolchain.h"
#include "driver/build/variant.h"

namespace {

namespace fs = std::filesystem;
namespace build = heddle::build;
using Words = std::vector<std::string>;

constexpr char kDefaultOutput[] = "a.out";
constexpr char kMachine[] = "elf_x86_64";

struct Request {
  fs::path output = kDefaultOutput;
  std::string machine = kMachine;
  std::string build_id;  // as asked for; empty: not at all
  bool relocatable = false;
  bool shared = false;
  bool own_layout = false;  // a linker script of the user's
  bool is_static = false;
};

Request read_request(const Words& words) {
  Request request;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool has_next = i + 1 < words.size();
    if ((word == "-o" || word == "--output") && has_next) {
      request.output = words[++i];
    } else if (word.starts_with("--output=")) {
      request.output = word.substr(word.find('=') + 1);
    } else if (word == "-m" && has_next) {
      request.machine = words[++i];
    } else if (word == "-r" || word == "--relocatable" || word == "-relocatable") {
      request.relocatable = true;
    } else if (word == "-shared" || word == "--shared" || word == "-Bshareable") {
      request.shared = true;
    } else if (word == "-T" || word == "--script" || word.starts_with("--script=")) {
      request.own_layout = true;
    } else if (word == "-static" || word == "--no-dynamic-linker") {
      request.is_static = true;
    } else if (word == "--build-id") {
      request.build_id = "sha1";
    } else if (word.starts_with("--build-id=")) {
      request.build_id = word.substr(word.find('=') + 1);
    }
  }
  return request;
}

// Configuration scripts link hundreds of programs that nobody will ever analyse.
bool is_probe(const fs::path& output) {
  const std::string name = output.filename().string();
  if (name.starts_with("conftest") || name.starts_with("cmTC_") || output == "/dev/null") {
    return true;
  }
  return std::ranges::any_of(fs::absolute(output), [](const fs::path& part) {
    return part == "CMakeScratch" || part == "CMakeTmp" || part == "CompilerIdC" ||
           part == "CompilerIdCXX" || part == "meson-private";
  });
}

// HEDDLE_VARIANT=production make: that variant is the program.
std::optional<build::Variant> wanted_variant() {
  const char* name = std::getenv("HEDDLE_VARIANT");
  if (name == nullptr || *name == '\0' || std::string_view(name) == "native") return std::nullopt;
  const std::optional<build::Variant> variant = build::Variant::of_name(name);
  // A pinned program needs to be told what to pin: that is `heddle pin`. A table of sites is no
  // program.
  if (!variant || variant->base == heddle::abi::VariantBase::Pinned ||
      variant->base == heddle::abi::VariantBase::Sites) {
    throw heddle::user_error(fmt::format(
        "HEDDLE_VARIANT: there is no variant '{}'; there are native, production, path "
        "and full, and +loops, +calls, +blocks, +branches, +audit behind any of the last three",
        name));
  }
  return variant;
}

int link(const Words& given, const Words& added) {
  Words command = {build::llvm_tool("ld.lld").string()};
  command.insert(command.end(), given.begin(), given.end());
  command.insert(command.end(), added.begin(), added.end());
  return build::run_tool(command).status;
}

// To lld an object that holds nothing but GCC's intermediate code has no symbols: it complains of
// what it does not find there.
void name_objects_without_code(const Words& words) {
  constexpr std::string_view kMark = "__gnu_lto_slim";
  for (const std::string& word : words) {
    std::error_code error;
    const bool may_hold_code = word.ends_with(".o") || word.ends_with(".a");
    if (!may_hold_code || !fs::is_regular_file(word, error)) continue;
    std::ifstream file(word, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (bytes.find(kMark) == std::string::npos) continue;
    fmt::print(stderr,
               "heddle-ld: {} holds no machine code: it was compiled by gcc -flto. Compile it with "
               "heddle-cc or heddle-c++, or with gcc -flto -ffat-lto-objects\n",
               word);
  }
}

int link_and_keep(const Words& given, const Request& request) {
  Words added = {"--no-fat-lto-objects"};
  if (!request.own_layout) added.push_back(build::own_library("heddle_mark.o").string());
  if (!request.is_static) {
    // Named in the program only if an object built with -fsanitize=thread needs it.
    for (const std::string& word :
         {std::string("--push-state"), std::string("-Bdynamic"), std::string("--as-needed"),
          build::own_library("libheddle_tsan.so").string(), std::string("--pop-state")}) {
      added.push_back(word);
    }
  }
  if (request.build_id.empty() || request.build_id == "none") added.emplace_back("--build-id=sha1");
  if (is_probe(request.output)) return link(given, added);
  // A library's hooks would name sites of the program it is loaded into.
  std::optional<build::Variant> variant = wanted_variant();
  if (variant && request.shared && variant->needs_runtime()) variant.reset();

  std::string not_kept;
  try {
    const build::Cache cache = build::Cache::of_user();
    const build::WorkDirectory work(cache);
    const fs::path tar = work.path() / "link.tar";
    Words with_archive = added;
    with_archive.push_back(fmt::format("--reproduce={}", tar.string()));
    const int status = link(given, with_archive);
    // There is no archive when nothing was linked (--version), and no ELF file when the user asked
    // for another format.
    if (status != 0 || !fs::exists(tar)) return status;
    try {
      build::save_link(cache, work, tar, build::read_build_id(request.output));
    } catch (const heddle::Error& error) {
      not_kept = error.what();
    }
  } catch (const heddle::Error& error) {
    not_kept = error.what();
    const int status = link(given, added);
    if (status != 0) return status;
  }
  if (!not_kept.empty() && variant) {
    throw heddle::environment_error(fmt::format("{} cannot be linked as the {} variant: {}",
                                                request.output.string(), variant->name(),
                                                not_kept));
  }
  if (variant) build::replace_by_variant(request.output, *variant);
  if (!not_kept.empty()) {
    fmt::print(stderr,
               "heddle-ld: warning: {} is linked, but Heddle cannot derive variants of it: {}\n",
               request.output.string(), not_kept);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    const Words given(words + 1, words + count);
    const Words expanded = build::expand_response_files(given);
    const Request request = read_request(expanded);
    // Heddle's runtime knows one machine; other targets are linked and that is all.
    // So is a partial link (-r); lld leaves the bitcode out of it, so that its objects are machine
    // code and nothing else.
    if (request.machine != kMachine || request.relocatable) {
      return link(given, {"--no-fat-lto-objects"});
    }
    const int status = link_and_keep(given, request);
    if (status != 0) name_objects_without_code(expanded);
    return status;
  } catch (const heddle::Error& error) {
    fmt::print(stderr, "heddle-ld: error: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "heddle-ld: error: {}\n", error.what());
    return static_cast<int>(heddle::ExitCode::Defect);
  }
}
