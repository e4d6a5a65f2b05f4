// SPDX-License-Identifier: BSD-3-Clause
// Asks for the files by which programs reach the driver.
#include "device/driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace trireme {

bool driver_is_visible() noexcept {
  constexpr std::array files = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl"};
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    if (std::string_view(visible).empty() || std::string_view(visible) == "-1") return false;
  return std::ranges::any_of(files, [](const char* file) { return access(file, F_OK) == 0; });
}

}  // namespace trireme
