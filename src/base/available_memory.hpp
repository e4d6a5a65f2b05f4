// SPDX-License-Identifier: BSD-3-Clause
// How much more memory this process may take before the system refuses or ends it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace trireme {

struct AvailableMemory {
  std::int64_t shared;  // bytes of the node, or of the job's control group: for all ranks there
  std::int64_t own;     // bytes of address space left to this process (ulimit -v)
};

// The largest std::int64_t where the system sets no limit or names none. `root` is the folder under
// which proc/ and sys/ are found.
AvailableMemory available_memory(const std::filesystem::path& root = "/");

}  // namespace trireme
