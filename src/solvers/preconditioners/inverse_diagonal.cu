// SPDX-License-Identifier: BSD-3-Clause
// A group of 8 lanes looks through each row. The kernel reads the values of the diagonal only, so
// that it moves 4 bytes per entry, 4 per row pointer, and a sector of 32 bytes and 8 bytes per row.
#include "solvers/preconditioners/inverse_diagonal.hpp"

#include "device/buffer.hpp"
#include "device/check.hpp"

namespace trireme::solvers {
namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 8;  // per row

__global__ void __launch_bounds__(kThreads)
    invert_diagonal(std::int64_t rows, std::int64_t first_row,
                    const std::int32_t* __restrict__ row_ptr,
                    const std::int32_t* __restrict__ col_idx, const double* __restrict__ values,
                    bool magnitudes, double* __restrict__ inverse,
                    unsigned long long* __restrict__ zeros) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t row = thread / kLanes;
  const int lane = static_cast<int>(thread % kLanes);
  double sum = 0;
  if (row < rows)
    for (std::int32_t k = row_ptr[row] + lane; k < row_ptr[row + 1]; k += kLanes)
      if (col_idx[k] == first_row + row) sum += values[k];
  for (int distance = kLanes / 2; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, distance, kLanes);
  if (row >= rows || lane != 0) return;
  if (sum == 0) atomicAdd(zeros, 1ull);
  inverse[row] = sum == 0 ? 1 : 1 / (magnitudes ? fabs(sum) : sum);
}

}  // namespace

std::int64_t invert_diagonal_on_device(std::span<const DeviceRowBlock<double>> blocks,
                                       DeviceSpan<double> inverse, bool magnitudes,
                                       StreamRef stream) {
  if (inverse.empty()) return 0;
  const ScratchBuffer<unsigned long long> zeros(1, stream);
  fill_zero(zeros.span(), stream);
  for (const auto& [first_row, first_entry, csr] : blocks) {
    if (csr.rows == 0) continue;
    const auto count = static_cast<unsigned>((csr.rows * kLanes + kThreads - 1) / kThreads);
    invert_diagonal<<<count, kThreads, 0, stream>>>(
        csr.rows, first_row, csr.row_ptr.data(), csr.col_idx.data(), csr.values.data(), magnitudes,
        inverse.data() + first_row, zeros.data());
    cuda_check(cudaGetLastError());
  }
  return static_cast<std::int64_t>(read_back(zeros.data(), stream));
}

}  // namespace trireme::solvers
