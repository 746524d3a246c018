// SPDX-License-Identifier: Apache-2.0
//
// How the pass writes the site table into the instrumented program, and how readers find it: an
// allocated section of its own, so that it is reachable both from the file and in the process.
//
// The section holds one SiteTableHeader, then as many FunctionRecords, BlockRecords, LoopRecords,
// SiteRecords, FrameRecords and bytes of zero-terminated strings as it says. Strings are referred
// to by their offset among the strings (offset 0 is the empty string), records by their index; site
// kFirstSite + i has index i.
//
// Functions, blocks, loops and instructions are numbered over the whole program as the pass finds
// it, before it changes anything: in all variants alike. Functions are contiguous ranges of blocks,
// blocks contiguous ranges of instructions.
#pragma once

#include <cstdint>

namespace heddle::abi {

inline constexpr char kSiteSection[] = "heddle_sites";
inline constexpr std::uint32_t kSiteMagic = 0x53444548;  // "HEDS"
inline constexpr std::uint32_t kSiteTableVersion = 2;

struct SiteTableHeader {
  std::uint32_t magic;
  std::uint32_t version;  // kSiteTableVersion
  std::uint32_t function_count;
  std::uint32_t block_count;
  std::uint32_t loop_count;
  std::uint32_t site_count;
  std::uint32_t frame_count;
  std::uint32_t string_bytes;
};

enum class SiteKind : std::uint8_t {
#define HEDDLE_SITE_KIND(id, Name, text) Name = id,
#include "abi/site_kinds.def"
};

enum class Sharing : std::uint8_t {
#define HEDDLE_SHARING(id, Name, text, verdict, reason) Name = id,
#include "abi/sharing.def"
};

enum class SharingVerdict : std::uint8_t { None, Shared, Local, ReadOnly };

struct FunctionRecord {
  std::uint32_t symbol;       // string: as in the symbol table
  std::uint32_t first_block;  // its blocks end where the next function's begin
};

struct BlockRecord {
  std::uint32_t first_instruction;  // number of its first instruction, counted from 1
  std::uint32_t loop;               // 1 + index of the innermost loop round it; 0: none
};

struct LoopRecord {
  std::uint32_t parent;  // 1 + index of the loop round it, which comes earlier; 0: none
  std::uint32_t header;  // index of its header's block
  std::uint32_t first_frame;
  std::uint32_t frames;  // 0: its place in the source is unknown
};

/// The key of a site is composed: "push+3@main.store.kfqz", and ".2" for the second of that name.
struct SiteRecord {
  std::uint8_t kind;           // SiteKind
  std::uint8_t sharing;        // Sharing
  std::uint16_t access_bytes;  // 0: not fixed
  std::uint16_t ordinal;       // counted from 1 among the sites that are else called the same
  std::uint16_t frames;        // at least 1: innermost (inlined) first, physical function last
  std::uint32_t place;         // string: function and line counted from it, and where it is inlined
  std::uint32_t fingerprint;   // below kFingerprints: of the surrounding IR and the inline chain
  std::uint32_t callee;        // string: name of the function called, for Call sites
  std::uint32_t first_frame;   // index of the innermost frame
  std::uint32_t instruction;   // its number, which is also its discriminator in the line table
};

/// Four letters: a fingerprint in a key cannot be taken for an ordinal.
inline constexpr std::uint32_t kFingerprints = 26 * 26 * 26 * 26;

struct FrameRecord {
  std::uint32_t function;  // string: demangled name as a person writes it
  std::uint32_t file;      // string: path as given to the compiler, made absolute
  std::uint32_t line;
  std::uint32_t column;
};

}  // namespace heddle::abi
