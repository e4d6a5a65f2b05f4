// SPDX-License-Identifier: BSD-3-Clause
// csr-vector with several vectors on CUDA. Groups of lanes (kernels/vector_group.cuh) take the
// nonzeros of a row in turns:
//
//   row r:   | e0 e1 e2 e3 | e4 e5 e6 e7 | e8 ...      2 groups: group g adds e_g, e_g+2, ..., then
//              g0 g1 g0 g1   g0 g1 g0 g1   g0          a shuffle tree adds the sums of the groups
//
// All lanes of a group load the same columns and values. Bytes moved for k vectors (double): 12 per
// nonzero and 4 per row, once per pass, and 16 k per row. The result is deterministic: the order of
// the additions depends on the row length, the vectors of the pass and the number of groups only.
#include "kernels/csr/vectors.hpp"

#include <algorithm>

#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "kernels/vector_group.cuh"

namespace trireme {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 4;  // nonzeros of a group

// `row_lanes` lanes have a row.
template <class Lane, class Stored, class Vector>
__global__ void __launch_bounds__(kThreads)
    multiply_rows_by_vectors(CsrPointers<Stored> a, vectors::Operands<Vector> operands,
                             int row_lanes) {
  const Lane lane(operands);
  const int groups = row_lanes / Lane::kLanes;
  const int group = static_cast<int>(threadIdx.x) % row_lanes / Lane::kLanes;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (kThreads / row_lanes) +
                           static_cast<int>(threadIdx.x) / row_lanes;
  const std::int32_t begin = row < a.rows ? __ldg(a.row_ptr + row) : 0;
  const std::int32_t end = row < a.rows ? __ldg(a.row_ptr + row + 1) : 0;
  typename Lane::Sums sums{};
  for (std::int64_t k = begin + group; k < end; k += kInFlight * groups) {
    std::int32_t column[kInFlight];
    Sum<Vector> value[kInFlight];
    typename Lane::Entries x[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const bool there = k + i * groups < end;
      column[i] = there ? __ldg(a.col_idx + k + i * groups) : -1;
      value[i] = there ? load<Sum<Vector>>(a.values + k + i * groups) : Sum<Vector>{};
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      x[i] = {};
      if (column[i] >= 0) x[i] = lane.x_of(column[i]);
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) sums.add_product(value[i], x[i]);
  }
  sums = vectors::sum_of_groups<Lane>(sums, row_lanes);  // All lanes of the warp are here.
  if (group == 0 && row < a.rows) lane.finish(static_cast<std::int32_t>(row), sums);
}

}  // namespace

template <class Stored, class Vector>
void multiply_vectors(const CsrPointers<Stored>& a, LanesLimit most,
                      DeviceMultiVector<const Vector> x, DeviceMultiVector<Vector> y, bool add,
                      DeviceSpan<const float> diagonal, StreamRef stream) {
  if (a.rows == 0) return;
  vectors::in_passes<Vector>(
      x, y, add, diagonal, [&]<class Lane>(std::type_identity<Lane>, const auto& operands) {
        // One group per row is fastest (H200: 1.4 times on elasticity) where that fills the GPU.
        int row_lanes = Lane::kLanes;
        while (row_lanes < most.row_lanes && a.rows * row_lanes < most.threads) row_lanes *= 2;
        const std::int64_t rows_per_block = kThreads / row_lanes;
        const auto blocks = static_cast<unsigned>((a.rows + rows_per_block - 1) / rows_per_block);
        multiply_rows_by_vectors<Lane><<<blocks, kThreads, 0, stream>>>(a, operands, row_lanes);
        check_launch();
      });
}

template void multiply_vectors(const CsrPointers<double>&, LanesLimit,
                               DeviceMultiVector<const double>, DeviceMultiVector<double>, bool,
                               DeviceSpan<const float>, StreamRef);
template void multiply_vectors(const CsrPointers<float>&, LanesLimit,
                               DeviceMultiVector<const double>, DeviceMultiVector<double>, bool,
                               DeviceSpan<const float>, StreamRef);
template void multiply_vectors(const CsrPointers<float>&, LanesLimit,
                               DeviceMultiVector<const float>, DeviceMultiVector<float>, bool,
                               DeviceSpan<const float>, StreamRef);

}  // namespace trireme
