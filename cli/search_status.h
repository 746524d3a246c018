// SPDX-License-Identifier: Apache-2.0
//
// How a search is going, in words: several lines for a terminal, one for a log.
#pragma once

#include <string>

#include "driver/explorer.h"
#include "driver/search/search.h"

namespace heddle::cli {

/// `limit`: schedules to try at the most; 0: no limit.
std::string status_line(const driver::ExploreStatus& status, const driver::SearchStatus& search,
                        std::uint64_t limit);
std::string status_panel(const driver::ExploreStatus& status, const driver::SearchStatus& search,
                         std::uint64_t limit);

}  // namespace heddle::cli
