// SPDX-License-Identifier: BSD-3-Clause
// No output may replace an input.
#pragma once

#include <filesystem>
#include <vector>

namespace trireme {

// Throws Error{usage} where an output is an input, by whatever name, symbolic link or hard link.
// What does not exist is the same as nothing.
void refuse_overwriting(const std::vector<std::filesystem::path>& inputs,
                        const std::vector<std::filesystem::path>& outputs);

}  // namespace trireme
