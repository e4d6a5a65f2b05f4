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
#include "inverses/row_rules.hpp"

namespace trireme::inverses {
namespace fsai_kernels {

constexpr int kMost = kMostStepsOnGpu * kEntriesPerStep;  // entries of a row beside the diagonal
static_assert(kMost < 32, "a lane has one entry");
constexpr int kStride = kMost + 1;
constexpr int kMostSlots = 1024;
constexpr int kWarps = 4;  // per block
constexpr unsigned kAll = 0xffffffffu;
constexpr std::int32_t kFree = -1;

// What keeps the host from trusting the result, or FP32 from having it.
enum Flag : unsigned { kUnfit = 1, kBeyondFp32 = 2 };

struct Matrix {
  std::int64_t rows;
  const std::int32_t* __restrict__ row_ptr;
  const std::int32_t* __restrict__ col_idx;
  const double* __restrict__ values;
  const double* __restrict__ scale;  // D^-1/2
};

// The table has kSlots slots, a power of two, of which 3/4 may be taken.
template <int kSlots>
struct Work {
  static constexpr int kMostCandidates = kSlots / 4 * 3;
  double factor[kMost * (kMost + 1) / 2];
  double sums[kSlots];
  std::int32_t keys[kSlots];
  std::int16_t taken[kMostCandidates];  // slots, in the order in which they were taken
};

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

// The row that a warp makes. All lanes run its functions together.
template <int kSlots>
class WarpRow {
 public:
  __device__ WarpRow(const Matrix& a, Work<kSlots>& work)
      : a_(a), work_(work), lane_(static_cast<int>(threadIdx.x % 32)) {
    for (int slot = lane_; slot < kSlots; slot += 32) work_.keys[slot] = kFree;
    __syncwarp();
  }

  __device__ void begin(std::int32_t i) {
    row_ = i;
    m_ = 0;
    d_ = 1;
    column_ = -1;
    z_ = 0;
  }
  __device__ int entries() const { return m_; }
  __device__ std::int32_t column() const { return column_; }
  __device__ double number() const { return y_ / sqrt(d_) * a_.scale[column_]; }
  __device__ double last() const { return 1 / sqrt(d_) * a_.scale[row_]; }

  // L^T y = z.
  __device__ void solve() {
    y_ = z_;
    for (int k = m_ - 1; k >= 0; --k) {
      const double yk = __shfl_sync(kAll, y_, k) / work_.factor[of(k, k)];
      if (lane_ == k) y_ = yk;
      if (lane_ < k) y_ -= work_.factor[of(k, lane_)] * yk;
    }
  }

  __device__ bool add(std::int32_t column) {
    double number = lane_ < m_ ? entry(column, column_) : 0;
    double pivot = 1;
    double right = -entry(row_, column);
    for (int k = 0; k < m_; ++k) {
      const double lk = __shfl_sync(kAll, number, k) / work_.factor[of(k, k)];
      if (lane_ == k) number = lk;
      if (lane_ > k && lane_ < m_) number -= work_.factor[of(lane_, k)] * lk;
      pivot -= lk * lk;
      right -= lk * __shfl_sync(kAll, z_, k);
    }
    if (!(pivot > kLeastPivot)) return false;
    const double root = sqrt(pivot);
    const double z = right / root;
    if (!(d_ - z * z > kLeastPivot)) return false;
    d_ -= z * z;
    __syncwarp();
    if (lane_ < m_) work_.factor[of(m_, lane_)] = number;
    if (lane_ == m_) {
      work_.factor[of(m_, m_)] = root;
      z_ = z;
      column_ = column;
    }
    ++m_;
    __syncwarp();
    return true;
  }

  // One step of growth. False: nothing has come in.
  __device__ bool grow() {
    solve();
    candidates_ = 0;
    add_to_gradient(row_, 1);
    for (int k = 0; k < m_; ++k)
      add_to_gradient(__shfl_sync(kAll, column_, k), __shfl_sync(kAll, y_, k));
    if (lane_ < m_)
      if (const int slot = find(column_); slot >= 0) work_.sums[slot] = 0;
    __syncwarp();
    const double least = kLeastGain * d_;
    std::int32_t chosen[kEntriesPerStep];
    int count = 0;
    for (; count < kEntriesPerStep; ++count) {
      chosen[count] = take_largest(least);
      if (chosen[count] < 0) break;
    }
    __syncwarp();
    for (int k = lane_; k < candidates_; k += 32) work_.keys[work_.taken[k]] = kFree;
    __syncwarp();
    bool grew = false;
    for (int k = 0; k < count; ++k) grew = add(chosen[k]) || grew;
    return grew;
  }

 private:
  __device__ static int of(int row, int column) { return row * (row + 1) / 2 + column; }
  __device__ static unsigned hash(std::int32_t column) {
    return static_cast<unsigned>(column) * 2654435761u >> 22 & (kSlots - 1);
  }

  __device__ std::int32_t lower_bound(std::int32_t row, std::int32_t column) const {
    std::int32_t low = a_.row_ptr[row], high = a_.row_ptr[row + 1];
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (a_.col_idx[middle] < column)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  __device__ double scaled(std::int32_t row, std::int32_t k) const {
    return a_.values[k] * a_.scale[row] * a_.scale[a_.col_idx[k]];
  }
  // Of an entry beside the diagonal.
  __device__ double entry(std::int32_t row, std::int32_t column) const {
    const std::int32_t k = lower_bound(row, column);
    return k < a_.row_ptr[row + 1] && a_.col_idx[k] == column ? scaled(row, k) : 0;
  }

  // The slot of a column; -1: it has none.
  __device__ int find(std::int32_t column) const {
    for (unsigned slot = hash(column);; slot = (slot + 1) % kSlots) {
      if (work_.keys[slot] == column) return static_cast<int>(slot);
      if (work_.keys[slot] == kFree) return -1;
    }
  }

  __device__ void add_to_gradient(std::int32_t row, double factor) {
    const std::int32_t first = a_.row_ptr[row], end = lower_bound(row, row_);
    if (end - first <= kLongRow) {
      add_to_gradient(row, factor, first, end);
    } else {
      add_to_gradient(row, factor, first, first + kLongRow / 2);
      add_to_gradient(row, factor, end - kLongRow / 2, end);
    }
  }
  // The columns of a row differ, so that no two lanes add to one sum at a time.
  __device__ void add_to_gradient(std::int32_t row, double factor, std::int32_t first,
                                  std::int32_t end) {
    for (std::int32_t base = first; base < end; base += 32) {
      const std::int32_t k = base + lane_;
      const bool has_room = candidates_ + 32 <= Work<kSlots>::kMostCandidates;
      bool is_new = false;
      int at = -1;
      if (k < end) {
        const std::int32_t column = a_.col_idx[k];
        for (unsigned slot = hash(column);; slot = (slot + 1) % kSlots) {
          const std::int32_t key =
              has_room ? atomicCAS(&work_.keys[slot], kFree, column) : work_.keys[slot];
          is_new = has_room && key == kFree;
          if (is_new || key == column) at = static_cast<int>(slot);
          if (at >= 0 || key == kFree) break;
        }
        const double value = a_.col_idx[k] == row ? 1 : scaled(row, k);
        // A sum begins with 0, as on the host.
        if (at >= 0) work_.sums[at] = (is_new ? 0 : work_.sums[at]) + factor * value;
      }
      const unsigned all_new = __ballot_sync(kAll, is_new);
      if (is_new)
        work_.taken[candidates_ + __popc(all_new & ((1u << lane_) - 1))] =
            static_cast<std::int16_t>(at);
      candidates_ += __popc(all_new);
      __syncwarp();
    }
  }

  // The column with the largest sum, whose sum becomes 0; -1: none gains `least`. Of equal sums,
  // that of the smallest column.
  __device__ std::int32_t take_largest(double least) {
    double size = 0;
    std::int32_t column = -1;
    for (int k = lane_; k < candidates_; k += 32) {
      const int slot = work_.taken[k];
      const std::int32_t key = work_.keys[slot];
      const double own = fabs(work_.sums[slot]);
      if (own > size || (own == size && column >= 0 && key < column)) {
        size = own;
        column = key;
      }
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      const double other = __shfl_xor_sync(kAll, size, distance);
      const std::int32_t its = __shfl_xor_sync(kAll, column, distance);
      if (other > size || (other == size && its >= 0 && (column < 0 || its < column))) {
        size = other;
        column = its;
      }
    }
    if (column < 0 || !(size * size >= least)) return -1;
    __syncwarp();
    if (lane_ == 0) work_.sums[find(column)] = 0;
    __syncwarp();
    return column;
  }

  const Matrix& a_;
  Work<kSlots>& work_;
  int lane_;
  std::int32_t row_ = 0;
  int m_ = 0;            // entries of the pattern
  double d_ = 1;         // as in growing_row.hpp
  int candidates_ = 0;   // taken slots
  std::int32_t column_;  // of this lane's entry, as z_ and y_ are
  double z_, y_;
};

__device__ inline bool is_normal_in_fp32(double value) {
  const double size = fabs(value);
  return value == 0 || (size >= 1.1754943508222875e-38 && size <= 3.4028234663852886e+38);
}

template <int kSlots>
__device__ Work<kSlots>& work_of_warp() {
  extern __shared__ double shared[];
  return reinterpret_cast<Work<kSlots>*>(shared)[threadIdx.x / 32];
}

// Row i of G comes to columns[i * kStride] ... and values[i * kStride] ..., lengths[i] entries.
template <int kSlots>
__global__ void __launch_bounds__(kWarps * 32)
    grow_rows(const Matrix a, int steps, std::int32_t* __restrict__ columns,
              double* __restrict__ values, std::int32_t* __restrict__ lengths,
              std::int32_t* longest, unsigned* flags) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  WarpRow<kSlots> row(a, work_of_warp<kSlots>());
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * kWarps;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
       i < a.rows; i += warps) {
    row.begin(static_cast<std::int32_t>(i));
    for (int step = 0; step < steps; ++step)
      if (!row.grow()) break;
    row.solve();
    const int m = row.entries();
    int rank = 0;  // of this lane's column among the columns
    for (int k = 0; k < m; ++k) rank += __shfl_sync(kAll, row.column(), k) < row.column();
    bool normal = true;
    if (lane < m) {
      const double number = row.number();
      columns[i * kStride + rank] = row.column();
      values[i * kStride + rank] = number;
      normal = is_normal_in_fp32(number);
    }
    if (lane == 31) {
      columns[i * kStride + m] = static_cast<std::int32_t>(i);
      values[i * kStride + m] = row.last();
      lengths[i] = m + 1;
      atomicMax(longest, m + 1);
      normal = is_normal_in_fp32(row.last());
    }
    if (!__all_sync(kAll, normal) && lane == 0) atomicOr(flags, unsigned{kBeyondFp32});
  }
}

// Numbers for the pattern of G, whose rows have at most kStride entries.
template <int kSlots>
__global__ void __launch_bounds__(kWarps * 32)
    fill_rows(const Matrix a, const std::int32_t* __restrict__ row_ptr,
              const std::int32_t* __restrict__ col_idx, double* __restrict__ values,
              unsigned* flags) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  WarpRow<kSlots> row(a, work_of_warp<kSlots>());
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * kWarps;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
       i < a.rows; i += warps) {
    row.begin(static_cast<std::int32_t>(i));
    const std::int32_t first = row_ptr[i], last = row_ptr[i + 1] - 1;
    std::int32_t place = -1;  // of this lane's entry
    for (std::int32_t k = first; k < last; ++k) {
      if (lane == 0) values[k] = 0;
      const int m = row.entries();
      if (row.add(col_idx[k]) && lane == m) place = k;
    }
    __syncwarp();
    row.solve();
    bool normal = true;
    if (place >= 0) {
      const double number = row.number();
      values[place] = number;
      normal = is_normal_in_fp32(number);
    }
    if (lane == 31) {
      values[last] = row.last();
      normal = is_normal_in_fp32(row.last());
    }
    if (!__all_sync(kAll, normal) && lane == 0) atomicOr(flags, unsigned{kBeyondFp32});
  }
}

__global__ void compact(std::int64_t rows, const std::int32_t* __restrict__ row_ptr,
                        const std::int32_t* __restrict__ columns, const double* __restrict__ values,
                        bool rounds, std::int32_t* __restrict__ to_columns,
                        double* __restrict__ to_values) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  if (i >= rows) return;
  const std::int32_t first = row_ptr[i];
  for (std::int32_t k = threadIdx.x % 32; k < row_ptr[i + 1] - first; k += 32) {
    const double value = values[i * kStride + k];
    to_columns[first + k] = columns[i * kStride + k];
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
unsigned blocks_of_rows(std::int64_t rows) {
  return static_cast<unsigned>(std::min((rows + kWarps - 1) / kWarps, kMostBlocks));
}

template <int kSlots, class Kernel>
std::size_t shared_bytes(Kernel* kernel) {
  constexpr std::size_t bytes = kWarps * sizeof(Work<kSlots>);
  cuda_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
  return bytes;
}

// Calls launch(slots) with the smallest table, as a std::integral_constant, that no row fills: the
// columns of a row of G are kStride rows of A, which name `longest` columns each.
template <class Launch>
void with_slots(std::int32_t longest, const Launch& launch) {
  const std::int64_t most = std::int64_t{kStride} * longest + 32;
  if (most <= Work<256>::kMostCandidates)
    launch(std::integral_constant<int, 256>());
  else if (most <= Work<512>::kMostCandidates)
    launch(std::integral_constant<int, 512>());
  else
    launch(std::integral_constant<int, kMostSlots>());
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
  ScratchBuffer<std::int32_t> columns(rows * kStride, stream);
  ScratchBuffer<double> values(rows * kStride, stream);
  DeviceFactor made;
  made.rows.rows = made.rows.cols = a.rows;
  made.rows.row_ptr = ScratchBuffer<std::int32_t>(rows + 1, stream);
  fill_zero(made.rows.row_ptr.span().subspan(rows, 1), stream);
  with_slots(longest, [&](auto slots) {
    constexpr int kSlots = decltype(slots)::value;
    grow_rows<kSlots>
        <<<blocks_of_rows(a.rows), kWarps * 32, shared_bytes<kSlots>(grow_rows<kSlots>), stream>>>(
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
      a.rows, made.rows.row_ptr.data(), columns.data(), values.data(), made.in_fp32,
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
  constexpr int kNoTable = 32;
  fill_rows<kNoTable>
      <<<blocks_of_rows(a.rows), kWarps * 32, shared_bytes<kNoTable>(fill_rows<kNoTable>),
         stream>>>(matrix_of(a, scale), factor.rows.row_ptr.data(), factor.rows.col_idx.data(),
                   factor.rows.values.data(), &report.data()->flags);
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
