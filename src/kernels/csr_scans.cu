// SPDX-License-Identifier: BSD-3-Clause
// A warp looks at one row at a time, so that long rows cost little more than short ones. All
// results have the same bits in each run: a row has one owner, and sums of blocks are added on the
// host.
#include "kernels/csr_scans.hpp"

#include <cmath>

#include "device/check.hpp"

namespace trireme {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr std::int64_t kMaxBlocks = 2048;
constexpr unsigned kAllLanes = 0xffffffffu;

unsigned blocks_for_rows(std::int64_t rows) {
  const std::int64_t blocks = (rows + kWarps - 1) / kWarps;
  return static_cast<unsigned>(blocks < kMaxBlocks ? blocks : kMaxBlocks);
}

__device__ __forceinline__ double warp_sum(double value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_down_sync(kAllLanes, value, distance);
  return value;
}

__device__ __forceinline__ std::int64_t first_row_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
}

__device__ __forceinline__ std::int64_t warps_of_grid() {
  return static_cast<std::int64_t>(gridDim.x) * kWarps;
}

// diagonal[i] = a_ii of the rows that are first_row, first_row + 1, ... in the whole matrix.
__global__ void __launch_bounds__(kThreads)
    gather_diagonal(std::int64_t rows, std::int64_t first_row,
                    const std::int32_t* __restrict__ row_ptr,
                    const std::int32_t* __restrict__ col_idx, const double* __restrict__ values,
                    double* __restrict__ diagonal) {
  const int lane = threadIdx.x % 32;
  for (std::int64_t row = first_row_of_warp(); row < rows; row += warps_of_grid()) {
    double sum = 0;
    const std::int32_t end = row_ptr[row + 1];
    for (std::int32_t k = row_ptr[row] + lane; k < end; k += 32)
      if (col_idx[k] == first_row + row) sum += values[k];
    sum = warp_sum(sum);
    if (lane == 0) diagonal[row] = sum;
  }
}

enum Finding : int { kHasZero, kVaries, kFindings };

// Replaces the diagonal, or its magnitudes, whose first number is `first`, by the inverse.
__global__ void __launch_bounds__(kThreads)
    invert(std::int64_t rows, double first, bool magnitudes, double* __restrict__ diagonal,
           int* __restrict__ findings) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= rows) return;
  const double d = magnitudes ? fabs(diagonal[i]) : diagonal[i];
  diagonal[i] = d == 0 ? 1 : 1 / d;
  if (d == 0) findings[kHasZero] = 1;
  if (!(d == first)) findings[kVaries] = 1;
}

// The sums of the rows whose entries `kLanes` neighbouring lanes share, on each of these lanes.
template <int kLanes>
__device__ __forceinline__ RowSums over_lanes(RowSums sums) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    sums.diagonal += __shfl_xor_sync(kAllLanes, sums.diagonal, distance);
    sums.sum += __shfl_xor_sync(kAllLanes, sums.sum, distance);
    sums.magnitude += __shfl_xor_sync(kAllLanes, sums.magnitude, distance);
    sums.size = fmax(sums.size, __shfl_xor_sync(kAllLanes, sums.size, distance));
  }
  return sums;
}

// The facts of a warp, on lane 0.
__device__ __forceinline__ RowFacts over_warp(RowFacts facts) {
  for (int distance = 16; distance > 0; distance /= 2) {
    const auto other = [&](auto value) { return __shfl_down_sync(kAllLanes, value, distance); };
    facts += RowFacts{.positive = other(facts.positive),
                      .negative = other(facts.negative),
                      .zero = other(facts.zero),
                      .empty = other(facts.empty),
                      .dominant = other(facts.dominant),
                      .with_sum = other(facts.with_sum),
                      .pattern = other(facts.pattern),
                      .values = other(facts.values),
                      .least = other(facts.least),
                      .greatest = other(facts.greatest)};
  }
  return facts;
}

// partials[block] are the facts of the rows of a thread block. Row 0 has the number first_row, and
// column 0 the number first_column. kLanes lanes share a row.
template <int kLanes>
__global__ void __launch_bounds__(kThreads)
    find_row_facts(std::int64_t rows, std::int64_t first_row, std::int64_t first_column,
                   const std::int32_t* __restrict__ row_ptr,
                   const std::int32_t* __restrict__ col_idx, const double* __restrict__ values,
                   const std::uint8_t* __restrict__ left_out, RowFacts* __restrict__ partials) {
  constexpr int kRows = 32 / kLanes;  // of a warp at a time
  const int lane = threadIdx.x % kLanes, of_warp = threadIdx.x % 32 / kLanes;
  RowFacts facts;
  for (std::int64_t begin = first_row_of_warp() * kRows; begin < rows;
       begin += warps_of_grid() * kRows) {
    const std::int64_t row = begin + of_warp;
    const bool counts = row < rows && !(left_out && left_out[row] != 0);
    const std::int64_t diagonal = first_row + row - first_column;
    RowSums sums;
    RowHash hash;
    const std::int32_t end = counts ? row_ptr[row + 1] : 0;
    for (std::int32_t k = counts ? row_ptr[row] + lane : 0; k < end; k += kLanes) {
      sums.take(values[k], col_idx[k] == diagonal);
      hash.take(values[k], RowKey(first_column + col_idx[k]));
    }
    sums = over_lanes<kLanes>(sums);
    if (!counts) continue;
    facts.take(hash, RowKey(first_row + row));
    if (lane == 0) facts.take(sums);
  }
  __shared__ RowFacts of_warps[kWarps];
  facts = over_warp(facts);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = facts;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kWarps; ++warp) facts += of_warps[warp];
  partials[blockIdx.x] = facts;
}

// ranges[block] is that of the rows of a thread block.
__global__ void __launch_bounds__(kThreads)
    find_size_range(std::int64_t rows, const std::int32_t* __restrict__ row_ptr,
                    const double* __restrict__ values, RowSizeRange* __restrict__ ranges) {
  const int lane = threadIdx.x % 32;
  RowSizeRange range;
  for (std::int64_t row = first_row_of_warp(); row < rows; row += warps_of_grid()) {
    double size = 0;
    const std::int32_t end = row_ptr[row + 1];
    for (std::int32_t k = row_ptr[row] + lane; k < end; k += 32) size = fmax(size, fabs(values[k]));
    for (int distance = 16; distance > 0; distance /= 2)
      size = fmax(size, __shfl_xor_sync(kAllLanes, size, distance));
    if (size > 0) range = {fmin(range.least, size), fmax(range.greatest, size)};
  }
  __shared__ RowSizeRange of_warp[kWarps];
  if (lane == 0) of_warp[threadIdx.x / 32] = range;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < kWarps; ++warp)
    range = {fmin(range.least, of_warp[warp].least), fmax(range.greatest, of_warp[warp].greatest)};
  ranges[blockIdx.x] = range;
}

}  // namespace

InverseDiagonal invert_diagonal(std::span<const DeviceRowBlock<double>> blocks, StreamRef stream,
                                bool magnitudes) {
  InverseDiagonal inverse;
  std::int64_t rows = 0;
  for (const DeviceRowBlock<double>& block : blocks) rows += block.csr.rows;
  if (rows == 0) return inverse;
  inverse.values = DeviceBuffer<double>(rows, stream);
  double* const diagonal = inverse.values.data();
  for (const auto& [first_row, first_entry, csr] : blocks) {
    if (csr.rows == 0) continue;
    gather_diagonal<<<blocks_for_rows(csr.rows), kThreads, 0, stream>>>(
        csr.rows, first_row, csr.row_ptr.data(), csr.col_idx.data(), csr.values.data(),
        diagonal + first_row);
    check_launch();
  }
  const double signed_first = read_back(diagonal, stream);
  const double first = magnitudes ? std::fabs(signed_first) : signed_first;
  const ScratchBuffer<int> findings(kFindings, stream);
  fill_zero(findings.span(), stream);
  invert<<<static_cast<unsigned>((rows + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      rows, first, magnitudes, diagonal, findings.data());
  check_launch();
  const Array<int> found = to_host(findings.view(), stream);
  inverse.has_zero = found[kHasZero] != 0;
  if (found[kVaries] == 0) inverse.constant = read_back(diagonal, stream);
  return inverse;
}

RowFacts row_facts(std::span<const DeviceRowBlock<double>> blocks, std::int64_t first_row,
                   DeviceSpan<const std::uint8_t> left_out, StreamRef stream) {
  RowFacts facts;
  for (const DeviceRowBlock<double>& block : blocks) {
    const DeviceCsr<double>& csr = block.csr;
    if (csr.rows == 0) continue;
    const std::int64_t mean = csr.nnz / csr.rows;
    const int lanes = mean > 24 ? 32 : mean > 8 ? 16 : mean > 4 ? 8 : 4;
    const unsigned count = blocks_for_rows((csr.rows * lanes + 31) / 32);
    const ScratchBuffer<RowFacts> partials(count, stream);
    auto* const kernel = lanes == 32   ? &find_row_facts<32>
                         : lanes == 16 ? &find_row_facts<16>
                         : lanes == 8  ? &find_row_facts<8>
                                       : &find_row_facts<4>;
    kernel<<<count, kThreads, 0, stream>>>(
        csr.rows, first_row + block.first_row, first_row, csr.row_ptr.data(), csr.col_idx.data(),
        csr.values.data(), left_out.empty() ? nullptr : left_out.data() + block.first_row,
        partials.data());
    check_launch();
    for (const RowFacts& partial : to_host(partials.view(), stream)) facts += partial;
  }
  return facts;
}

RowSizeRange row_size_range(std::span<const DeviceRowBlock<double>> blocks, StreamRef stream) {
  RowSizeRange range;
  for (const DeviceRowBlock<double>& block : blocks) {
    const DeviceCsr<double>& csr = block.csr;
    if (csr.rows == 0) continue;
    const unsigned count = blocks_for_rows(csr.rows);
    const ScratchBuffer<RowSizeRange> ranges(count, stream);
    find_size_range<<<count, kThreads, 0, stream>>>(csr.rows, csr.row_ptr.data(), csr.values.data(),
                                                    ranges.data());
    check_launch();
    for (const RowSizeRange& part : to_host(ranges.view(), stream)) {
      range.take(part.greatest);
      if (part.greatest > 0) range.take(part.least);
    }
  }
  return range;
}

}  // namespace trireme
