// SPDX-License-Identifier: Apache-2.0
#include "driver/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "driver/admission.h"
#include "driver/build/build_id.h"
#include "driver/build/variant.h"
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
  if (name.find('/') != std::string::npos) return name;
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

Program Program::open(const std::string& name, const Progress& progress, abi::Variant variant) {
  Program program;
  program.name_ = name;
  program.variant_ = variant;
  const std::filesystem::path path = find_in_path(name);
  if (!std::filesystem::exists(path)) {
    throw user_error(fmt::format("there is no program {}", path.string()));
  }
  if (std::filesystem::is_directory(path) || access(path.c_str(), X_OK) != 0) {
    throw user_error(fmt::format("{} is not a program that can be run", path.string()));
  }
  refuse_uncontrollable(path);
  const ir::ElfFile file(path);
  program.sees_accesses_ = file.needs("__tsan_init");
  program.build_id_ = build::read_build_id(path);
  program.executable_ = std::filesystem::absolute(path);
  if (build::is_heddle_built(path)) {
    program.executable_ = build::derive_variant(path, variant, progress);
    // Objects of another compiler, built with -fsanitize=thread, have no sites in the table.
    if (!program.sees_accesses_ || ir::SiteTable::is_in(program.executable_)) {
      program.sites_ = ir::SiteTable::of_program(program.executable_);
      program.sees_accesses_ = true;
    }
  }
  return program;
}

Program Program::open_variant(const std::filesystem::path& variant, const std::string& name,
                              const std::string& build_id) {
  Program program;
  program.name_ = name;
  program.variant_ = abi::Variant::Full;
  program.build_id_ = build_id;
  program.executable_ = std::filesystem::absolute(variant);
  if (ir::SiteTable::is_in(program.executable_)) {
    program.sites_ = ir::SiteTable::of_program(program.executable_);
    program.sees_accesses_ = true;
  }
  return program;
}

const ir::CodePlaces& Program::code() const {
  if (!code_) code_ = std::make_shared<ir::CodePlaces>(executable_);
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
  std::optional<ir::SiteInfo> info = sites_ ? sites_->find(id) : std::nullopt;
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
  const auto address = code().address(key);
  if (!address) return std::nullopt;
  return abi::kCodeSites + static_cast<abi::SiteId>(*address) + 1;
}

std::optional<ir::SymbolTable::Place> Program::variable(const std::string& module,
                                                        std::uint64_t address) const {
  auto found = symbols_.find(module);
  if (found == symbols_.end()) {
    const std::filesystem::path file = module.empty() ? executable_ : std::filesystem::path(module);
    ir::SymbolTable table;
    if (std::filesystem::exists(file)) table = ir::SymbolTable::of_file(file);
    found = symbols_.emplace(module, std::move(table)).first;
  }
  return found->second.find(address);
}

}  // namespace heddle::driver
