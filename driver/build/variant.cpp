// SPDX-License-Identifier: Apache-2.0
#include "driver/build/variant.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "abi/woven.h"
#include "base/error.h"
#include "driver/build/build_id.h"
#include "driver/build/cache.h"
#include "driver/build/response_file.h"
#include "driver/build/saved_link.h"
#include "driver/build/subprocess.h"
#include "driver/build/toolchain.h"

namespace heddle::build {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr char kResponseName[] = "heddle-response.txt";
constexpr char kWeavingName[] = "heddle-weaving.txt";

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> known) {
  return std::ranges::find(known, word) != known.end();
}

// Output and choice of code are what changes; stripping would take the names reports are made of.
bool is_dropped(std::string_view word) {
  return is_one_of(word, {"--fat-lto-objects", "--no-fat-lto-objects", "-s", "--strip-all", "-S",
                          "--strip-debug"});
}

bool is_shared_library(std::string_view word) {
  return word.starts_with("-l") || word.starts_with("--library") || word.ends_with(".so") ||
         word.find(".so.") != std::string_view::npos;
}

// Options that take the next word as their value, of those whose value could look like a library.
bool takes_library_like_value(std::string_view word) {
  return is_one_of(word, {"-dynamic-linker", "--dynamic-linker", "-soname", "--soname", "-h",
                          "-rpath", "--rpath", "-L", "-o", "-z", "-plugin", "-m"});
}

// A variant lives in the cache, so $ORIGIN would lead there; libraries are still where the program
// is.
void fix_origin(std::string& word, const std::string& directory) {
  for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"}) {
    for (std::size_t at = 0; (at = word.find(origin, at)) != std::string::npos;
         at += directory.size()) {
      word.replace(at, origin.size(), directory);
    }
  }
}

// The runtime goes before every other library: what it shares with libc and libstdc++ is its own.
// But it goes after the program's objects and archives given by name, which must be taken from the
// same places as in the native link.
Words rewrite_link(const Words& saved, const std::string& home, const fs::path& output,
                   const Variant& variant) {
  const Words runtime_words = {"--push-state", "-Bdynamic", "--no-as-needed", kRuntimeName,
                               "--pop-state"};
  Words words;
  bool has_runtime = !variant.needs_runtime();
  const auto add_runtime = [&] {
    if (!has_runtime) words.insert(words.end(), runtime_words.begin(), runtime_words.end());
    has_runtime = true;
  };
  for (std::size_t i = 0; i < saved.size(); ++i) {
    std::string word = saved[i];
    if (is_dropped(word)) continue;
    if (word == "-o") {
      ++i;
      continue;
    }
    if (takes_library_like_value(word) && i + 1 < saved.size()) {
      words.push_back(std::move(word));
      word = saved[++i];
      fix_origin(word, home);
    } else if (is_shared_library(word)) {
      add_runtime();
    } else if (word.find("rpath=") != std::string::npos) {
      fix_origin(word, home);
    }
    words.push_back(std::move(word));
  }
  add_runtime();
  for (const std::string& added : {std::string("--fat-lto-objects"), std::string("--lto-O2"),
                                   fmt::format("--load-pass-plugin={}", pass_plugin().string()),
                                   std::string("-o"), output.string()}) {
    words.push_back(added);
  }
  return words;
}

bool uses_origin(const Words& words) {
  return std::ranges::any_of(
      words, [](const std::string& word) { return word.find("ORIGIN") != std::string::npos; });
}

void refuse_static(const Words& words, const fs::path& program) {
  const bool is_dynamic = std::ranges::any_of(words, [](const std::string& word) {
    return word.ends_with("-dynamic-linker") ||
           word.find("-dynamic-linker=") != std::string::npos || word == "-shared" ||
           word == "--shared";
  });
  const bool denies = std::ranges::find(words, "--no-dynamic-linker") != words.end();
  if (is_dynamic && !denies) return;
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

/// False for a file that was cut short: the linker puts the section headers last. Such an entry of
/// the cache is made again.
bool is_whole(const fs::path& program) {
  Elf64_Ehdr header{};
  std::ifstream file(program, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  const bool is_elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(program, error);
  return is_elf && !error && header.e_shoff != 0 &&
         header.e_shoff + std::uintmax_t{header.e_shnum} * header.e_shentsize <= size;
}

struct Request {
  Variant variant;
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

/// Links the variant into `output`; true if the result is tied to the program's directory.
bool link_variant(const Cache& cache, const WorkDirectory& work, const fs::path& program,
                  const std::string& build_id, const Request& request, const fs::path& output,
                  const Progress& progress) {
  const Variant& variant = request.variant;
  const auto say = [&](std::string_view what) {
    if (progress) progress(what);
  };
  say("unpacking the saved link");
  const SavedLink saved = load_link(cache, work, program, build_id);
  if (variant.needs_runtime()) refuse_static(saved.words, program);

  // Absolute names of inputs are taken as below the saved link's directory (--chroot).
  fs::create_symlink(runtime_library(), saved.directory / kRuntimeName);
  const std::string home = fs::canonical(program).parent_path().string();
  Words words = rewrite_link(saved.words, home, output, variant);
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
  return uses_origin(saved.words);
}

/// A variant of a program, as the cache knows it.
class Entry {
 public:
  Entry(const Cache& cache, const fs::path& program, const std::string& variant_name)
      : cache_(cache), build_id_(read_build_id(program)), file_name_(program.filename().string()) {
    name_ = fmt::format("{}-{}", variant_name, read_build_id(pass_plugin()).substr(0, 16));
    // A program that finds its libraries from its own directory gets a variant that is tied to that
    // directory; another copy of the program must not find it.
    const std::string home = fs::canonical(program).parent_path().string();
    tied_name_ = fmt::format("{}-{:016x}", name_, std::hash<std::string>{}(home));
  }

  const std::string& build_id() const { return build_id_; }

  /// Empty: not there.
  fs::path find() const {
    for (const std::string& known : {name_, tied_name_}) {
      fs::path place = cache_.variant(build_id_, known, file_name_);
      if (!fs::exists(place) || !is_whole(place)) continue;
      cache_.touch(place);
      return place;
    }
    return {};
  }

  fs::path publish(const fs::path& output, bool is_tied) const {
    fs::path place = cache_.variant(build_id_, is_tied ? tied_name_ : name_, file_name_);
    cache_.publish(output, place);
    cache_.evict();
    return place;
  }

 private:
  const Cache& cache_;
  std::string build_id_;
  std::string file_name_;
  std::string name_;
  std::string tied_name_;
};

fs::path derive(const fs::path& program, const std::string& variant_name, const Request& request,
                const Progress& progress) {
  const Cache cache = Cache::of_user();
  const Entry entry(cache, program, variant_name);
  if (fs::path cached = entry.find(); !cached.empty()) return cached;

  const FileLock lock(cache, entry.build_id());
  if (fs::path made_meanwhile = entry.find(); !made_meanwhile.empty()) return made_meanwhile;
  const WorkDirectory work(cache);
  const fs::path output = work.path() / "variant";
  const bool is_tied =
      link_variant(cache, work, program, entry.build_id(), request, output, progress);
  return entry.publish(output, is_tied);
}

}  // namespace

fs::path derive_variant(const fs::path& program, Variant variant, const Progress& progress,
                        const Weaving& weaving) {
  std::string name = variant.name();
  if (!weaving.text.empty()) {
    name += fmt::format("-{:016x}{}", std::hash<std::string>{}(weaving.text),
                        weaving.watches_freed_memory ? "-freed" : "");
  }
  return derive(program, name, {variant, abi::kFirstSite, {}, weaving}, progress);
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
      {variant, first, {fmt::format("-soname={}", soname)}, {}}, progress);
}

void replace_by_variant(const fs::path& program, Variant variant) {
  const std::string build_id = read_build_id(program);
  const Cache cache = Cache::of_user();
  const WorkDirectory work(cache);
  const fs::path output = work.path() / "variant";
  Request request{variant, abi::kFirstSite, {}, {}};
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
