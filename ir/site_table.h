// SPDX-License-Identifier: Apache-2.0
//
// The sites of an instrumented program, read from the section the pass wrote (abi/site_record.h).
// Kept as it is in the file, checked once: large programs have hundreds of thousands of sites, and
// most are never asked about.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi/abi.h"
#include "abi/site_record.h"
#include "trace/trace.h"

namespace heddle::ir {

struct SiteInfo {
  abi::SiteKind kind;
  abi::Sharing sharing;
  std::uint32_t bytes;  // 0: not fixed
  std::string key;
  std::string callee;                // for calls; empty if called through a pointer
  std::vector<trace::Frame> frames;  // innermost inlined function first, physical function last
  std::string symbol;                // of the physical function
  std::uint32_t block;               // number within the function, 0 the entry
  std::vector<std::uint32_t> loops;  // numbers of the loops round it, innermost first
  std::uint32_t instruction;         // number of its instruction in the program
};

struct LoopInfo {
  std::uint32_t header;              // number of the header's block within the function
  std::string symbol;                // of the physical function
  std::vector<trace::Frame> frames;  // empty: its place in the source is unknown
};

class SiteTable {
 public:
  /// Throws heddle::Error if the program has no table or a damaged one.
  static SiteTable of_program(const std::filesystem::path& variant);

  static bool is_in(const std::filesystem::path& program);

  /// `section` may hold anything; `name` is what error messages call it.
  static SiteTable parse(std::string_view section, const std::string& name);

  std::size_t size() const { return sites_.size(); }
  /// One behind the last site.
  abi::SiteId end() const { return abi::kFirstSite + static_cast<abi::SiteId>(sites_.size()); }

  /// Nothing for sites that no instruction has (unknown, thread start ...).
  std::optional<SiteInfo> find(abi::SiteId site) const;

  /// `site` must be one of the table's.
  abi::Sharing sharing(abi::SiteId site) const {
    return static_cast<abi::Sharing>(sites_[site - abi::kFirstSite].sharing);
  }

  /// The site of that key; if the key was made in another build and no site has it any more, the
  /// only site it can mean: the one of that kind at that line, or the one of that kind and
  /// fingerprint in that function. "worker+3.load.2" is the second load at that line.
  std::optional<abi::SiteId> by_key(std::string_view key) const;

  /// `number` as in SiteInfo::loops, counted from 1.
  std::optional<LoopInfo> loop(std::uint32_t number) const;
  std::size_t loop_count() const { return loops_.size(); }

  /// What instruction `number` belongs to; the number is also its discriminator in line tables.
  struct InstructionPlace {
    std::string symbol;
    std::uint32_t block;
    std::vector<std::uint32_t> loops;
    // Numbers of the block's and the function's first instruction, and one behind their last.
    std::uint32_t first;
    std::uint32_t end;
    std::uint32_t function_first;
    std::uint32_t function_end;
  };
  std::optional<InstructionPlace> instruction(std::uint32_t number) const;
  /// Sites of instruction `number`, in the order of their ids. Often none.
  std::vector<abi::SiteId> sites_of_instruction(std::uint32_t number) const {
    return sites_of_instructions(number, number + 1);
  }
  /// Those of the instructions from `first` to before `end`, in the order of the instructions.
  std::vector<abi::SiteId> sites_of_instructions(std::uint32_t first, std::uint32_t end) const;

 private:
  friend class SiteTableParser;

  const char* string(std::uint32_t offset) const { return strings_.data() + offset; }
  std::string key_of(const abi::SiteRecord& record) const;
  std::vector<trace::Frame> frames_of(std::uint32_t first, std::uint32_t count) const;
  const abi::FunctionRecord& function_of_block(std::uint32_t block) const;

  std::vector<abi::FunctionRecord> functions_;
  std::vector<abi::BlockRecord> blocks_;
  std::vector<abi::LoopRecord> loops_;
  std::vector<abi::SiteRecord> sites_;
  std::vector<abi::FrameRecord> frames_;
  std::string strings_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_key_hash_;     // sorted; site's index
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_instruction_;  // sorted; site's index
};

}  // namespace heddle::ir
