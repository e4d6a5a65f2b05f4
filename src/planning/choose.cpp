// SPDX-License-Identifier: BSD-3-Clause
// The rule of choose.hpp.
#include "planning/choose.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/error.hpp"
#include "device/device.hpp"

namespace trireme {
namespace {

constexpr std::array<std::string_view, 2> kOnCpu = {"albus", "csr"};
constexpr std::array<std::string_view, 3> kOnCuda = {"dasp", "csr-vector", "csr"};

bool runs_on(std::string_view name, Device device) {
  const auto kernels = kernel_registry();
  return std::any_of(kernels.begin(), kernels.end(), [&](const KernelEntry& entry) {
    return entry.name == name &&
           (device == Device::cpu ? entry.host_double != nullptr : entry.cuda_double != nullptr);
  });
}

std::span<const std::string_view> preferences(Device device) {
  if (device == Device::cpu) return kOnCpu;
  return kOnCuda;
}

}  // namespace

std::string_view choose_kernel(Device device) {
  for (const std::string_view name : preferences(device))
    if (runs_on(name, device)) return name;
  fail(ExitCode::resource,
       "kernel: auto found no kernel for the GPU in this build; use device: cpu");
}

Device choose_device() {
  const auto kernels = preferences(Device::cuda);
  const bool has_kernel = std::any_of(kernels.begin(), kernels.end(), [](std::string_view name) {
    return runs_on(name, Device::cuda);
  });
  return has_kernel && cuda_available() ? Device::cuda : Device::cpu;
}

}  // namespace trireme
