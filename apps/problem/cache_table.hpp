// SPDX-License-Identifier: BSD-3-Clause
// Entries of the cache as text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/kept/hierarchy_outline.hpp"
#include "cache/cache.hpp"
#include "cache/kernel_decision.hpp"

namespace trireme::problem_app {

// An entry, with the decision or the hierarchy where it is one.
struct CacheRow {
  CacheListing listing;
  std::optional<KernelDecision> decision;
  std::optional<HierarchyOutline> hierarchy = {};
};

// One line per entry. `now` is in seconds since 1970.
std::string cache_table(const std::filesystem::path& directory, const std::vector<CacheRow>& rows,
                        std::int64_t now);

// The whole key of an entry whose fault is empty, the measurements of a decision, and the levels of
// a hierarchy.
std::string cache_explanation(const CacheRow& row, std::int64_t now);

}  // namespace trireme::problem_app
