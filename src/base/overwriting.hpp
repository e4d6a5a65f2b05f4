// SPDX-License-Identifier: BSD-3-Clause
// Refuses outputs that would replace an input.
#pragma once

#include <filesystem>
#include <vector>

namespace trireme {

// Throws Error{usage} where an output and an input are the same file, by whatever name, symbolic
// link or hard link. A file that does not exist is the same as no other.
void refuse_overwriting(const std::vector<std::filesystem::path>& inputs,
                        const std::vector<std::filesystem::path>& outputs);

}  // namespace trireme
