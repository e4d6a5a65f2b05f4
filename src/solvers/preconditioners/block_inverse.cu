// SPDX-License-Identifier: BSD-3-Clause
// Gauss-Jordan elimination with partial pivoting, with a group of 2 to 32 lanes per block.
//
//   Lane i of the group owns row i of its block, in shared memory with one column of padding, so
//   that the lanes of a step touch different banks.
//   step k: the group agrees on the pivot by shuffles (the first of the largest, as on the host),
//           swaps two rows with one column per lane, and each lane eliminates its own row
//
// The result is deterministic: each entry has one owner, and duplicates are added in the order of
// the CSR. The kernel reads the rows of A once and writes block_size values per row.
#include <cfloat>

#include "base/error.hpp"
#include "device/check.hpp"
#include "solvers/preconditioners/block_inverse.hpp"

namespace trireme::solvers {
namespace {

constexpr int kThreads = 128;

// Where the blocks' rows and entries are, in device memory.
struct Sources {
  const std::int32_t* starts;  // null: natural blocks
  std::int64_t rows, groups;
  std::int32_t size;
  const std::int32_t* row_ptr;
  const std::int32_t* col_idx;
  const double* values;
  const double* entries;  // null: the CSR has the entries
  bool magnitudes;        // as in BlockRows
};

// Whether (other, other_row) is a better pivot than (value, row): it is larger, or as large and in
// an earlier row.
__device__ bool better(double other, int other_row, double value, int row) {
  return other > value || (other == value && other_row < row);
}

template <int lanes>
__global__ void __launch_bounds__(kThreads)
    invert_kernel(Sources from, double* inverse, unsigned long long* first_singular) {
  constexpr int stride = lanes + 1;
  constexpr int groups_per_block = kThreads / lanes;
  __shared__ double tiles[groups_per_block][lanes * stride];
  __shared__ int pivot_rows[groups_per_block][lanes];
  const int lane = threadIdx.x % lanes, here = threadIdx.x / lanes;
  const unsigned members =
      lanes == 32 ? 0xffffffffu : ((1u << lanes % 32) - 1) << (threadIdx.x % 32 / lanes * lanes);
  const std::int64_t group = static_cast<std::int64_t>(blockIdx.x) * groups_per_block + here;
  if (group >= from.groups) return;
  const std::int64_t first = from.starts ? from.starts[group] : group * from.size;
  const std::int64_t last =
      from.starts ? from.starts[group + 1] : min(from.rows, first + from.size);
  const int width = static_cast<int>(last - first);
  double* const tile = tiles[here];
  double* const own = tile + lane * stride;

  for (int j = 0; j < width; ++j) own[j] = 0;
  if (lane < width) {
    const std::int64_t row = first + lane;
    if (from.entries) {
      for (int j = 0; j < width; ++j) own[j] = from.entries[row * from.size + j];
    } else {
      for (std::int32_t k = from.row_ptr[row]; k < from.row_ptr[row + 1]; ++k) {
        const std::int64_t column = from.col_idx[k];
        if (column >= first && column < last) own[column - first] += from.values[k];
      }
    }
  }
  __syncwarp(members);
  const double sign = from.magnitudes && tile[0] < 0 ? -1 : 1;
  bool singular = false;
  for (int k = 0; k < width; ++k) {
    __syncwarp(members);
    double largest = lane >= k && lane < width ? fabs(own[k]) : -1;
    int pivot = lane;
    if (isnan(largest)) largest = DBL_MAX;  // NaN becomes the pivot, and is not finite below
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
      const double other = __shfl_xor_sync(members, largest, offset, lanes);
      const int other_row = __shfl_xor_sync(members, pivot, offset, lanes);
      if (better(other, other_row, largest, pivot)) {
        largest = other;
        pivot = other_row;
      }
    }
    if (lane == 0) pivot_rows[here][k] = pivot;
    if (pivot != k && lane < width) {
      const double above = tile[k * stride + lane];
      tile[k * stride + lane] = tile[pivot * stride + lane];
      tile[pivot * stride + lane] = above;
    }
    __syncwarp(members);
    const double diagonal = tile[k * stride + k];
    singular = diagonal == 0 || !isfinite(diagonal);
    if (singular) break;  // the whole group agrees
    __syncwarp(members);
    if (lane < width)
      tile[k * stride + lane] = (lane == k ? 1 : tile[k * stride + lane]) / diagonal;
    __syncwarp(members);
    if (lane < width && lane != k) {
      const double factor = own[k];
      own[k] = 0;
      for (int j = 0; j < width; ++j) own[j] -= factor * tile[k * stride + j];
    }
  }
  if (singular) {
    if (lane == 0) atomicMin(first_singular, static_cast<unsigned long long>(first));
    return;
  }
  __syncwarp(members);
  if (lane >= width) return;
  for (int k = width - 1; k >= 0; --k) {  // undoes the swaps of rows, as swaps of columns
    const int pivot = pivot_rows[here][k];
    const double right = own[k];
    own[k] = own[pivot];
    own[pivot] = right;
  }
  double* const line = inverse + (first + lane) * from.size;
  for (int j = 0; j < from.size; ++j) line[j] = j < width ? sign * own[j] : 0;
}

template <int lanes>
void launch(const Sources& from, double* inverse, unsigned long long* first_singular,
            StreamRef stream) {
  constexpr int groups_per_block = kThreads / lanes;
  const auto blocks =
      static_cast<unsigned>((from.groups + groups_per_block - 1) / groups_per_block);
  invert_kernel<lanes><<<blocks, kThreads, 0, stream>>>(from, inverse, first_singular);
  check_launch();
}

}  // namespace

DeviceBuffer<double> invert_blocks_on_device(const BlockRows& blocks, const DeviceCsr<double>& csr,
                                             DeviceSpan<const double> entries, StreamRef stream) {
  DeviceBuffer<double> inverse(static_cast<std::size_t>(blocks.rows) * blocks.size, stream);
  if (blocks.rows == 0) return inverse;
  ScratchBuffer<std::int32_t> starts(blocks.natural ? 0 : blocks.starts.size(), stream);
  copy_to_device(std::span<const std::int32_t>(blocks.starts).first(starts.size()), starts.span(),
                 stream);
  ScratchBuffer<unsigned long long> first_singular(1, stream);
  memory::fill(first_singular.data(), 0xff, sizeof(unsigned long long), stream);
  const Sources from{blocks.natural ? nullptr : starts.data(),
                     blocks.rows,
                     static_cast<std::int64_t>(blocks.starts.size()) - 1,
                     blocks.size,
                     csr.row_ptr.data(),
                     csr.col_idx.data(),
                     csr.values.data(),
                     entries.size() > 0 ? entries.data() : nullptr,
                     blocks.magnitudes};
  if (blocks.size <= 2)
    launch<2>(from, inverse.data(), first_singular.data(), stream);
  else if (blocks.size <= 4)
    launch<4>(from, inverse.data(), first_singular.data(), stream);
  else if (blocks.size <= 8)
    launch<8>(from, inverse.data(), first_singular.data(), stream);
  else if (blocks.size <= 16)
    launch<16>(from, inverse.data(), first_singular.data(), stream);
  else
    launch<32>(from, inverse.data(), first_singular.data(), stream);
  const unsigned long long row = read_back(first_singular.data(), stream);
  if (row < static_cast<unsigned long long>(blocks.rows))
    refuse_singular_block(blocks, static_cast<std::int64_t>(row));
  return inverse;
}

}  // namespace trireme::solvers
