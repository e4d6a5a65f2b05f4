// SPDX-License-Identifier: BSD-3-Clause
// Groups of 1 to 32 lanes; each group takes one row of a border.
#include <algorithm>

#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "multigrid/cuda/border_kernels.hpp"

namespace trireme::multigrid {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

// The product of the row of this thread's group; valid in the group's first lane. `at` gives the
// numbers of the vector.
template <class At>
__device__ double product_of_row(const BorderView& m, std::int32_t k, int lane, const At& at) {
  const int lanes = 1 << m.lanes_shift;
  double sum = 0;
  if (k < m.count)
    for (std::int32_t j = m.row_ptr[k] + lane; j < m.row_ptr[k + 1]; j += lanes)
      sum += m.values[j] * at(m.columns[j]);
  for (int offset = lanes / 2; offset > 0; offset /= 2)
    sum += __shfl_down_sync(kFullWarp, sum, offset, lanes);
  return sum;
}

__global__ void __launch_bounds__(kThreads)
    complete_rows(const __grid_constant__ BorderView m, const __grid_constant__ StepData s,
                  const double* __restrict__ ghosts, const double* __restrict__ ghost_inverse) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const auto k = static_cast<std::int32_t>(thread >> m.lanes_shift);
  const int lane = static_cast<int>(thread & ((1 << m.lanes_shift) - 1));
  const double sum = product_of_row(m, k, lane, [&](std::int32_t j) {
    return s.from_zero ? s.start * (ghost_inverse[j] * ghosts[j]) : ghosts[j];
  });
  if (k >= m.count || lane != 0) return;
  const std::int32_t row = m.rows[k];
  switch (s.kind) {
    case StepKind::residual:
      s.to[row] -= sum;
      return;
    case StepKind::smooth: {
      const double d = s.g * (s.w[row] * sum);
      if (s.d) s.d[row] -= d;
      s.to[row] -= d;
      return;
    }
    default:
      s.to[row] += sum;
  }
}

__global__ void __launch_bounds__(kThreads)
    multiply_rows(const __grid_constant__ BorderView m, const double* __restrict__ x,
                  double* __restrict__ to) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const auto k = static_cast<std::int32_t>(thread >> m.lanes_shift);
  const int lane = static_cast<int>(thread & ((1 << m.lanes_shift) - 1));
  const double sum = product_of_row(m, k, lane, [&](std::int32_t j) { return x[j]; });
  if (k < m.count && lane == 0) to[m.rows[k]] = sum;
}

__global__ void __launch_bounds__(kThreads)
    add_terms_of_rows(const __grid_constant__ GatheringView g, const double* __restrict__ terms,
                      const double* __restrict__ others, double* __restrict__ to) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= g.rows) return;
  double sum = 0;
  for (std::int32_t k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
    const std::int32_t source = g.sources[k];
    sum += source < g.terms ? terms[source] : others[source - g.terms];
  }
  to[i] = sum;
}

__global__ void __launch_bounds__(kThreads)
    copy(const double* __restrict__ from, double* __restrict__ to, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) to[i] = from[i];
}

}  // namespace

void complete_step(const BorderView& border, const StepData& s, const double* ghosts,
                   const double* ghost_inverse, StreamRef stream) {
  if (border.count == 0) return;
  complete_rows<<<blocks_for(std::int64_t{border.count} << border.lanes_shift), kThreads, 0,
                  stream>>>(border, s, ghosts, ghost_inverse);
  check_launch();
}

void multiply_border(const BorderView& border, const double* x, double* to, StreamRef stream) {
  if (border.count == 0) return;
  multiply_rows<<<blocks_for(std::int64_t{border.count} << border.lanes_shift), kThreads, 0,
                  stream>>>(border, x, to);
  check_launch();
}

void add_terms(const GatheringView& gathering, const double* terms, const double* others,
               double* to, StreamRef stream) {
  if (gathering.rows == 0) return;
  add_terms_of_rows<<<blocks_for(gathering.rows), kThreads, 0, stream>>>(gathering, terms, others,
                                                                         to);
  check_launch();
}

void copy_rows(const double* from, double* to, std::int64_t count, StreamRef stream) {
  if (count == 0) return;
  copy<<<blocks_for(count), kThreads, 0, stream>>>(from, to, count);
  check_launch();
}

}  // namespace trireme::multigrid
