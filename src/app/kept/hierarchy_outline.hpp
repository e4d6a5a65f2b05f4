// SPDX-License-Identifier: BSD-3-Clause
// The outline of a hierarchy in a file of the cache.
#pragma once

#include <filesystem>

#include "multigrid/store/stored_outline.hpp"

namespace trireme {

using HierarchyOutline = multigrid::StoredOutline;

// Reads the first bytes of the hierarchy, without its coarse levels. Throws Error{input}, whose
// text is a clause without a subject.
HierarchyOutline start_of_hierarchy(const std::filesystem::path& entry);
// Reads all of it. Throws likewise.
HierarchyOutline whole_hierarchy(const std::filesystem::path& entry);

}  // namespace trireme
