// SPDX-License-Identifier: Apache-2.0
#include "driver/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "driver/admission.h"
#include "driver/build/build_id.h"
#include "driver/build/relink.h"
#include "driver/build/toolchain.h"
#include "driver/build/variant.h"
#include "driver/needed_libraries.h"
#include "driver/opened_libraries.h"
#include "ir/elf_file.h"

namespace heddle::driver {
namespace {

struct SpecialSite {
  abi::SiteId id;
  const char* key;
};
constexpr SpecialSite kSpecialSites[] = {
    {abi::kUnknownSite, "<unknown>"},
    {abi::kThreadStartSite, "<start>"},
    {abi::kThreadExitSite, "<exit>"},
    {abi::kFlushSite, "<flush>"},
};

std::filesystem::path find_in_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::filesystem::path candidate = std::filesystem::path(directory) / name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  throw user_error(
      fmt::format("no program '{}' in PATH; for one in this directory type ./{}", name, name));
}

}  // namespace

std::filesystem::path find_program(const std::string& name) {
  if (name.find('/') == std::string::npos) return find_in_path(name);
  if (!std::filesystem::exists(name)) throw user_error(fmt::format("there is no program {}", name));
  return name;
}

abi::Variant variant_for(const trace::Schedule& schedule) {
  const bool leaves_out = std::any_of(
      schedule.skipped.begin(), schedule.skipped.end(),
      [](const trace::SkippedIterations& skipped) { return trace::is_loop(skipped.site); });
  return leaves_out ? abi::Variant::Full.with(abi::Variant::Repeats) : abi::Variant::Full;
}

Program Program::open(const StartedProgram& started, const Progress& progress,
                      abi::Variant variant) {
  Program program;
  program.name_ = started.name;
  program.search_ = started.libraries;
  program.variant_ = variant;
  const std::filesystem::path path = find_program(started.name);
  if (std::filesystem::is_directory(path) || access(path.c_str(), X_OK) != 0) {
    throw user_error(fmt::format("{} is not a program that can be run", path.string()));
  }
  refuse_uncontrollable(path);
  const ir::ElfFile file(path);
  program.sees_accesses_ = file.needs("__tsan_init");
  program.build_id_ = build::read_identity(path);
  program.original_ = std::filesystem::absolute(path);
  program.image_.executable = program.original_;
  program.image_.original = std::filesystem::canonical(path);
  if (!build::is_heddle_built(path)) return program;
  const std::filesystem::path derived = build::derive_variant(path, variant, progress);
  if (ir::SiteTable::is_in(derived)) {
    program.image_.executable = derived;
    program.sites_ = ir::SiteTable::of_program(derived);
    program.sees_accesses_ = true;
    program.may_open_libraries_ = file.needs("dlopen");
    program.derive_libraries(path, progress);
    program.derive_opened(progress);
  } else if (program.sees_accesses_) {
    // Objects of another compiler, built with -fsanitize=thread, have no sites in the table.
    program.image_.executable = derived;
  }
  return program;
}

void Program::derive_libraries(const std::filesystem::path& path, const Progress& progress) {
  for (const NeededLibrary& needed : needed_libraries(path, search_)) {
    if (!build::is_heddle_built(needed.file)) continue;
    const std::string name = std::filesystem::path(needed.name).filename().string();
    if (has_library(name)) continue;
    may_open_libraries_ = may_open_libraries_ || ir::ElfFile(needed.file).needs("dlopen");
    const std::string soname = build::name_in_variant(needed.name, search_.directory);
    add_library(
        {name, build::derive_library(needed.file, soname, next_site(), variant_, progress)});
  }
}

void Program::derive_opened(const Progress& progress) {
  if (!may_open_libraries_) return;
  for (const std::filesystem::path& file : OpenedLibraries(build_id_).known()) {
    derive_libraries(file, progress);
    const std::string name = file.filename().string();
    add_library(
        {name, build::derive_library(file, name, next_site(), variant_, progress), file.string()});
  }
}

bool Program::has_library(const std::string& name) const {
  return std::ranges::find(image_.libraries, name, &Image::Library::name) != image_.libraries.end();
}

abi::SiteId Program::next_site() const {
  if (libraries_.empty()) return sites_->end();
  return libraries_.back().first + static_cast<abi::SiteId>(libraries_.back().sites.size());
}

void Program::add_library(const Image::Library& library) {
  image_.libraries.push_back(library);
  if (!ir::SiteTable::is_in(library.file)) return;  // nothing but data
  libraries_.push_back({library.name, next_site(), ir::SiteTable::of_program(library.file)});
}

std::filesystem::path Program::runtime() const {
  return image_.restorer ? image_.restorer->runtime : build::runtime_library();
}

std::optional<ir::SiteInfo> Program::site_info(abi::SiteId id) const {
  for (const Library& library : libraries_) {
    if (id < library.first || id - library.first >= library.sites.size()) continue;
    std::optional<ir::SiteInfo> info = library.sites.find(id - library.first + abi::kFirstSite);
    if (info) info->key = library.name + ":" + info->key;
    return info;
  }
  return sites_ ? sites_->find(id) : std::nullopt;
}

Program Program::open_image(const Image& image, const std::string& name,
                            const std::string& build_id) {
  Program program;
  program.name_ = name;
  program.variant_ = abi::Variant::Full;
  program.build_id_ = build_id;
  program.original_ = image.executable;
  program.image_ = {image.executable, {}, image.restorer};
  program.sees_accesses_ = ir::ElfFile(program.executable()).needs("__tsan_init");
  if (ir::SiteTable::is_in(program.executable())) {
    program.sites_ = ir::SiteTable::of_program(program.executable());
    program.sees_accesses_ = true;
    for (const Image::Library& library : image.libraries) program.add_library(library);
  }
  return program;
}

const ir::CodePlaces& Program::code() const {
  if (!code_) code_ = std::make_shared<ir::CodePlaces>(image_.executable);
  return *code_;
}

trace::Site Program::site(abi::SiteId id) const {
  if (id >= abi::kCodeSites) {
    // A return address; the call itself is before it.
    const std::uint64_t address = id - abi::kCodeSites - 1;
    const auto [entry, is_new] = code_sites_.try_emplace(id);
    if (is_new) {
      entry->second = {code().key(address), "", code().frames(address)};
      std::erase_if(entry->second.frames,
                    [](const trace::Frame& frame) { return frame.line == 0; });
    }
    return entry->second;
  }
  for (const SpecialSite& special : kSpecialSites) {
    if (special.id == id) return {special.key, "", {}};
  }
  std::optional<ir::SiteInfo> info = site_info(id);
  if (!info) return {kSpecialSites[0].key, "", {}};
  return {std::move(info->key), std::move(info->callee), std::move(info->frames)};
}

std::optional<abi::SiteId> Program::site_by_key(std::string_view key) const {
  for (const SpecialSite& special : kSpecialSites) {
    if (special.key == key) return special.id;
  }
  if (sites_) {
    if (const auto found = sites_->by_key(key)) return found;
  }
  for (const Library& library : libraries_) {
    if (!key.starts_with(library.name + ":")) continue;
    const auto found = library.sites.by_key(key.substr(library.name.size() + 1));
    if (found) return *found - abi::kFirstSite + library.first;
  }
  const auto address = code().address(key);
  if (!address) return std::nullopt;
  return abi::kCodeSites + static_cast<abi::SiteId>(*address) + 1;
}

std::optional<ir::SymbolTable::Place> Program::variable(const std::string& module,
                                                        std::uint64_t address) const {
  auto found = symbols_.find(module);
  if (found == symbols_.end()) {
    std::filesystem::path file = module.empty() ? image_.executable : std::filesystem::path(module);
    if (image_.restorer && image_.restorer->files.contains(module)) {
      file = image_.restorer->files.at(module);
    }
    ir::SymbolTable table;
    if (std::filesystem::exists(file)) table = ir::SymbolTable::of_file(file);
    found = symbols_.emplace(module, std::move(table)).first;
  }
  return found->second.find(address);
}

}  // namespace heddle::driver
