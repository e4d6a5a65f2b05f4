// SPDX-License-Identifier: BSD-3-Clause
// Compares files by device and inode.
#include "base/overwriting.hpp"

#include <system_error>

#include "base/error.hpp"

namespace trireme {

void refuse_overwriting(const std::vector<std::filesystem::path>& inputs,
                        const std::vector<std::filesystem::path>& outputs) {
  for (const auto& output : outputs)
    for (const auto& input : inputs) {
      std::error_code missing;
      if (!std::filesystem::equivalent(input, output, missing) || missing) continue;
      fail(ExitCode::usage,
           "{} would replace the input {}: they are the same file; write elsewhere",
           output.string(), input.string());
    }
}

}  // namespace trireme
