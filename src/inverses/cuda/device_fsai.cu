// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "inverses/cuda/device_fsai.hpp"
#include "inverses/cuda/row_of_lanes.cuh"
#include "solvers/fp32_range.hpp"

namespace trireme::inverses {
namespace fsai_kernels {

// scale[i] = 1 / sqrt(a_ii), where the row has ascending columns and a positive diagonal.
__global__ void find_scale(std::int64_t rows, const std::int32_t* __restrict__ row_ptr,
                           const std::int32_t* __restrict__ col_idx,
                           const double* __restrict__ values, double* __restrict__ scale,
                           std::int32_t* longest, unsigned* flags) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  double diagonal = 0;
  bool ascends = true;
  for (std::int32_t k = row_ptr[i], before = -1; k < row_ptr[i + 1]; ++k) {
    const std::int32_t column = col_idx[k];
    ascends = ascends && column > before;
    before = column;
    if (column == i) diagonal = values[k];
  }
  const bool fit = ascends && diagonal > 0 && isfinite(diagonal);
  scale[i] = 1 / sqrt(fit ? diagonal : 1.0);
  if (!fit) atomicOr(flags, unsigned{kUnfit});
  const std::int32_t length = row_ptr[i + 1] - row_ptr[i];
  if (length > *longest) atomicMax(longest, length);
}

// Writes this lane's number to values[place], unless that is negative, and the last one of the row
// to values[last].
template <class Row>
__device__ void store(const Row& row, std::int64_t place, std::int64_t last, double* values,
                      unsigned* flags) {
  const bool is_last = row.is_last_lane();  // which has no entry
  const std::int64_t to = is_last ? last : place;
  double number = 0;
  if (to >= 0) values[to] = number = is_last ? row.last() : row.number();
  if (!row.in_all(is_normal_in_fp32(number)) && is_last) atomicOr(flags, unsigned{kBeyondFp32});
}

// The first row of the group that this thread is of, and the number of groups.
template <int kLanes>
__device__ std::int64_t first_row() {
  return (static_cast<std::int64_t>(blockIdx.x) * kThreadsOfRows + threadIdx.x) / kLanes;
}
template <int kLanes>
__device__ std::int64_t groups() {
  return static_cast<std::int64_t>(gridDim.x) * (kThreadsOfRows / kLanes);
}

// Row i of G comes to columns[i * stride] ... and values[i * stride] ..., lengths[i] entries, where
// the stride is that of Work.
template <int kLanes, int kSlots>
__global__ void __launch_bounds__(kThreadsOfRows)
    grow_rows(const Matrix a, int steps, std::int32_t* __restrict__ columns,
              double* __restrict__ values, std::int32_t* __restrict__ lengths,
              std::int32_t* longest, unsigned* flags) {
  constexpr int kStride = Work<kLanes, kSlots>::kMost + 1;
  RowOfLanes<kLanes, kSlots> row(a, work_of_group<kLanes, kSlots>());
  for (std::int64_t i = first_row<kLanes>(); i < a.rows; i += groups<kLanes>()) {
    row.begin(static_cast<std::int32_t>(i));
    for (int step = 0; step < steps; ++step)
      if (!row.grow()) break;
    row.solve();
    const int m = row.entries();
    int rank = 0;  // of this lane's column among the columns
    for (int k = 0; k < m; ++k) rank += row.from_lane(row.column(), k) < row.column();
    const std::int64_t first = i * kStride;
    if (row.lane() < m) columns[first + rank] = row.column();
    if (row.is_last_lane()) {
      columns[first + m] = static_cast<std::int32_t>(i);
      lengths[i] = m + 1;
      if (m + 1 > *longest) atomicMax(longest, m + 1);
    }
    store(row, row.lane() < m ? first + rank : -1, first + m, values, flags);
  }
}

// Numbers for the pattern of G, whose rows have at most kMost + 1 entries.
template <int kLanes>
__global__ void __launch_bounds__(kThreadsOfRows)
    fill_rows(const Matrix a, const std::int32_t* __restrict__ row_ptr,
              const std::int32_t* __restrict__ col_idx, double* __restrict__ values,
              unsigned* flags) {
  RowOfLanes<kLanes, kNoTable> row(a, work_of_group<kLanes, kNoTable>());
  for (std::int64_t i = first_row<kLanes>(); i < a.rows; i += groups<kLanes>()) {
    row.begin(static_cast<std::int32_t>(i));
    const std::int32_t first = row_ptr[i], last = row_ptr[i + 1] - 1;
    std::int32_t place = -1;  // of this lane's entry
    for (std::int32_t k = first; k < last; ++k) {
      if (row.lane() == 0) values[k] = 0;
      const int m = row.entries();
      if (row.add(col_idx[k]) && row.lane() == m) place = k;
    }
    row.sync();
    row.solve();
    store(row, place, last, values, flags);
  }
}

__global__ void compact(std::int64_t rows, const std::int32_t* __restrict__ row_ptr,
                        const std::int32_t* __restrict__ columns, const double* __restrict__ values,
                        int stride, bool rounds, std::int32_t* __restrict__ to_columns,
                        double* __restrict__ to_values) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (i >= rows) return;
  const std::int32_t first = row_ptr[i];
  for (std::int32_t k = threadIdx.x % 32; k < row_ptr[i + 1] - first; k += 32) {
    const double value = values[i * stride + k];
    to_columns[first + k] = columns[i * stride + k];
    to_values[first + k] = rounds ? static_cast<double>(static_cast<float>(value)) : value;
  }
}

__global__ void round_values(std::int64_t count, double* __restrict__ values) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < count) values[k] = static_cast<double>(static_cast<float>(values[k]));
}

}  // namespace fsai_kernels

namespace {

using namespace fsai_kernels;

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 1 << 20;

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}
unsigned blocks_of_rows(std::int64_t rows, int lanes) {
  return static_cast<unsigned>(
      std::min((rows * lanes + kThreadsOfRows - 1) / kThreadsOfRows, kMostBlocks));
}

template <int kLanes, int kSlots, class Kernel>
std::size_t shared_bytes(Kernel* kernel) {
  constexpr std::size_t bytes = kThreadsOfRows / kLanes * sizeof(Work<kLanes, kSlots>);
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  return bytes;
}

template <int kNumber>
using Constant = std::integral_constant<int, kNumber>;

// Calls launch(lanes), a Constant, with the fewest lanes that make rows of so many entries beside
// the diagonal.
template <class Launch>
void with_lanes(std::int32_t entries, const Launch& launch) {
  if (entries <= most_steps(8) * kEntriesPerStep)
    launch(Constant<8>());
  else if (entries <= most_steps(16) * kEntriesPerStep)
    launch(Constant<16>());
  else
    launch(Constant<32>());
}

// Calls launch(lanes, slots), two Constants, with the fewest lanes and the smallest table that no
// row fills, if there is one: in its last step a row looks at as many rows of A as it has entries
// then, the diagonal among them, which name `longest` columns each.
template <class Launch>
void with_table(std::int32_t steps, std::int32_t longest, const Launch& launch) {
  const std::int64_t rows = std::int64_t{steps - 1} * kEntriesPerStep + 1;
  const auto fits = [&](auto lanes, auto slots) {
    if (steps > most_steps(lanes) ||
        rows * longest + lanes > Work<lanes.value, slots.value>::kMostCandidates)
      return false;
    launch(lanes, slots);
    return true;
  };
  if (!(fits(Constant<8>(), Constant<64>()) || fits(Constant<8>(), Constant<128>()) ||
        fits(Constant<16>(), Constant<128>()) || fits(Constant<16>(), Constant<256>()) ||
        fits(Constant<32>(), Constant<256>()) || fits(Constant<32>(), Constant<512>())))
    launch(Constant<32>(), Constant<kMostSlots>());
}

// What the kernels report, in device memory: the flags, and the longest rows of A and of G.
struct Report {
  unsigned flags = 0;
  std::int32_t longest_of_a = 0, longest = 0;
};
Report read(const ScratchBuffer<Report>& report, StreamRef stream) {
  Report host;
  copy_to_host(report.view(), std::span(&host, 1), stream);
  synchronize(stream);
  return host;
}

// D^-1/2; empty where the matrix does not fit.
ScratchBuffer<double> scale_of(const DeviceCsr<double>& a, ScratchBuffer<Report>& report,
                               std::int32_t& longest, StreamRef stream) {
  ScratchBuffer<double> scale(static_cast<std::size_t>(a.rows), stream);
  report = ScratchBuffer<Report>(1, stream);
  fill_zero(report.span(), stream);
  find_scale<<<blocks_for(a.rows), kThreads, 0, stream>>>(
      a.rows, a.row_ptr.data(), a.col_idx.data(), a.values.data(), scale.data(),
      &report.data()->longest_of_a, &report.data()->flags);
  check_launch();
  const Report found = read(report, stream);
  longest = found.longest_of_a;
  if (found.flags & kUnfit) return {};
  return scale;
}

Matrix matrix_of(const DeviceCsr<double>& a, const ScratchBuffer<double>& scale) {
  return {a.rows, a.row_ptr.data(), a.col_idx.data(), a.values.data(), scale.data()};
}

std::optional<DeviceFactor> make(const DeviceCsr<double>& a, std::int32_t steps, StreamRef stream) {
  ScratchBuffer<Report> report;
  std::int32_t longest = 0;
  const ScratchBuffer<double> scale = scale_of(a, report, longest, stream);
  if (scale.empty()) return std::nullopt;
  const auto rows = static_cast<std::size_t>(a.rows);
  DeviceFactor made;
  made.rows.rows = made.rows.cols = a.rows;
  made.rows.row_ptr = ScratchBuffer<std::int32_t>(rows + 1, stream);
  fill_zero(made.rows.row_ptr.span().subspan(rows, 1), stream);
  ScratchBuffer<std::int32_t> columns;
  ScratchBuffer<double> values;
  int stride = 0;
  with_table(steps, longest, [&](auto lanes, auto slots) {
    constexpr int kLanes = decltype(lanes)::value, kSlots = decltype(slots)::value;
    stride = Work<kLanes, kSlots>::kMost + 1;
    columns = ScratchBuffer<std::int32_t>(rows * static_cast<std::size_t>(stride), stream);
    values = ScratchBuffer<double>(rows * static_cast<std::size_t>(stride), stream);
    grow_rows<kLanes, kSlots><<<blocks_of_rows(a.rows, kLanes), kThreadsOfRows,
                                shared_bytes<kLanes, kSlots>(grow_rows<kLanes, kSlots>), stream>>>(
        matrix_of(a, scale), steps, columns.data(), values.data(), made.rows.row_ptr.data(),
        &report.data()->longest, &report.data()->flags);
  });
  check_launch();
  ScratchBuffer<std::int64_t> total(1, stream);
  write_total(made.rows.row_ptr.view().subspan(0, rows), total.data(), stream);
  exclusive_sum_in_place(made.rows.row_ptr.span(), stream);
  std::int64_t nnz = 0;
  copy_to_host(total.view(), std::span(&nnz, 1), stream);
  const Report found = read(report, stream);
  if (nnz > kMostNonzerosOfBlock) return std::nullopt;
  made.longest = found.longest;
  made.in_fp32 = !(found.flags & kBeyondFp32);
  made.rows.col_idx = ScratchBuffer<std::int32_t>(static_cast<std::size_t>(nnz), stream);
  made.rows.values = ScratchBuffer<double>(static_cast<std::size_t>(nnz), stream);
  compact<<<blocks_for(a.rows * 32), kThreads, 0, stream>>>(
      a.rows, made.rows.row_ptr.data(), columns.data(), values.data(), stride, made.in_fp32,
      made.rows.col_idx.data(), made.rows.values.data());
  check_launch();
  return made;
}

}  // namespace

std::optional<DeviceFactor> make_fsai_on_device(const DeviceCsr<double>& a, std::int32_t steps,
                                                StreamRef stream) {
  if (a.rows == 0) return std::nullopt;
  try {
    return make(a, steps, stream);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
    return std::nullopt;
  }
}

bool renew_fsai_on_device(const DeviceCsr<double>& a, DeviceFactor& factor, StreamRef stream) {
  ScratchBuffer<Report> report;
  std::int32_t longest = 0;
  const ScratchBuffer<double> scale = scale_of(a, report, longest, stream);
  if (scale.empty()) return false;
  with_lanes(factor.longest - 1, [&](auto lanes) {
    constexpr int kLanes = decltype(lanes)::value;
    fill_rows<kLanes><<<blocks_of_rows(a.rows, kLanes), kThreadsOfRows,
                        shared_bytes<kLanes, kNoTable>(fill_rows<kLanes>), stream>>>(
        matrix_of(a, scale), factor.rows.row_ptr.data(), factor.rows.col_idx.data(),
        factor.rows.values.data(), &report.data()->flags);
  });
  check_launch();
  factor.in_fp32 = !(read(report, stream).flags & kBeyondFp32);
  if (factor.in_fp32) {
    round_values<<<blocks_for(factor.rows.nnz()), kThreads, 0, stream>>>(factor.rows.nnz(),
                                                                         factor.rows.values.data());
    check_launch();
  }
  return true;
}

}  // namespace trireme::inverses
