// SPDX-License-Identifier: BSD-3-Clause
// Builds the layout of cuda_rows.hpp on the GPU.
#include <algorithm>
#include <array>
#include <cub/device/device_scan.cuh>
#include <limits>
#include <string>

#include "base/error.hpp"
#include "device/check.hpp"
#include "device/with_scratch.cuh"
#include "multigrid/cuda/cuda_rows.cuh"

namespace trireme::multigrid {
namespace {

constexpr int kThreads = 256;
constexpr int kShifts = 6;  // 1, 2, 4, .. 32 lanes per row
constexpr std::int64_t kMaxNarrow = kNoColumn - 1;

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, (threads + kThreads - 1) / kThreads));
}

__device__ std::int32_t length_of(const std::int32_t* row_ptr, std::int64_t row,
                                  std::int64_t rows) {
  return row < rows ? row_ptr[row + 1] - row_ptr[row] : 0;
}

// Adds the number of steps of all chunks for each number of lanes. One thread per row.
__global__ void count_steps(const std::int32_t* row_ptr, std::int64_t rows,
                            unsigned long long* steps) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int32_t length = length_of(row_ptr, row, rows);
  for (int shift = 0; shift < kShifts; ++shift) {
    const int together = kWarp >> shift;  // rows of a chunk
    std::int32_t longest = (length + (1 << shift) - 1) >> shift;
    for (int offset = together / 2; offset > 0; offset /= 2)
      longest = max(longest, __shfl_xor_sync(kFullWarp, longest, offset));
    // The first row of each chunk has the chunk's number of steps.
    const std::int32_t of_warp =
        __reduce_add_sync(kFullWarp, threadIdx.x % together == 0 ? longest : 0);
    if (threadIdx.x % kWarp == 0 && of_warp > 0)
      atomicAdd(steps + shift, static_cast<unsigned long long>(of_warp));
  }
}

// Writes the number of steps of each chunk. One thread per chunk; the last one writes 0.
__global__ void steps_of_chunks(const std::int32_t* row_ptr, std::int64_t rows, int shift,
                                std::int64_t chunks, std::int32_t* steps) {
  const std::int64_t chunk = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (chunk > chunks) return;
  std::int32_t longest = 0;
  const std::int64_t first = chunk * (kWarp >> shift);
  if (chunk < chunks)
    for (std::int64_t row = first; row < first + (kWarp >> shift); ++row)
      longest = max(longest, (length_of(row_ptr, row, rows) + (1 << shift) - 1) >> shift);
  steps[chunk] = longest;
}

// The place in the CSR of the entry that this lane has in step j of a chunk; -1: none.
__device__ std::int64_t entry_of_lane(const std::int32_t* row_ptr, std::int64_t rows, int shift,
                                      std::int64_t chunk, std::int32_t j) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t row = chunk * (kWarp >> shift) + (lane >> shift);
  if (row >= rows) return -1;
  const std::int64_t entry =
      std::int64_t{row_ptr[row]} + (std::int64_t{j} << shift) + (lane & ((1 << shift) - 1));
  return entry < row_ptr[row + 1] ? entry : -1;
}

// Calls visit(step, j, chunk) for each step of this warp's chunk.
template <class Visit>
__device__ void for_steps(const std::int32_t* step_ptr, std::int64_t chunks, const Visit& visit) {
  const std::int64_t chunk =
      (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / kWarp;
  if (chunk >= chunks) return;
  const std::int32_t first = step_ptr[chunk], end = step_ptr[chunk + 1];
  for (std::int32_t step = first; step < end; ++step) visit(step, step - first, chunk);
}

// Writes the smallest column of each step, and raises *widest to the largest distance from it.
__global__ void find_first_columns(const std::int32_t* row_ptr, const std::int32_t* col_idx,
                                   std::int64_t rows, int shift, const std::int32_t* step_ptr,
                                   std::int64_t chunks, std::int32_t* first, std::int32_t* widest) {
  std::int32_t distance = 0;
  for_steps(step_ptr, chunks, [&](std::int32_t step, std::int32_t j, std::int64_t chunk) {
    const std::int64_t entry = entry_of_lane(row_ptr, rows, shift, chunk, j);
    const std::int32_t low = entry < 0 ? INT32_MAX : col_idx[entry];
    const std::int32_t high = entry < 0 ? -1 : low;
    const std::int32_t smallest = __reduce_min_sync(kFullWarp, low);
    distance = max(distance, __reduce_max_sync(kFullWarp, high) - smallest);
    if (threadIdx.x % kWarp == 0) first[step] = smallest;
  });
  if (threadIdx.x % kWarp == 0 && distance > 0) atomicMax(widest, distance);
}

template <class Column>
__global__ void fill_columns(const std::int32_t* row_ptr, const std::int32_t* col_idx,
                             std::int64_t rows, int shift, const std::int32_t* step_ptr,
                             std::int64_t chunks, const std::int32_t* first, Column* columns) {
  for_steps(step_ptr, chunks, [&](std::int32_t step, std::int32_t j, std::int64_t chunk) {
    const std::int64_t entry = entry_of_lane(row_ptr, rows, shift, chunk, j);
    Column column = static_cast<Column>(-1);
    if (entry >= 0) column = static_cast<Column>(col_idx[entry] - (first ? first[step] : 0));
    columns[static_cast<std::int64_t>(step) * kWarp + threadIdx.x % kWarp] = column;
  });
}

template <class Value>
__global__ void fill_values(const std::int32_t* row_ptr, const double* values, std::int64_t rows,
                            int shift, const std::int32_t* step_ptr, std::int64_t chunks,
                            Value* stored) {
  for_steps(step_ptr, chunks, [&](std::int32_t step, std::int32_t j, std::int64_t chunk) {
    const std::int64_t entry = entry_of_lane(row_ptr, rows, shift, chunk, j);
    stored[static_cast<std::int64_t>(step) * kWarp + threadIdx.x % kWarp] =
        entry < 0 ? Value{0} : static_cast<Value>(values[entry]);
  });
}

// The number of lanes, as its logarithm, with the shortest time by a model: the stored bytes by the
// memory's rate, and the steps of a chunk one after another by the latency of a batch of loads.
int choose_shift(std::int64_t rows, const std::array<unsigned long long, kShifts>& steps,
                 double entry_bytes) {
  constexpr double kBytesPerSecond = 3e12, kSecondsPerStep = 0.2e-6;
  constexpr double kThreadsAtOnce = 132.0 * 1024;
  int best = 0;
  double least = std::numeric_limits<double>::max();
  for (int shift = 0; shift < kShifts; ++shift) {
    const auto all = static_cast<double>(steps[shift]);
    const double chunks = static_cast<double>(rows) * (1 << shift) / kWarp;
    const double rounds = std::max(1.0, chunks * kWarp / kThreadsAtOnce);
    const double per_chunk = all / std::max(1.0, chunks);
    // Where many rounds follow each other, the loads of other chunks hide the latency.
    const double seconds =
        all * kWarp * entry_bytes / kBytesPerSecond + per_chunk * kSecondsPerStep / rounds;
    if (seconds < least) {
      least = seconds;
      best = shift;
    }
  }
  return best;
}

}  // namespace

CudaRows::CudaRows(const DeviceCsr<double>& csr, Precision precision, int lanes, bool wide,
                   StreamRef stream)
    : rows_(csr.rows), nnz_(csr.nnz), precision_(precision) {
  if (rows_ == 0) return;
  std::array<unsigned long long, kShifts> counts{};
  {
    const ScratchBuffer<unsigned long long> sums(kShifts, stream);
    fill_zero(sums.span(), stream);
    count_steps<<<blocks_for(rows_), kThreads, 0, stream>>>(csr.row_ptr.data(), rows_, sums.data());
    check_launch();
    copy_to_host(sums.view(), std::span<unsigned long long>(counts), stream);
    synchronize(stream);
  }
  const double entry_bytes = precision == Precision::mixed ? 6 : 10;
  int shift = 0;
  if (lanes == 0)
    shift = choose_shift(rows_, counts, entry_bytes);
  else
    while ((1 << shift) < lanes) ++shift;
  lanes_ = 1 << shift;
  const std::int64_t per_chunk = kWarp >> shift;
  chunks_ = (rows_ + per_chunk - 1) / per_chunk;
  steps_ = static_cast<std::int64_t>(counts[shift]);
  if (steps_ > std::numeric_limits<std::int32_t>::max())
    throw Error(ExitCode::resource, "multigrid: a level of " + std::to_string(rows_) +
                                        " rows has too many entries for a GPU");

  step_ptr_ = DeviceBuffer<std::int32_t>(chunks_ + 1, stream);
  steps_of_chunks<<<blocks_for(chunks_ + 1), kThreads, 0, stream>>>(
      csr.row_ptr.data(), rows_, shift, chunks_, step_ptr_.data());
  check_launch();
  with_scratch(stream, [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, step_ptr_.data(), step_ptr_.data(),
                                         chunks_ + 1, stream);
  });

  const unsigned blocks = blocks_for(chunks_ * kWarp);
  narrow_ = !wide;
  if (narrow_) {
    first_ = DeviceBuffer<std::int32_t>(steps_, stream);
    const ScratchBuffer<std::int32_t> widest(1, stream);
    fill_zero(widest.span(), stream);
    find_first_columns<<<blocks, kThreads, 0, stream>>>(csr.row_ptr.data(), csr.col_idx.data(),
                                                        rows_, shift, step_ptr_.data(), chunks_,
                                                        first_.data(), widest.data());
    check_launch();
    narrow_ = read_back(widest.data(), stream) <= kMaxNarrow;
  }
  const std::int64_t entries = steps_ * kWarp;
  if (narrow_) {
    narrow_col_ = DeviceBuffer<std::uint16_t>(entries, stream);
    fill_columns<<<blocks, kThreads, 0, stream>>>(csr.row_ptr.data(), csr.col_idx.data(), rows_,
                                                  shift, step_ptr_.data(), chunks_, first_.data(),
                                                  narrow_col_.data());
  } else {
    first_ = {};
    wide_col_ = DeviceBuffer<std::int32_t>(entries, stream);
    fill_columns<std::int32_t>
        <<<blocks, kThreads, 0, stream>>>(csr.row_ptr.data(), csr.col_idx.data(), rows_, shift,
                                          step_ptr_.data(), chunks_, nullptr, wide_col_.data());
  }
  check_launch();
  if (precision_ == Precision::mixed)
    floats_ = DeviceBuffer<float>(entries, stream);
  else
    doubles_ = DeviceBuffer<double>(entries, stream);
  update_values(csr, stream);
  synchronize(stream);
}

void CudaRows::update_values(const DeviceCsr<double>& csr, StreamRef stream) {
  if (rows_ == 0) return;
  const RowsView a = view();
  const unsigned blocks = blocks_for(chunks_ * kWarp);
  if (precision_ == Precision::mixed)
    fill_values<<<blocks, kThreads, 0, stream>>>(csr.row_ptr.data(), csr.values.data(), rows_,
                                                 a.lanes_shift, step_ptr_.data(), chunks_,
                                                 floats_.data());
  else
    fill_values<<<blocks, kThreads, 0, stream>>>(csr.row_ptr.data(), csr.values.data(), rows_,
                                                 a.lanes_shift, step_ptr_.data(), chunks_,
                                                 doubles_.data());
  check_launch();
}

RowsView CudaRows::view() const {
  RowsView a;
  a.rows = rows_;
  a.chunks = static_cast<std::int32_t>(chunks_);
  while ((1 << a.lanes_shift) < lanes_) ++a.lanes_shift;
  a.narrow = narrow_;
  a.single = precision_ == Precision::mixed;
  a.step_ptr = step_ptr_.data();
  a.first = first_.data();
  a.columns = narrow_ ? static_cast<const void*>(narrow_col_.data()) : wide_col_.data();
  a.values = a.single ? static_cast<const void*>(floats_.data()) : doubles_.data();
  return a;
}

std::int64_t CudaRows::bytes() const {
  const std::int64_t value = precision_ == Precision::mixed ? 4 : 8;
  return rows_ == 0 ? 0
                    : 4 * (chunks_ + 1) + (narrow_ ? 4 * steps_ : 0) +
                          steps_ * kWarp * (value + (narrow_ ? 2 : 4));
}

double CudaRows::padding() const {
  return nnz_ == 0 ? 0 : static_cast<double>(steps_ * kWarp) / static_cast<double>(nnz_) - 1;
}

}  // namespace trireme::multigrid
