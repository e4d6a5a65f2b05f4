// SPDX-License-Identifier: BSD-3-Clause
// The kernels of the registry as parameters of tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/registry.hpp"

namespace trireme::test {

// The kernels that have a host executor.
inline std::vector<std::string> host_kernels() {
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.host_double || entry.host_float || entry.host_int) names.emplace_back(entry.name);
  return names;
}

// GoogleTest allows no hyphen in a name.
inline std::string name_of_test(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace trireme::test
