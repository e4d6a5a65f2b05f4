// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor and its build. The arrays are equal to those of build.cpp.
//
// One thread sums one sorted row, so that the threads of a warp read consecutive entries of a
// diagonal and have rows of about the same length. One block sums each of the first rows that have
// more than kLongRow nonzeros: few rows reach their last diagonals, which the threads of a block
// then read side by side.
//
// Bytes moved per nonzero: 12 (double) or 8 (float), and those of jds_ptr, which the caches hold.
// The result is deterministic: the order of each sum depends on the row only.
#include "base/stopwatch.hpp"
#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "device/sort.hpp"
#include "kernels/numeric.cuh"
#include "kernels/peers/jds/jds.hpp"

namespace trireme {
namespace {

constexpr int kThreads = 256;
constexpr std::int32_t kLongRow = 1024;  // nonzeros

int blocks_for(std::int64_t items) { return static_cast<int>((items + kThreads - 1) / kThreads); }

__global__ void find_lengths(std::int64_t rows, const std::int32_t* row_ptr, std::int32_t* lengths,
                             std::int32_t* numbers) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (row >= rows) return;
  lengths[row] = row_ptr[row + 1] - row_ptr[row];
  numbers[row] = static_cast<std::int32_t>(row);
}

// The number of rows of more than `length` nonzeros, where `sorted` has the lengths in descending
// order.
__device__ std::int32_t rows_longer_than(std::int32_t length, std::int64_t rows,
                                         const std::int32_t* sorted) {
  std::int64_t low = 0, high = rows;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (sorted[middle] > length)
      low = middle + 1;
    else
      high = middle;
  }
  return static_cast<std::int32_t>(low);
}

// The length of each diagonal; 0 for the element after the last one.
__global__ void find_diagonals(std::int64_t diagonals, std::int64_t rows,
                               const std::int32_t* sorted, std::int32_t* lengths) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (j > diagonals) return;
  lengths[j] = j < diagonals ? rows_longer_than(static_cast<std::int32_t>(j), rows, sorted) : 0;
}

// The layout, without its owners.
template <class Value>
struct View {
  std::int64_t rows;
  const std::int32_t* row_order;
  const std::int32_t* jds_ptr;
  std::int32_t* cols;
  Value* vals;
};

// Writes the entries first, first + stride, ... of sorted row i; columns only where cols is not
// null.
template <class Value>
__device__ void write_row(const View<Value>& a, std::int64_t i, std::int32_t first,
                          std::int32_t stride, const std::int32_t* row_ptr,
                          const std::int32_t* col_idx, const Value* values) {
  const std::int32_t row = a.row_order[i];
  const std::int32_t begin = row_ptr[row], length = row_ptr[row + 1] - begin;
  for (std::int32_t j = first; j < length; j += stride) {
    const std::int64_t at = a.jds_ptr[j] + i;
    if (a.cols != nullptr) a.cols[at] = col_idx[begin + j];
    a.vals[at] = values[begin + j];
  }
}

template <class Value>
__global__ void write_long_rows(View<Value> a, const std::int32_t* row_ptr,
                                const std::int32_t* col_idx, const Value* values) {
  write_row(a, blockIdx.x, threadIdx.x, kThreads, row_ptr, col_idx, values);
}
template <class Value>
__global__ void write_rows(View<Value> a, std::int64_t long_rows, const std::int32_t* row_ptr,
                           const std::int32_t* col_idx, const Value* values) {
  const std::int64_t i = long_rows + blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (i < a.rows) write_row(a, i, 0, 1, row_ptr, col_idx, values);
}

// Diagonal j has entry i where i is less than its length. The diagonals of a row come first.
template <class Value>
__device__ Value sum_row(const View<Value>& a, std::int64_t i, std::int64_t diagonals,
                         std::int64_t first, std::int64_t stride, const Value* x) {
  Value sum{};
  for (std::int64_t j = first; j < diagonals; j += stride) {
    const std::int64_t at = load<std::int32_t>(a.jds_ptr + j) + i;
    if (at >= load<std::int32_t>(a.jds_ptr + j + 1)) break;
    sum += load_once<Value>(a.vals + at) * load<Value>(x + load_once<std::int32_t>(a.cols + at));
  }
  return sum;
}

template <class Value>
__global__ void __launch_bounds__(kThreads)
    multiply_long_rows(View<Value> a, std::int64_t diagonals, const Value* __restrict__ x,
                       Value* __restrict__ y, bool add) {
  const std::int64_t i = blockIdx.x;
  const Value sum = block_sum<kThreads>(sum_row(a, i, diagonals, threadIdx.x, kThreads, x));
  if (threadIdx.x == 0) store_or_add(y + a.row_order[i], sum, add);
}
template <class Value>
__global__ void __launch_bounds__(kThreads)
    multiply_rows(View<Value> a, std::int64_t long_rows, std::int64_t diagonals,
                  const Value* __restrict__ x, Value* __restrict__ y, bool add) {
  const std::int64_t i = long_rows + blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (i >= a.rows) return;
  store_or_add(y + a.row_order[i], sum_row(a, i, diagonals, 0, 1, x), add);
}

template <class Value>
class JdsCuda final : public CudaKernel<Value> {
 public:
  JdsCuda(const DeviceCsr<Value>& matrix, StreamRef stream) : a_(matrix) {
    Stopwatch watch;
    if (a_.rows > 0) {
      sort_rows(stream);
      synchronize(stream);
    }
    steps_.push_back({"sort rows", watch.lap()});
    if (a_.nnz > 0) {
      cols_ = DeviceBuffer<std::int32_t>(a_.nnz, stream);
      vals_ = DeviceBuffer<Value>(a_.nnz, stream);
      write(a_.values, cols_.data(), stream);
      synchronize(stream);
    }
    steps_.push_back({"write diagonals", watch.lap()});
  }

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override {
    const bool add = accumulate == Accumulate::yes;
    if (long_rows_ > 0) {
      multiply_long_rows<<<static_cast<int>(long_rows_), kThreads, 0, stream>>>(
          view(cols_.data()), diagonals_, x.data(), y.data(), add);
      check_launch();
    }
    if (a_.rows > long_rows_) {
      multiply_rows<<<blocks_for(a_.rows - long_rows_), kThreads, 0, stream>>>(
          view(cols_.data()), long_rows_, diagonals_, x.data(), y.data(), add);
      check_launch();
    }
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) override {
    if (a_.nnz > 0) write(values, nullptr, stream);
  }

  KernelStatistics statistics() const override {
    return {.stored_bytes = static_cast<std::int64_t>(
                (row_order_.size() + jds_ptr_.size() + cols_.size()) * sizeof(std::int32_t) +
                vals_.size() * sizeof(Value)),
            .padding_ratio = 0,
            .steps = steps_};
  }

 private:
  View<Value> view(std::int32_t* cols) const {
    return {a_.rows, row_order_.data(), jds_ptr_.data(), cols, vals_.data()};
  }

  // The sort is stable, so that rows of equal length stay in the caller's order.
  void sort_rows(StreamRef stream) {
    const auto rows = static_cast<std::int32_t>(a_.rows);
    const ScratchBuffer<std::int32_t> lengths(rows, stream), sorted(rows, stream);
    row_order_ = DeviceBuffer<std::int32_t>(rows, stream);
    {
      const ScratchBuffer<std::int32_t> numbers(rows, stream);
      find_lengths<<<blocks_for(rows), kThreads, 0, stream>>>(rows, a_.row_ptr.data(),
                                                              lengths.data(), numbers.data());
      check_launch();
      sort_pairs_descending(lengths.view(), sorted.span(), numbers.view(), row_order_.span(),
                            stream);
    }
    diagonals_ = read_back(sorted.data(), stream);
    const ScratchBuffer<std::int32_t> of_diagonals(diagonals_ + 1, stream);
    jds_ptr_ = DeviceBuffer<std::int32_t>(diagonals_ + 1, stream);
    find_diagonals<<<blocks_for(diagonals_ + 1), kThreads, 0, stream>>>(
        diagonals_, rows, sorted.data(), of_diagonals.data());
    check_launch();
    exclusive_sum(of_diagonals.view(), jds_ptr_.span(), stream);
    // The rows of more than kLongRow nonzeros are those of diagonal kLongRow.
    if (diagonals_ > kLongRow) long_rows_ = read_back(of_diagonals.data() + kLongRow, stream);
  }

  void write(DeviceSpan<const Value> values, std::int32_t* cols, StreamRef stream) {
    if (long_rows_ > 0) {
      write_long_rows<<<static_cast<int>(long_rows_), kThreads, 0, stream>>>(
          view(cols), a_.row_ptr.data(), a_.col_idx.data(), values.data());
      check_launch();
    }
    if (a_.rows > long_rows_) {
      write_rows<<<blocks_for(a_.rows - long_rows_), kThreads, 0, stream>>>(
          view(cols), long_rows_, a_.row_ptr.data(), a_.col_idx.data(), values.data());
      check_launch();
    }
  }

  DeviceCsr<Value> a_;
  std::int64_t diagonals_ = 0, long_rows_ = 0;
  DeviceBuffer<std::int32_t> row_order_, jds_ptr_, cols_;
  DeviceBuffer<Value> vals_;
  std::vector<BuildStep> steps_;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_jds_cuda(const DeviceCsr<Value>& matrix,
                                                  StreamRef stream) {
  return std::make_unique<JdsCuda<Value>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_jds_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_jds_cuda(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
