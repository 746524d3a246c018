// SPDX-License-Identifier: Apache-2.0
#include "ir/pc_sites.h"

#include <algorithm>

namespace heddle::ir {
namespace {

/// Kinds that are of a place, not of what is done there.
bool is_structure(abi::SiteKind kind) {
  return kind == abi::SiteKind::Function || kind == abi::SiteKind::Loop ||
         kind == abi::SiteKind::Block;
}

bool is_load(abi::SiteKind kind) {
  return kind == abi::SiteKind::Load || kind == abi::SiteKind::RangeRead;  // the latter: a vector
}

bool is_access(abi::SiteKind kind) {
  return is_load(kind) || kind == abi::SiteKind::Store || kind == abi::SiteKind::RangeWrite;
}

}  // namespace

PcSites::PcSites(const SiteTable& table, const std::filesystem::path& variant)
    : table_(table), file_(std::make_unique<ElfFile>(variant)), map_(PcMap::of_program(variant)) {}

MachineOperand PcSites::operand_at(std::uint64_t address) const {
  const std::string_view code = file_->bytes_at(address);
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(code.data()), code.size());
  return machine_operand(bytes);
}

std::optional<std::uint32_t> PcSites::instruction_at(std::uint64_t address) const {
  if (const std::optional<std::uint32_t> told = map_.instruction_at(address)) return told;
  const MachineOperand operand = operand_at(address);
  if (operand.access != MachineAccess::Other) return std::nullopt;
  const std::optional<std::uint32_t> user = map_.instruction_at(address + operand.end);
  const std::optional<std::uint32_t> loaded = user ? load_for(*user) : std::nullopt;
  return loaded ? loaded : moved_to(address);
}

std::vector<abi::SiteId> PcSites::sites_at(std::uint64_t address) const {
  const std::optional<std::uint32_t> instruction = instruction_at(address);
  if (!instruction) return {};
  std::vector<abi::SiteId> sites = table_.sites_of_instruction(*instruction);
  const bool is_site_itself = std::ranges::any_of(
      sites, [this](abi::SiteId id) { return !is_structure(table_.find(id)->kind); });
  if (is_site_itself || operand_at(address).access != MachineAccess::Other) return sites;
  if (const std::optional<std::uint32_t> load = load_for(*instruction)) {
    std::vector<abi::SiteId> operands = table_.sites_of_instruction(*load);
    std::erase_if(operands, [this](abi::SiteId id) { return is_structure(table_.find(id)->kind); });
    sites.insert(sites.begin(), operands.begin(), operands.end());
  }
  return sites;
}

std::vector<abi::SiteId> PcSites::sites_of_call(std::uint64_t address) const {
  const std::optional<std::uint32_t> instruction = map_.instruction_at(address);
  return instruction ? table_.sites_of_instruction(*instruction) : std::vector<abi::SiteId>{};
}

std::vector<std::uint32_t> PcSites::without_code(std::uint32_t first, std::uint32_t end) const {
  std::vector<std::uint32_t> instructions;
  for (const abi::SiteId id : table_.sites_of_instructions(first, end)) {
    const SiteInfo site = *table_.find(id);
    if (!is_access(site.kind) || !map_.ranges_of(site.instruction).empty()) continue;
    if (instructions.empty() || instructions.back() != site.instruction) {
      instructions.push_back(site.instruction);
    }
  }
  return instructions;
}

std::optional<std::uint32_t> PcSites::load_for(std::uint32_t instruction) const {
  const auto place = table_.instruction(instruction);
  if (!place) return std::nullopt;
  const std::vector<std::uint32_t> candidates = without_code(place->first, instruction);
  const auto loads = [this](std::uint32_t candidate) {
    return std::ranges::any_of(table_.sites_of_instruction(candidate),
                               [this](abi::SiteId id) { return is_load(table_.find(id)->kind); });
  };
  const auto last = std::find_if(candidates.rbegin(), candidates.rend(), loads);
  return last != candidates.rend() ? std::optional(*last) : std::nullopt;
}

std::optional<std::uint32_t> PcSites::moved_to(std::uint64_t address) const {
  const std::optional<std::uint32_t> before = map_.instruction_before(address);
  const auto place = before ? table_.instruction(*before) : std::nullopt;
  if (!place) return std::nullopt;
  const std::vector<std::uint32_t> candidates =
      without_code(place->function_first, place->function_end);
  return candidates.size() == 1 ? std::optional(candidates[0]) : std::nullopt;
}

}  // namespace heddle::ir
