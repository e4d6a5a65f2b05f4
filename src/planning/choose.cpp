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

// One list for each case that the rules tell apart.
enum class MatrixKind { any, few_nonzeros, few_with_long_row, long_rows, like_rows };
constexpr Preferences kOnCpu{"albus", "csr", "csr"};
struct OnGpu {
  MatrixKind kind;
  Preferences kernels;
};
constexpr std::array kOnGpu = {
    OnGpu{MatrixKind::any, {"dasp", "csr-vector", "csr"}},
    OnGpu{MatrixKind::few_nonzeros, {"csr-vector", "dasp", "csr"}},
    OnGpu{MatrixKind::like_rows, {"sell", "dasp", "csr-vector"}},
    OnGpu{MatrixKind::long_rows, {"sell", "csr-vector", "dasp"}},
    OnGpu{MatrixKind::few_with_long_row, {"teb", "dasp", "csr-vector"}},
};

MatrixKind kind_of(const MatrixTraits& traits, Precision precision) {
  const auto longest_within = [&](std::int64_t factor) {
    return traits.longest * traits.rows <= factor * traits.nnz;
  };
  if (traits.nnz < kFewNonzeros)
    return longest_within(8) ? MatrixKind::few_nonzeros : MatrixKind::few_with_long_row;
  if (traits.nnz >= kLongMeanRow * traits.rows && longest_within(8)) return MatrixKind::long_rows;
  const bool stored_in_float = traits.exact_in_float || precision == Precision::mixed;
  if (longest_within(4) && (traits.few_patterns || stored_in_float)) return MatrixKind::like_rows;
  return MatrixKind::any;
}

const Preferences& preferences(Device device, const MatrixTraits& traits, Precision precision) {
  if (device == Device::cpu) return kOnCpu;
  return std::ranges::find(kOnGpu, kind_of(traits, precision), &OnGpu::kind)->kernels;
}

}  // namespace

std::string_view choose_kernel(Device device, const MatrixTraits& traits, Precision precision) {
  for (const std::string_view name : preferences(device, traits, precision))
    if (find_kernel(name).runs_on(device, precision)) return name;
  fail(ExitCode::resource,
       "kernel: auto found no kernel for the GPU in this build; use device: cpu");
}

std::vector<std::string_view> kernels_to_begin_with(Device device) {
  if (device == Device::cpu) return {kOnCpu.front()};
  std::vector<std::string_view> names;
  for (const OnGpu& rule : kOnGpu)
    if (std::ranges::find(names, rule.kernels.front()) == names.end())
      names.push_back(rule.kernels.front());
  return names;
}

Device choose_device(bool gpu_on_every_rank) {
  const auto kernels = kernel_registry();
  const bool has_kernel = std::any_of(kernels.begin(), kernels.end(), [](const KernelEntry& k) {
    return k.cuda_double != nullptr;
  });
  return has_kernel && gpu_on_every_rank ? Device::cuda : Device::cpu;
}

}  // namespace trireme
