// SPDX-License-Identifier: Apache-2.0
//
// Delta debugging (Zeller and Hildebrandt, 2002): the smallest part of a list that still does it.
//
// Two changes. Candidates are asked about in lists, so that whoever answers may try several at
// once; the answer is the first that holds, so that the result does not depend on how many. And a
// guess comes first: the items that are most likely needed are given first, and 1, 2, 4 ... of them
// are tried alone, which costs little where few of many items matter. What follows tries
// complements only, which makes the result as minimal as the original's subsets and complements do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace heddle::analysis {

template <typename Item>
using Candidates = std::vector<std::vector<Item>>;
/// The index of the first candidate that still does it.
template <typename Item>
using FirstThatHolds = std::function<std::optional<std::size_t>(const Candidates<Item>&)>;

/// Up to this many items, guessing costs as much as it can save.
inline constexpr std::size_t kFewItems = 4;

/// A subset of `items` (in their order) that holds and from which no single item can be removed.
/// All of `items` must hold; that is never asked. Where none of so many parts could be removed,
/// `gives_up` is asked, and whether these are parts of all items: if it does, nothing smaller is
/// tried.
template <typename Item>
std::vector<Item> ddmin(
    std::vector<Item> items, const FirstThatHolds<Item>& first_that_holds,
    const std::function<bool(std::size_t, bool)>& gives_up = [](std::size_t, bool) {
      return false;
    }) {
  if (!items.empty() && first_that_holds({{}})) return {};
  const std::size_t all = items.size();
  if (items.size() > kFewItems) {
    Candidates<Item> guesses;
    for (std::size_t size = 1; size < items.size(); size *= 2) {
      guesses.emplace_back(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(size));
    }
    if (const auto index = first_that_holds(guesses)) items = guesses[*index];
  }
  std::size_t parts = 2;
  while (items.size() >= 2) {
    const std::size_t size = (items.size() + parts - 1) / parts;
    Candidates<Item> complements;
    // From the end: what matters least goes first.
    for (std::size_t end = items.size(); end > 0; end -= std::min(size, end)) {
      const std::size_t begin = end - std::min(size, end);
      std::vector<Item> rest(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(begin));
      rest.insert(rest.end(), items.begin() + static_cast<std::ptrdiff_t>(end), items.end());
      if (!rest.empty()) complements.push_back(std::move(rest));
    }
    if (const auto index = first_that_holds(complements)) {
      items = complements[*index];
      parts = std::max<std::size_t>(parts - 1, 2);
    } else if (parts >= items.size() || gives_up(parts, items.size() == all)) {
      break;
    } else {
      parts = std::min(parts * 2, items.size());
    }
  }
  return items;
}

}  // namespace heddle::analysis
