// SPDX-License-Identifier: Apache-2.0
//
// How pointers move through a program, and the rounds in which that is worked out.
//
// Pointers are followed at once. Numbers, which seldom hold a pointer or a part of one, are
// followed only where it matters: if what comes from a pointer ends up where something is used as a
// pointer, all on the way is taken for pointers. A number that nobody makes a pointer of connects
// nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "pass/regions.h"

namespace heddle::pass {

class Flows {
 public:
  using Slot = Regions::Slot;
  using Distance = Regions::Distance;

  enum class As : std::uint8_t { Pointer, Number };

  explicit Flows(Regions& regions) : regions_(regions) {}

  /// What `from` holds may be in `to`, moved by `distance`.
  void move(Slot from, Slot to, As as, Distance distance = {});
  /// `bytes` bytes at `pointer` are read into, or written from, `value`. 0: not known how many.
  void load(Slot pointer, Slot value, As as, std::uint64_t bytes);
  void store(Slot value, Slot pointer, As as, std::uint64_t bytes);
  /// `pointer` is accessed through, or called; what is read or written there holds no pointer.
  void use(Slot pointer);
  /// `bytes` bytes are copied as they are; 0: not known how many.
  void copy_memory(Slot from, Slot to, std::uint64_t bytes);

  /// Until nothing more follows from the pointers whose origin is known.
  void settle();
  /// Also for those whose origin is not: they point to something of their own. Only when nothing
  /// else is to be learnt: where in its region such a pointer points is a guess.
  void settle_unknown();

 private:
  struct Move {
    Slot from;
    Slot to;
    Distance distance;
  };
  struct Access {
    Slot pointer;
    Slot value;
    std::uint64_t bytes;
    As as;
    bool is_store;
  };
  struct Copy {
    Slot from;
    Slot to;
    std::uint64_t bytes;
  };
  /// One direction of the graph of numbers: who comes after (or before) whom.
  struct Graph {
    std::vector<std::uint32_t> begin;
    std::vector<Slot> next;
  };

  void apply_pointers();
  void flow(const Move& move);
  /// Where something that is accessed through points.
  Regions::Cell pointee(Slot pointer);
  void apply_access(const Access& access);
  void apply_copy(const Copy& copy);
  void apply_numbers();
  void add_moves_within_regions();
  Graph graph(bool forward);
  std::vector<bool> reached(const Graph& graph, bool with_uses);

  Regions& regions_;
  bool guesses_ = false;  // settle_unknown() is at work
  std::vector<Move> pointers_;
  std::vector<Move> numbers_;
  std::vector<Access> accesses_;
  std::vector<Slot> uses_;
  std::vector<Copy> copies_;
  std::vector<Move> round_;  // moves of numbers that follow from what is known in this round
};

}  // namespace heddle::pass
