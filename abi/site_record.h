// SPDX-License-Identifier: Apache-2.0
//
// How the pass writes the site table into the instrumented program, and how readers find it: an
// allocated section of its own, so that it is reachable both from the file and in the process.
//
// The section holds one SiteTableHeader, `site_count` SiteRecords (site kFirstSite + i at index i),
// `frame_count` FrameRecords and `string_bytes` bytes of zero-terminated strings; strings are
// referred to by their offset there, offset 0 is the empty string.
#pragma once

#include <cstdint>

namespace heddle::abi {

inline constexpr char kSiteSection[] = "heddle_sites";
inline constexpr std::uint32_t kSiteMagic = 0x53444548;  // "HEDS"

struct SiteTableHeader {
  std::uint32_t magic;
  std::uint32_t version;  // abi::kVersion
  std::uint32_t site_count;
  std::uint32_t frame_count;
  std::uint32_t string_bytes;
  std::uint32_t reserved;
};

/// What an instruction is to Heddle. `Call` sites leave instrumented code; the event that then
/// happens there (mutex_lock, heap_free ...) is known only at run time.
enum class SiteKind : std::uint16_t {
  Load = 1,
  Store = 2,
  AtomicLoad = 3,
  AtomicStore = 4,
  AtomicRmw = 5,
  AtomicCas = 6,
  Fence = 7,
  RangeRead = 8,
  RangeWrite = 9,
  Call = 10,
  // Places that steps name (abi/steps.def); numbered behind all of the above.
  Function = 11,
  Loop = 12,  // a natural loop, by its header
  Block = 13,
  Branch = 14,
};
inline constexpr SiteKind kLastSiteKind = SiteKind::Branch;

struct SiteRecord {
  std::uint16_t kind;
  std::uint16_t access_bytes;  // 0: not fixed
  std::uint32_t key;           // string: stable name, "function+line.kind.ordinal"
  std::uint32_t callee;        // string: name of the function called, for Call sites
  std::uint32_t first_frame;   // index of the innermost frame
  std::uint32_t frames;        // at least 1: innermost (inlined) first, physical function last
};

struct FrameRecord {
  std::uint32_t function;  // string: demangled name as a person writes it
  std::uint32_t file;      // string: path as given to the compiler, made absolute
  std::uint32_t line;
  std::uint32_t column;
};

}  // namespace heddle::abi
