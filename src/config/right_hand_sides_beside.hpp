// SPDX-License-Identifier: BSD-3-Clause
// The file of right-hand sides that belongs to a Matrix Market file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace trireme {

// NAME_b.mtx or NAME_b.mtx.gz beside NAME.mtx or NAME.mtx.gz, the same kind first. Empty where
// there is none, and for a file of another name.
inline std::filesystem::path right_hand_sides_beside(const std::filesystem::path& matrix) {
  constexpr std::string_view plain = ".mtx", zipped = ".mtx.gz";
  const std::string name = matrix.string();
  const bool is_zipped = name.ends_with(zipped);
  if (!is_zipped && !name.ends_with(plain)) return {};
  const std::string stem = name.substr(0, name.size() - (is_zipped ? zipped : plain).size());
  for (const std::string_view ending : {is_zipped ? zipped : plain, is_zipped ? plain : zipped}) {
    std::filesystem::path beside = stem + "_b" + std::string(ending);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(beside, ignored)) return beside;
  }
  return {};
}

}  // namespace trireme
