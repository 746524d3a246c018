// SPDX-License-Identifier: Apache-2.0
//
// Guesses which threads and iterations a failure needs, from the dependences next to it. Delta
// debugging checks them; a bad guess costs trials only.
#pragma once

#include <string>
#include <vector>

#include "analysis/reduce/projection.h"
#include "trace/trace.h"

namespace heddle::analysis {

/// The program's threads without t0, most likely needed first: those that wait or hold when nobody
/// can go on, the one that fails, then those whose writes it read, the last read first, and so on
/// from there; after them the others, the last to have run first.
std::vector<std::string> threads_by_relevance(const trace::Trace& trace);

/// What is next to the failure in the graph of dependences: the iterations in which the threads
/// that fail or wait are at the end, those that wrote what is read there, and what these read or
/// wrote over, so many steps back; with those around them. One step finds who wrote what the
/// failing thread read; the next what that one had to write over, which is what the program should
/// have found.
struct Neighbourhood {
  std::vector<Iteration> iterations;  // sorted
  std::vector<std::string> threads;   // those that do any of it, and their ancestors; sorted
  bool operator==(const Neighbourhood&) const = default;
};
/// Whether what another thread wrote counts also where a thread has since written over it itself,
/// and with it where the thread did so first: a stale value may have come from there, round by
/// round.
enum class Overwritten { IsGone, ByItself };
Neighbourhood neighbourhood(const trace::Trace& trace, int steps,
                            Overwritten overwritten = Overwritten::IsGone);

}  // namespace heddle::analysis
