// SPDX-License-Identifier: BSD-3-Clause
// The memory that this process may still take before the system refuses it or ends the process.
#pragma once

#include <cstdint>
#include <filesystem>

namespace trireme {

struct AvailableMemory {
  std::int64_t
      shared;        // bytes of the node, or of the job's control group; all ranks there share them
  std::int64_t own;  // bytes of address space left to this process (ulimit -v)
};

// A value is the maximum of std::int64_t where the system sets no limit or does not tell it. `root`
// is the folder that contains proc/ and sys/.
AvailableMemory available_memory(const std::filesystem::path& root = "/");

}  // namespace trireme
