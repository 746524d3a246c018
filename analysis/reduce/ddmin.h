// SPDX-License-Identifier: Apache-2.0
//
// Delta debugging (Zeller and Hildebrandt, 2002): the smallest part of a list that still does it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace heddle::analysis {

/// A subset of `items` (in their order) for which `test` holds and from which no single item can be
/// removed. `test(items)` must hold; `test` is never asked about the same as `items` again.
template <typename Item>
std::vector<Item> ddmin(std::vector<Item> items,
                        const std::function<bool(const std::vector<Item>&)>& test) {
  if (!items.empty() && test({})) return {};
  std::size_t parts = 2;
  while (items.size() >= 2) {
    const std::size_t size = (items.size() + parts - 1) / parts;
    bool smaller = false;
    for (std::size_t begin = 0; begin < items.size(); begin += size) {
      const std::size_t end = std::min(begin + size, items.size());
      std::vector<Item> rest(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(begin));
      rest.insert(rest.end(), items.begin() + static_cast<std::ptrdiff_t>(end), items.end());
      if (rest.empty() || !test(rest)) continue;
      items = std::move(rest);
      parts = std::max<std::size_t>(parts - 1, 2);
      smaller = true;
      break;
    }
    if (smaller) continue;
    if (parts >= items.size()) break;
    parts = std::min(parts * 2, items.size());
  }
  return items;
}

}  // namespace heddle::analysis
