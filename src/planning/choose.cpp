// SPDX-License-Identifier: BSD-3-Clause
// Implements the rules of choose.hpp.
#include "planning/choose.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace trireme {
namespace {

using Preferences = std::array<std::string_view, 3>;  // the preferred kernel first

constexpr std::int64_t kFewNonzeros = 1'000'000;
constexpr std::int64_t kLongMeanRow = 256;

Preferences preferences(Device device, const MatrixTraits& traits, Precision precision) {
  if (device == Device::cpu) return {"albus", "csr", "csr"};
  const auto longest_within = [&](std::int64_t factor) {
    return traits.longest * traits.rows <= factor * traits.nnz;
  };
  if (traits.nnz < kFewNonzeros) {
    if (longest_within(8)) return {"csr-vector", "dasp", "csr"};
    return {"teb", "dasp", "csr-vector"};
  }
  if (traits.nnz >= kLongMeanRow * traits.rows && longest_within(8))
    return {"sell", "csr-vector", "dasp"};
  const bool stored_in_float = traits.exact_in_float || precision == Precision::mixed;
  if (longest_within(4) && (traits.few_patterns || stored_in_float))
    return {"sell", "dasp", "csr-vector"};
  return {"dasp", "csr-vector", "csr"};
}

}  // namespace

std::string_view choose_kernel(Device device, const MatrixTraits& traits, Precision precision) {
  for (const std::string_view name : preferences(device, traits, precision))
    if (find_kernel(name).runs_on(device, precision)) return name;
  fail(ExitCode::resource,
       "kernel: auto found no kernel for the GPU in this build; use device: cpu");
}

Device choose_device(bool gpu_on_every_rank) {
  const auto kernels = kernel_registry();
  const bool has_kernel = std::any_of(kernels.begin(), kernels.end(), [](const KernelEntry& k) {
    return k.cuda_double != nullptr;
  });
  return has_kernel && gpu_on_every_rank ? Device::cuda : Device::cpu;
}

}  // namespace trireme
