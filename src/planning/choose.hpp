// SPDX-License-Identifier: BSD-3-Clause
// The one place where `kernel: auto` and `device: auto` are decided.
#pragma once

#include <string>
#include <string_view>

#include "kernels/registry.hpp"

namespace trireme {

// For now a documented rule: albus on the CPU; on a GPU by row statistics (see choose.cpp).
std::string choose_kernel(Device device);

}  // namespace trireme
