// SPDX-License-Identifier: Apache-2.0
//
// Bytes of any length as compressed pieces that each carry their lengths and checksums: a file of
// them that was cut off anywhere still gives all that was complete. FORMAT.md, "Packed log".
#pragma once

#include <string>
#include <string_view>

namespace heddle::trace {

/// Its first bytes.
inline constexpr char kPackedLogMagic[] = "HEDDLOGZ";
inline constexpr std::uint32_t kPackedLogVersion = 1;

struct UnpackedLog {
  std::string bytes;
  bool complete = true;  // false: cut off; `bytes` is what was there
};

std::string pack_log(std::string_view bytes);
/// user_error that says which byte of which file is wrong when it is not such a log, or damaged.
UnpackedLog unpack_log(std::string_view file, std::string_view name);
bool is_packed_log(std::string_view file);

}  // namespace heddle::trace
