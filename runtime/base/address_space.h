// SPDX-License-Identifier: Apache-2.0
//
// Where the runtime puts things. Fixed, so that pointers the program stores are the same values in
// every run of a schedule; all in the empty middle of the x86-64 user half, far from where the
// kernel puts programs, libraries and the first stack.
#pragma once

#include <cstdint>

namespace heddle::runtime {

/// Stacks: one slot a thread (thread_slots.h); the thread's TLS lies at the top of its slot.
inline constexpr std::uint64_t kStackBase = 0x1000'0000'0000;
inline constexpr std::uint64_t kStackSlot = 64ull << 20;

/// The first thread's stack is where the kernel put it: this much around where it began.
inline constexpr std::uint64_t kFirstStackBelow = 8ull << 20;
inline constexpr std::uint64_t kFirstStackAbove = 1ull << 20;  // arguments and environment

/// Heap: one arena a thread, by the same slots.
inline constexpr std::uint64_t kHeapBase = 0x2000'0000'0000;
inline constexpr std::uint64_t kHeapArena = 16ull << 30;

/// What is known of each allocation: 16 bytes for the 16 at which it starts, at the same distance.
inline constexpr std::uint64_t kHeapNotes = 0x3000'0000'0000;

/// The runtime's own memory, handed out from the bottom (runtime/base/system.h).
inline constexpr std::uint64_t kOwnBase = 0x4000'0000'0000;
inline constexpr std::uint64_t kOwnBytes = 1ull << 40;

/// The same for those who decide: strategies and their plans.
inline constexpr std::uint64_t kPolicyBase = 0x4400'0000'0000;
inline constexpr std::uint64_t kPolicyBytes = 1ull << 40;

/// What outlives an execution that is undone in place (runtime/reset/keeper.h).
inline constexpr std::uint64_t kKeeperBase = 0x4800'0000'0000;
inline constexpr std::uint64_t kKeeperBytes = 1ull << 40;

/// Room to write checkpoints, and to be while one is restored (runtime/checkpoint).
inline constexpr std::uint64_t kCheckpointBase = 0x4C00'0000'0000;
inline constexpr std::uint64_t kCheckpointBytes = 1ull << 30;

/// The restorer (runtime/CMakeLists.txt links it to here). Nothing else is up to kChannelBase.
inline constexpr std::uint64_t kRestorerBase = 0x4E00'0000'0000;

/// What is shared with the driver: how large it is must not decide where the program's own mappings
/// are.
inline constexpr std::uint64_t kChannelBase = 0x5000'0000'0000;
inline constexpr std::uint64_t kLogBase = 0x5800'0000'0000;

/// The text of arguments and environment (runtime/entry/given_words.h). Above the room a log may
/// take.
inline constexpr std::uint64_t kWordsBase = 0x6400'0000'0000;

}  // namespace heddle::runtime
