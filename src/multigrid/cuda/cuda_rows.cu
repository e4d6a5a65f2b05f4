// SPDX-License-Identifier: BSD-3-Clause
// Builds the layout of cuda_rows.hpp on the GPU.
#include <cuda_fp16.h>
#include <math_constants.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "base/error.hpp"
#include "device/check.hpp"
#include "device/device.hpp"
#include "device/scan.hpp"
#include "multigrid/cuda/cuda_rows.cuh"

namespace trireme::multigrid {
namespace {

constexpr int kThreads = 256;
constexpr int kShifts = 6;  // 1, 2, 4, .. 32 lanes per four rows
constexpr int kRowsOfWarp = kWarp * kPack;
constexpr std::int64_t kNarrowPerWide = 16;   // steps; with more wide ones all columns are wide
constexpr std::int64_t kSampled = 4096;       // values
constexpr std::int64_t kWorthHalf = 100'000;  // nonzeros

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(std::max<std::int64_t>(1, (threads + kThreads - 1) / kThreads));
}

// The largest length among the four rows from `row` on.
__device__ std::int32_t longest_of_pack(const std::int32_t* row_ptr, std::int64_t row,
                                        std::int64_t rows) {
  std::int32_t longest = 0;
  for (std::int64_t i = row; i < row + kPack && i < rows; ++i)
    longest = max(longest, row_ptr[i + 1] - row_ptr[i]);
  return longest;
}

// The number of steps of this thread's chunk; the threads of a warp have neighbouring packs.
__device__ std::int32_t steps_of_chunk(std::int32_t longest, int shift) {
  std::int32_t steps = (longest + (1 << shift) - 1) >> shift;
  for (int offset = (kWarp >> shift) / 2; offset > 0; offset /= 2)
    steps = max(steps, __shfl_xor_sync(kFullWarp, steps, offset));
  return steps;
}

// Adds the number of steps of all chunks for each number of lanes. One thread per pack.
__global__ void count_steps(const std::int32_t* row_ptr, std::int64_t rows,
                            unsigned long long* steps) {
  const std::int64_t pack = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int32_t longest = longest_of_pack(row_ptr, pack * kPack, rows);
  for (int shift = 0; shift < kShifts; ++shift) {
    const std::int32_t own = steps_of_chunk(longest, shift);
    // The first pack of each chunk has the chunk's number of steps.
    const bool first = threadIdx.x % (kWarp >> shift) == 0;
    const std::int32_t of_warp = __reduce_add_sync(kFullWarp, first ? own : 0);
    if (threadIdx.x % kWarp == 0 && of_warp > 0)
      atomicAdd(steps + shift, static_cast<unsigned long long>(of_warp));
  }
}

// Writes the number of steps of each chunk. One thread per pack.
__global__ void steps_of_chunks(const std::int32_t* row_ptr, std::int64_t rows, int shift,
                                std::int64_t chunks, std::int32_t* steps) {
  const std::int64_t pack = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int32_t own = steps_of_chunk(longest_of_pack(row_ptr, pack * kPack, rows), shift);
  const std::int64_t chunk = pack / (kWarp >> shift);
  if (pack % (kWarp >> shift) == 0 && chunk <= chunks) steps[chunk] = chunk < chunks ? own : 0;
}

// The place in the CSR of the entry that this lane has of its row r in step j of a chunk; -1: none.
__device__ std::int64_t entry_of_lane(const std::int32_t* row_ptr, std::int64_t rows, int shift,
                                      std::int64_t chunk, std::int32_t j, int r) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t row = (chunk * (kWarp >> shift) + (lane >> shift)) * kPack + r;
  if (row >= rows) return -1;
  const std::int64_t entry =
      std::int64_t{row_ptr[row]} + (std::int64_t{j} << shift) + (lane & ((1 << shift) - 1));
  return entry < row_ptr[row + 1] ? entry : -1;
}

// The place of the first of this lane's entries of a step.
__device__ std::int64_t place_of_lane(std::int32_t step) {
  return (static_cast<std::int64_t>(step) * kWarp + threadIdx.x % kWarp) * kPack;
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

// Writes the smallest column of each step; ~k for the steps whose columns are too far apart for it,
// in some order of k = 0 .. *wide - 1.
__global__ void find_first_columns(const std::int32_t* row_ptr, const std::int32_t* col_idx,
                                   std::int64_t rows, int shift, const std::int32_t* step_ptr,
                                   std::int64_t chunks, std::int32_t* first, std::int32_t* wide) {
  for_steps(step_ptr, chunks, [&](std::int32_t step, std::int32_t j, std::int64_t chunk) {
    std::int32_t low = INT32_MAX, high = -1;
    for (int r = 0; r < kPack; ++r) {
      const std::int64_t entry = entry_of_lane(row_ptr, rows, shift, chunk, j, r);
      if (entry < 0) continue;
      low = min(low, col_idx[entry]);
      high = max(high, col_idx[entry]);
    }
    low = __reduce_min_sync(kFullWarp, low);  // a step has an entry
    high = __reduce_max_sync(kFullWarp, high);
    if (threadIdx.x % kWarp == 0)
      first[step] = high - low <= kMaxNarrow ? low : ~atomicAdd(wide, 1);
  });
}

template <class Column>
__global__ void fill_columns(const std::int32_t* row_ptr, const std::int32_t* col_idx,
                             std::int64_t rows, int shift, const std::int32_t* step_ptr,
                             std::int64_t chunks, const std::int32_t* first, Column* columns,
                             std::int32_t* wide_columns) {
  for_steps(step_ptr, chunks, [&](std::int32_t step, std::int32_t j, std::int64_t chunk) {
    Pack<Column> pack = {};
    const std::int32_t base = first ? first[step] : 0;
    for (int r = 0; r < kPack; ++r)
      if (const std::int64_t entry = entry_of_lane(row_ptr, rows, shift, chunk, j, r); entry >= 0)
        pack.of_row[r] = static_cast<Column>(col_idx[entry] - base);
    *reinterpret_cast<Pack<Column>*>(columns + place_of_lane(step)) = pack;
    if (base >= 0) return;
    Pack<std::int32_t> wide = {};
    for (int r = 0; r < kPack; ++r)
      if (const std::int64_t entry = entry_of_lane(row_ptr, rows, shift, chunk, j, r); entry >= 0)
        wide.of_row[r] = col_idx[entry];
    *reinterpret_cast<Pack<std::int32_t>*>(wide_columns + place_of_lane(~base)) = wide;
  });
}

// FP16 is kept as its bits.
template <class Value>
__device__ Value rounded(double value, double factor) {
  if constexpr (sizeof(Value) == 2)
    return __half_as_ushort(__double2half(value / factor));
  else
    return static_cast<Value>(value);
}

template <class Value>
__global__ void fill_values(const std::int32_t* row_ptr, const double* values, std::int64_t rows,
                            int shift, const std::int32_t* step_ptr, std::int64_t chunks,
                            double factor, Value* stored) {
  for_steps(step_ptr, chunks, [&](std::int32_t step, std::int32_t j, std::int64_t chunk) {
    Pack<Value> pack = {};
    for (int r = 0; r < kPack; ++r)
      if (const std::int64_t entry = entry_of_lane(row_ptr, rows, shift, chunk, j, r); entry >= 0)
        pack.of_row[r] = rounded<Value>(values[entry], factor);
    *reinterpret_cast<Pack<Value>*>(stored + place_of_lane(step)) = pack;
  });
}

// Whether FP16 holds `value` as a multiple of `factor` as exactly as FP32 holds it.
__device__ bool fits_half(double value, double factor) {
  const double there = static_cast<double>(__half2float(__double2half(value / factor))) * factor;
  return fabs(there - value) <= 0x1p-24 * fabs(value);
}

struct HalfFit {
  double factor = 1;
  std::int64_t refused = 0;  // without padding, all bytes that the host copies are written
};

// Takes the smallest of the first values other than 0 as the factor, and tests it on them.
__global__ void __launch_bounds__(kThreads)
    choose_factor(const double* values, std::int64_t nnz, HalfFit* fit) {
  __shared__ unsigned long long smallest;
  if (threadIdx.x == 0) smallest = __double_as_longlong(CUDART_INF);
  __syncthreads();
  const std::int64_t count = nnz < kSampled ? nnz : kSampled;
  for (std::int64_t k = threadIdx.x; k < count; k += kThreads)
    if (values[k] != 0)  // positive numbers have the order of their bits
      atomicMin(&smallest, static_cast<unsigned long long>(__double_as_longlong(fabs(values[k]))));
  __syncthreads();
  const double factor = __longlong_as_double(static_cast<long long>(smallest));
  bool refused = false;
  for (std::int64_t k = threadIdx.x; k < count; k += kThreads)
    refused = refused || !fits_half(values[k], factor);
  const bool any = __syncthreads_or(refused) != 0;
  if (threadIdx.x == 0) {
    fit->factor = factor;
    fit->refused = any ? 1 : 0;
  }
}

__global__ void test_factor(const double* values, std::int64_t nnz, HalfFit* fit) {
  if (*static_cast<volatile std::int64_t*>(&fit->refused) != 0) return;
  const double factor = fit->factor;
  bool refused = false;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; k < nnz;
       k += stride)
    refused = refused || !fits_half(values[k], factor);
  if (refused) fit->refused = 1;
}

// The number of lanes, as its logarithm, with the shortest time by a model that was fitted to an
// H200: the stored bytes by the memory's rate, and for each wave of warps the time of its batches
// of steps, which follow each other.
int choose_shift(std::int64_t rows, const std::array<unsigned long long, kShifts>& steps,
                 double entry_bytes) {
  constexpr double kBytesPerSecond = 3.3e12, kSecondsPerWave = 1.2e-6, kSecondsPerBatch = 0.7e-6;
  const double warps_at_once = multiprocessors() * 24.0;
  int best = 0;
  double least = std::numeric_limits<double>::max();
  for (int shift = 0; shift < kShifts; ++shift) {
    const auto all = static_cast<double>(steps[shift]);
    const double chunks = std::ceil(static_cast<double>(rows) * (1 << shift) / kRowsOfWarp);
    const double waves = std::max(1.0, chunks / warps_at_once);
    const double batches = std::ceil(all / chunks / kBatch);
    const double seconds = all * kRowsOfWarp * entry_bytes / kBytesPerSecond +
                           waves * (kSecondsPerWave + batches * kSecondsPerBatch);
    if (seconds < least) {
      least = seconds;
      best = shift;
    }
  }
  return best;
}

}  // namespace

CudaRows::CudaRows(const DeviceCsr<double>& csr, Precision precision, int lanes, bool wide,
                   bool allow_half, StreamRef stream)
    : rows_(csr.rows), nnz_(csr.nnz), precision_(precision), allow_half_(allow_half) {
  if (rows_ == 0) return;
  std::array<unsigned long long, kShifts> counts{};
  {
    const ScratchBuffer<unsigned long long> sums(kShifts, stream);
    fill_zero(sums.span(), stream);
    count_steps<<<blocks_for((rows_ + kPack - 1) / kPack), kThreads, 0, stream>>>(
        csr.row_ptr.data(), rows_, sums.data());
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
  const std::int64_t per_chunk = kRowsOfWarp >> shift;
  chunks_ = (rows_ + per_chunk - 1) / per_chunk;
  steps_ = static_cast<std::int64_t>(counts[shift]);
  if (steps_ > std::numeric_limits<std::int32_t>::max())
    throw Error(ExitCode::resource, "multigrid: a level of " + std::to_string(rows_) +
                                        " rows has too many entries for a GPU");

  step_ptr_ = DeviceBuffer<std::int32_t>(chunks_ + 1, stream);
  steps_of_chunks<<<blocks_for((chunks_ + 1) * (kWarp >> shift)), kThreads, 0, stream>>>(
      csr.row_ptr.data(), rows_, shift, chunks_, step_ptr_.data());
  check_launch();
  exclusive_sum_in_place(step_ptr_.span(), stream);

  const unsigned blocks = blocks_for(chunks_ * kWarp);
  narrow_ = !wide;
  if (narrow_) {
    first_ = DeviceBuffer<std::int32_t>(steps_, stream);
    const ScratchBuffer<std::int32_t> wide_steps(1, stream);
    fill_zero(wide_steps.span(), stream);
    find_first_columns<<<blocks, kThreads, 0, stream>>>(csr.row_ptr.data(), csr.col_idx.data(),
                                                        rows_, shift, step_ptr_.data(), chunks_,
                                                        first_.data(), wide_steps.data());
    check_launch();
    wide_steps_ = read_back(wide_steps.data(), stream);
    narrow_ = wide_steps_ <= steps_ / kNarrowPerWide;
  }
  const std::int64_t entries = steps_ * kRowsOfWarp;
  if (narrow_) {
    narrow_col_ = DeviceBuffer<std::uint16_t>(entries, stream);
    wide_col_ = DeviceBuffer<std::int32_t>(wide_steps_ * kRowsOfWarp, stream);
    fill_columns<<<blocks, kThreads, 0, stream>>>(csr.row_ptr.data(), csr.col_idx.data(), rows_,
                                                  shift, step_ptr_.data(), chunks_, first_.data(),
                                                  narrow_col_.data(), wide_col_.data());
  } else {
    first_ = {};
    wide_col_ = DeviceBuffer<std::int32_t>(entries, stream);
    fill_columns<std::int32_t><<<blocks, kThreads, 0, stream>>>(
        csr.row_ptr.data(), csr.col_idx.data(), rows_, shift, step_ptr_.data(), chunks_, nullptr,
        wide_col_.data(), nullptr);
  }
  check_launch();
  update_values(csr, stream);
  synchronize(stream);
}

void CudaRows::choose_stored(const DeviceCsr<double>& csr, StreamRef stream) {
  stored_ = precision_ == Precision::mixed ? StoredValues::single : StoredValues::full;
  if (!allow_half_ || !narrow_ || stored_ != StoredValues::single || nnz_ < kWorthHalf) return;
  const ScratchBuffer<HalfFit> fit(1, stream);
  choose_factor<<<1, kThreads, 0, stream>>>(csr.values.data(), nnz_, fit.data());
  check_launch();
  const unsigned blocks = std::min(1024u, blocks_for(nnz_));
  test_factor<<<blocks, kThreads, 0, stream>>>(csr.values.data(), nnz_, fit.data());
  check_launch();
  const HalfFit found = read_back(fit.data(), stream);
  const auto factor = static_cast<float>(found.factor);
  if (found.refused != 0 || !(factor > 0) || !std::isfinite(factor)) return;
  stored_ = StoredValues::half;
  factor_ = factor;
}

void CudaRows::update_values(const DeviceCsr<double>& csr, StreamRef stream) {
  if (rows_ == 0) return;
  choose_stored(csr, stream);
  const std::int64_t entries = steps_ * kRowsOfWarp;
  const auto fill = [&](auto& buffer) {
    if (static_cast<std::int64_t>(buffer.size()) != entries) {
      halves_ = {};
      floats_ = {};
      buffer = std::remove_reference_t<decltype(buffer)>(entries, stream);
    }
    fill_values<<<blocks_for(chunks_ * kWarp), kThreads, 0, stream>>>(
        csr.row_ptr.data(), csr.values.data(), rows_,
        std::countr_zero(static_cast<unsigned>(lanes_)), step_ptr_.data(), chunks_, double{factor_},
        buffer.data());
    check_launch();
  };
  switch (stored_) {
    case StoredValues::half:
      return fill(halves_);
    case StoredValues::single:
      return fill(floats_);
    case StoredValues::full:
      return fill(doubles_);
  }
}

RowsView CudaRows::view() const {
  RowsView a;
  a.rows = rows_;
  a.chunks = static_cast<std::int32_t>(chunks_);
  a.lanes_shift = std::countr_zero(static_cast<unsigned>(lanes_));
  a.narrow = narrow_;
  a.stored = stored_;
  a.factor = factor_;
  a.step_ptr = step_ptr_.data();
  a.first = first_.data();
  a.wide_columns = wide_col_.data();
  a.columns = narrow_ ? static_cast<const void*>(narrow_col_.data()) : wide_col_.data();
  a.values = stored_ == StoredValues::half     ? static_cast<const void*>(halves_.data())
             : stored_ == StoredValues::single ? static_cast<const void*>(floats_.data())
                                               : doubles_.data();
  return a;
}

std::int64_t CudaRows::bytes() const {
  const std::int64_t value = stored_ == StoredValues::half     ? 2
                             : stored_ == StoredValues::single ? 4
                                                               : 8;
  return rows_ == 0 ? 0
                    : 4 * (chunks_ + 1) + (narrow_ ? 4 * (steps_ + wide_steps_ * kRowsOfWarp) : 0) +
                          steps_ * kRowsOfWarp * (value + (narrow_ ? 2 : 4));
}

double CudaRows::padding() const {
  return nnz_ == 0 ? 0 : static_cast<double>(steps_ * kRowsOfWarp) / static_cast<double>(nnz_) - 1;
}

}  // namespace trireme::multigrid
