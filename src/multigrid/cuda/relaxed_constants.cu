// SPDX-License-Identifier: BSD-3-Clause
// Relaxed constants on a GPU, with the bits of relaxed_constants.cpp.
#include <cmath>
#include <utility>

#include "multigrid/cuda/cuda_place.cuh"
#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/cuda/make_rows.cuh"
#include "multigrid/cuda/row_products.cuh"
#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/relaxed_constants.hpp"
#include "multigrid/set_up/relaxed_constants_functors.hpp"

namespace trireme::multigrid {
namespace {

struct One {
  __device__ double operator()(std::int64_t) const { return 1; }
};

}  // namespace

ScratchBuffer<double> relaxed_constants(const DeviceCsr<double>& a, std::int32_t block_size,
                                        StreamRef stream, const RankOfRows& rank) {
  const CudaPlace place(stream);
  const DeviceGhosts none;
  const DeviceGhosts& ghosts = rank.alone() ? none : *rank.ghosts;
  const std::int64_t rows = a.rows;
  const double all = ghosts.sum(static_cast<double>(rows));
  DeviceCsr<double> matrix = a;
  const ScratchBuffer<double> diagonal = filtered_diagonal({a, {}, block_size}, stream);
  const double far = ghosts.sum(static_cast<double>(place.count(
      rows * kLanesOfRow,
      by_lanes<kLanesOfRow>(SumIsNotSmall{MatrixPointers(a), diagonal.data(), block_size}))));
  if (!(far > (1 - kMostSmallSums) * all)) return {};
  ScratchBuffer<double> of_unknowns;
  if (block_size > 1) {
    of_unknowns = place.array<double>(a.nnz);
    place.for_each(rows, KeepOwnUnknown{MatrixPointers(a), block_size, of_unknowns.data()});
    matrix.values = of_unknowns.view();
  }
  const double radius =
      filtered_spectral_radius({matrix, {}, block_size}, diagonal.view(), stream, rank);
  if (!(radius > 0) || !std::isfinite(radius)) return {};
  const double weight = kRelaxationWeight / radius;
  const FilteredRows entries(MatrixPointers(matrix), nullptr, block_size);
  auto x = place.array<double>(a.cols), next = place.array<double>(a.cols);
  const auto sums = place.array<double>(3);
  place.write_each(a.cols, One{}, x.data());
  place.sum_into(rows, EnergyTerm{diagonal.data(), x.data()}, sums.data());
  for (int step = 0; step < kRelaxations; ++step) {
    multiply_rows(rows, entries, x.data(), Relax{diagonal.data(), x.data(), weight, next.data()},
                  stream);
    std::swap(x, next);
    ghosts.fetch(x.data(), block_size);
  }
  place.sum_into(rows, EnergyTerm{diagonal.data(), x.data()}, sums.data() + 1);
  place.sum_into(rows, SquareTerm{x.data()}, sums.data() + 2);
  Array<double> found = to_host(sums.view(), stream);
  for (double& number : found) number = ghosts.sum(number);
  if (!(found[1] <= found[0]) || !(found[2] > 0)) return {};
  place.for_each(a.cols, Normalise{std::sqrt(found[2] / all), kLeastRelaxed, x.data()});
  return x;
}

ScratchBuffer<double> scaled_values(const DeviceCsr<double>& a, DeviceSpan<const double> x,
                                    StreamRef stream) {
  const CudaPlace place(stream);
  auto values = place.array<double>(a.nnz);
  place.for_each(a.rows, ScaleBothSides{MatrixPointers(a), x.data(), values.data()});
  return values;
}

void scale_rows(DeviceSpan<const double> x, DeviceRows& p, StreamRef stream) {
  CudaPlace(stream).for_each(p.rows, ScaleRow{p.row_ptr.data(), x.data(), p.values.data()});
}

}  // namespace trireme::multigrid
