// SPDX-License-Identifier: Apache-2.0
#include "driver/build/variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "abi/woven.h"
#include "base/error.h"
#include "driver/build/build_id.h"
#include "driver/build/cache.h"
#include "driver/build/relink.h"
#include "driver/build/response_file.h"
#include "driver/build/saved_link.h"
#include "driver/build/subprocess.h"
#include "driver/build/toolchain.h"
#include "trace/file.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr char kResponseName[] = "heddle-response.txt";
constexpr char kWeavingName[] = "heddle-weaving.txt";

void refuse_static(const SavedLink& saved, const fs::path& program) {
  if (is_dynamic(saved)) return;
  throw user_error(
      fmt::format("{} is linked statically, and Heddle's runtime is a shared library; link it "
                  "without -static",
                  program.string()));
}

// The linker's own words, cut to what a person reads.
std::string first_lines(const std::string& text) {
  constexpr int kLines = 12;
  std::size_t end = 0;
  for (int i = 0; i < kLines && end != std::string::npos; ++i) {
    end = text.find('\n', end == 0 ? 0 : end + 1);
  }
  return text.substr(0, end);
}

constexpr std::string_view kWeavingComplaint = "heddle weaving: ";

Error link_failed(const ToolResult& linker, const fs::path& program, const Cache& cache) {
  if (linker.output.find("No space left") != std::string::npos) {
    return environment_error(fmt::format("no space is left to derive a variant of {}; {}",
                                         program.string(), cache.advice()));
  }
  // What is wrong with a condition is only known where the program's variables are.
  if (const std::size_t at = linker.output.find(kWeavingComplaint); at != std::string::npos) {
    const std::size_t begin = at + kWeavingComplaint.size();
    return user_error(linker.output.substr(begin, linker.output.find('\n', begin) - begin));
  }
  if (linker.output.find("undefined symbol: __heddle_") != std::string::npos) {
    return environment_error(
        fmt::format("Heddle's pass and its runtime {} do not belong to the same version; build "
                    "Heddle again (make), or correct HEDDLE_LIB",
                    runtime_library().string()));
  }
  // Several pieces of bitcode one after the other, as GNU ld -r leaves them, or of another LLVM.
  for (const char* complaint :
       {"Invalid encoding", "Invalid bitcode", "Invalid record", "Unknown attribute kind",
        "Incompatible epoch", "can't skip to bit", "Malformed block"}) {
    if (linker.output.find(complaint) == std::string::npos) continue;
    return user_error(fmt::format(
        "an object of {} holds bitcode Heddle cannot read: it comes from another compiler, or from "
        "ld -r. Compile everything with heddle-cc and heddle-c++, and make partial links with "
        "'heddle-cc -r'. The linker said:\n{}",
        program.string(), first_lines(linker.output)));
  }
  return environment_error(
      fmt::format("cannot derive a variant of {}. The linker said:\n{}\nBuild the program again "
                  "with heddle-cc or heddle-c++; if this stays, the program's link is one Heddle "
                  "cannot do yet",
                  program.string(), first_lines(linker.output)));
}

void write_text(const fs::path& file, const std::string& text, const Cache& cache) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw environment_error(fmt::format("cannot write {}; {}", file.string(), cache.advice()));
}

// The last bytes of an entry of the cache are a sum of all others. Who runs the program does not
// look at them.
using Sum = std::size_t;

Sum sum_of(std::string_view bytes) {
  return std::hash<std::string_view>{}(bytes);
}

void seal(const fs::path& program, const Cache& cache) {
  const Sum sum = sum_of(trace::read_file(program));
  std::ofstream out(program, std::ios::binary | std::ios::app);
  out.write(reinterpret_cast<const char*>(&sum), sizeof sum);
  out.close();
  if (!out)
    throw environment_error(fmt::format("cannot write {}; {}", program.string(), cache.advice()));
}

/// False for a file that is not as it was written. Such an entry of the cache is made again.
bool is_whole(const fs::path& program) {
  const std::string text = trace::read_file(program);
  Sum sum = 0;
  if (text.size() < sizeof sum) return false;
  const std::string_view sealed = std::string_view(text).substr(0, text.size() - sizeof sum);
  std::memcpy(&sum, text.data() + sealed.size(), sizeof sum);
  return sum == sum_of(sealed);
}

struct Request {
  Variant variant;
  LibraryNames names;
  abi::SiteId first_site = abi::kFirstSite;
  Words added;      // to the linker's command line
  Weaving weaving;  // of the pinned variant
};

/// Puts what the pass weaves, and the code it calls, beside the saved link; gives what to link.
Words add_weaving(const fs::path& directory, const Weaving& weaving, const Cache& cache) {
  write_text(directory / kWeavingName, weaving.text, cache);
  Words objects = {"heddle_woven_breakpoints.o", "heddle_scopes.o", "heddle_thread_birth.o"};
  if (weaving.watches_freed_memory) objects.push_back("heddle_freed_memory.o");
  for (const std::string& object : objects) {
    fs::create_symlink(own_library(object.c_str()), directory / object);
  }
  return objects;
}

void link_variant(const Cache& cache, const WorkDirectory& work, const fs::path& program,
                  const std::string& build_id, const Request& request, const fs::path& output,
                  const Progress& progress) {
  const Variant& variant = request.variant;
  const auto say = [&](std::string_view what) {
    if (progress) progress(what);
  };
  say("unpacking the saved link");
  const SavedLink saved = load_link(cache, work, program, build_id);
  if (variant.needs_runtime()) refuse_static(saved, program);

  Words words = relink(saved, request.names, variant);
  words.insert(words.end(), {"-o", output.string()});
  words.insert(words.end(), request.added.begin(), request.added.end());
  Words tool = {"/usr/bin/env", fmt::format("{}={}", abi::kPassVariantVariable, variant.name()),
                fmt::format("{}={}", abi::kPassFirstSiteVariable, request.first_site)};
  if (variant.base == abi::VariantBase::Pinned) {
    for (const std::string& object : add_weaving(saved.directory, request.weaving, cache)) {
      words.push_back(object);
    }
    tool.push_back(fmt::format("{}={}", HEDDLE_PASS_WEAVING, kWeavingName));
  }
  tool.push_back(llvm_tool("ld.lld").string());
  tool.push_back(fmt::format("@{}", kResponseName));
  write_text(saved.directory / kResponseName, join_words(words), cache);
  say(fmt::format("linking the {} variant from bitcode", variant.name()));
  const ToolResult linker = run_tool(tool, saved.directory, /*capture=*/true);
  if (linker.status != 0) throw link_failed(linker, program, cache);
  name_absolutely(output, words);
}

/// A variant of a program, as the cache knows it.
class Entry {
 public:
  Entry(const Cache& cache, const fs::path& program, const std::string& variant_name)
      : cache_(cache), build_id_(read_build_id(program)), names_(LibraryNames::of(program)) {
    // A variant is in the cache; libraries are still where the program is. Another copy of the
    // program that finds them elsewhere has another variant.
    const std::string home = fs::canonical(program).parent_path().string();
    names_.run_path = without_origin(names_.run_path, home);
    const std::string beginning =
        fmt::format("{}-{}-{:016x}-", variant_name, read_build_id(pass_plugin()).substr(0, 16),
                    std::hash<std::string>{}(names_.run_path));
    const std::string file = loadable(program.filename().string());
    if (const std::optional<std::uint64_t> contents = linked_contents(cache, build_id_)) {
      place_ = cache.variant(build_id_, fmt::format("{}{:016x}", beginning, *contents), file);
    } else {
      place_ = cache.latest_variant(build_id_, beginning, file);
    }
  }

  const std::string& build_id() const { return build_id_; }
  const LibraryNames& names() const { return names_; }

  /// Empty: not there.
  fs::path find() const {
    std::error_code error;
    if (!fs::exists(place_, error) || !is_whole(place_)) return {};
    cache_.touch(cache_.link(build_id_));
    cache_.touch(place_);
    return place_;
  }

  fs::path publish(const fs::path& output) const {
    seal(output, cache_);
    cache_.publish(output, place_);
    cache_.evict();
    return place_;
  }

 private:
  /// Libraries are given to the loader in a list, which has these between its entries.
  static std::string loadable(std::string name) {
    std::ranges::replace_if(name, [](char c) { return c == ' ' || c == ':'; }, '_');
    return name;
  }

  const Cache& cache_;
  std::string build_id_;
  LibraryNames names_;
  fs::path place_;
};

fs::path derive(const fs::path& program, const std::string& variant_name, Request request,
                const Progress& progress) {
  const Cache cache = Cache::of_user();
  if (fs::path cached = Entry(cache, program, variant_name).find(); !cached.empty()) return cached;

  const FileLock lock(cache, read_build_id(program));
  const Entry entry(cache, program, variant_name);  // of the link that is there from now on
  if (fs::path made_meanwhile = entry.find(); !made_meanwhile.empty()) return made_meanwhile;
  const WorkDirectory work(cache);
  const fs::path output = work.path() / "variant";
  request.names = entry.names();
  link_variant(cache, work, program, entry.build_id(), request, output, progress);
  return entry.publish(output);
}

}  // namespace

fs::path derive_variant(const fs::path& program, Variant variant, const Progress& progress,
                        const Weaving& weaving) {
  std::string name = variant.name();
  if (!weaving.text.empty()) {
    name += fmt::format("-{:016x}{}", std::hash<std::string>{}(weaving.text),
                        weaving.watches_freed_memory ? "-freed" : "");
  }
  return derive(program, name, {variant, {}, abi::kFirstSite, {}, weaving}, progress);
}

fs::path derive_sites(const fs::path& file, const Progress& progress) {
  const fs::path full = Entry(Cache::of_user(), file, Variant::Full.name()).find();
  return full.empty() ? derive_variant(file, Variant::Sites, progress) : full;
}

fs::path derive_library(const fs::path& library, const std::string& soname, abi::SiteId first,
                        Variant variant, const Progress& progress) {
  // The loader takes it for the one that is asked for by that name.
  return derive(
      library,
      fmt::format("{}@{}-{:016x}", variant.name(), first, std::hash<std::string>{}(soname)),
      {variant, {}, first, {fmt::format("-soname={}", soname)}, {}}, progress);
}

void replace_by_variant(const fs::path& program, Variant variant) {
  const std::string build_id = read_build_id(program);
  const Cache cache = Cache::of_user();
  const WorkDirectory work(cache);
  const fs::path output = work.path() / "variant";
  Request request{variant, LibraryNames::of(program), abi::kFirstSite, {}, {}};
  if (variant.needs_runtime()) {
    // Nobody preloads the runtime into a program that is started by hand.
    request.added.push_back(fmt::format("--rpath={}", runtime_library().parent_path().string()));
  }
  link_variant(cache, work, program, build_id, request, output, {});
  // The result has a build-id of its own; the native link stands behind it as well.
  cache.share(cache.link(build_id), cache.link(read_build_id(output)));
  std::error_code error;
  fs::copy_file(output, program, fs::copy_options::overwrite_existing, error);
  if (error) {
    throw environment_error(fmt::format("cannot write {}: {}", program.string(), error.message()));
  }
}

}  // namespace heddle::build
