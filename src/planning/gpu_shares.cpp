// SPDX-License-Identifier: BSD-3-Clause
// The measured minimum of nonzeros per GPU.
#include "planning/gpu_shares.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace trireme {
namespace {

// Two H200s with NVLink against one of them, CG: 22.1 and 25.6 us per iteration with 1.3 million
// nonzeros per GPU, 25.8 and 26.8 with 1.8, 31.5 and 25.0 with 2.8 (poisson3d 72 and 80, poisson27
// 60). See docs/performance/several-gpus.md.
constexpr std::int64_t kMinNonzerosPerGpu = 2'000'000;

}  // namespace

std::string advice_on_shares(int gpus, std::int64_t nonzeros) {
  if (gpus < 2 || nonzeros >= gpus * kMinNonzerosPerGpu) return {};
  const std::int64_t best = std::max<std::int64_t>(1, nonzeros / kMinNonzerosPerGpu);
  return fmt::format(
      "the system is small for {} GPUs, with {:.2g} million nonzeros per GPU: try {}, which "
      "exchange less; measured with CG on H200s, two GPUs were slower than one below about {} "
      "million per GPU (poisson3d 48: 19.8 us per iteration on two, 8.4 us on one)",
      gpus, 1e-6 * static_cast<double>(nonzeros) / gpus,
      best == 1 ? "1 GPU" : fmt::format("{} GPUs", best), kMinNonzerosPerGpu / 1'000'000);
}

}  // namespace trireme
