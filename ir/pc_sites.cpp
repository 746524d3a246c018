// SPDX-License-Identifier: Apache-2.0
#include "ir/pc_sites.h"

#include <algorithm>

#include "ir/machine_access.h"

namespace heddle::ir {
namespace {

/// Kinds that are of a place, not of what is done there.
bool is_structure(abi::SiteKind kind) {
  return kind == abi::SiteKind::Function || kind == abi::SiteKind::Loop ||
         kind == abi::SiteKind::Block;
}

}  // namespace

PcSites::PcSites(const SiteTable& table, const std::filesystem::path& variant)
    : table_(table), file_(std::make_unique<ElfFile>(variant)), map_(PcMap::of_program(variant)) {}

std::vector<abi::SiteId> PcSites::sites_at(std::uint64_t address) const {
  const std::optional<std::uint32_t> instruction = map_.instruction_at(address);
  if (!instruction) return {};
  std::vector<abi::SiteId> sites = table_.sites_of_instruction(*instruction);
  const bool is_site_itself = std::ranges::any_of(
      sites, [this](abi::SiteId id) { return !is_structure(table_.find(id)->kind); });
  if (is_site_itself) return sites;
  const std::string_view code = file_->bytes_at(address);
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(code.data()), code.size());
  if (machine_access(bytes) != MachineAccess::Other) return sites;
  const std::vector<abi::SiteId> operands = operands_of(*instruction);
  sites.insert(sites.begin(), operands.begin(), operands.end());
  return sites;
}

std::vector<abi::SiteId> PcSites::sites_of_call(std::uint64_t address) const {
  const std::optional<std::uint32_t> instruction = map_.instruction_at(address);
  return instruction ? table_.sites_of_instruction(*instruction) : std::vector<abi::SiteId>{};
}

/// The last load before it in its block that nothing else was made from.
std::vector<abi::SiteId> PcSites::operands_of(std::uint32_t instruction) const {
  const auto place = table_.instruction(instruction);
  if (!place) return {};
  for (std::uint32_t before = instruction; before-- > place->first;) {
    std::vector<abi::SiteId> sites = table_.sites_of_instruction(before);
    std::erase_if(sites,
                  [this](abi::SiteId id) { return table_.find(id)->kind != abi::SiteKind::Load; });
    if (!sites.empty() && map_.ranges_of(before).empty()) return sites;
  }
  return {};
}

}  // namespace heddle::ir
