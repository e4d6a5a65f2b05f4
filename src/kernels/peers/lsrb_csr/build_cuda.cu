// SPDX-License-Identifier: BSD-3-Clause
// Builds the LSRB-CSR layout on the GPU: one thread per segment finds its rows by a binary search,
// without waiting for other threads.
#include "base/stopwatch.hpp"
#include "device/check.hpp"
#include "device/select.hpp"
#include "kernels/peers/lsrb_csr/device_layout.hpp"

namespace trireme::lsrb_csr {
namespace {

using Index = std::int32_t;
constexpr int kThreads = 256;

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

// flags[row] is 1 where the row has nonzeros, and 0 otherwise.
__global__ void flag_rows(std::int64_t rows, const Index* __restrict__ row_ptr,
                          std::uint8_t* __restrict__ flags) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (row < rows) flags[row] = row_ptr[row] < row_ptr[row + 1] ? 1 : 0;
}

// starts[k] is the first nonzero of row rows[k].
__global__ void gather_starts(std::int64_t count, const Index* __restrict__ rows,
                              const Index* __restrict__ row_ptr, Index* __restrict__ starts) {
  const std::int64_t k = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (k < count) starts[k] = row_ptr[rows[k]];
}

// starts[r] is the first nonzero of row r, and no row is empty; starts[0] is 0.
__global__ void describe_segments(std::int64_t segments, std::int64_t nnz, std::int64_t rows,
                                  const Index* __restrict__ starts,
                                  std::uint16_t* __restrict__ row_starts,
                                  Index* __restrict__ first_row, Index* __restrict__ head_row) {
  constexpr Cut kCut{};
  const std::int64_t segment = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (segment >= segments) return;
  const std::int64_t begin = segment * kCut.segment_nonzeros;
  const std::int64_t end = min(begin + kCut.segment_nonzeros, nnz);
  std::int64_t low = 0, high = rows;  // starts[low] <= begin < starts[high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (starts[middle] <= begin ? low : high) = middle;
  }
  first_row[segment] = static_cast<Index>(low);
  unsigned bits = 0;
  for (std::int64_t row = low; row < rows && starts[row] < end; ++row)
    if (starts[row] >= begin) bits |= 1u << (starts[row] - begin);
  row_starts[segment] = static_cast<std::uint16_t>(bits);
  if (segment % kCut.block_segments == 0)
    head_row[segment / kCut.block_segments] = (bits & 1u) != 0 ? -1 : static_cast<Index>(low);
}

// The rows with nonzeros in ascending order, then the empty rows in descending order.
struct SplitRows {
  DeviceBuffer<Index> rows;
  std::int64_t with_nonzeros = 0;
};

SplitRows split_rows(std::int64_t rows, const Index* row_ptr, StreamRef stream) {
  SplitRows split{DeviceBuffer<Index>(rows, stream), 0};
  const ScratchBuffer<std::uint8_t> flags(rows, stream);
  flag_rows<<<blocks_for(rows), kThreads, 0, stream>>>(rows, row_ptr, flags.data());
  check_launch();
  split.with_nonzeros = partition_flagged(flags.view(), split.rows.span(), stream);
  return split;
}

__global__ void reverse(std::int64_t count, const Index* __restrict__ from,
                        Index* __restrict__ to) {
  const std::int64_t k = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  if (k < count) to[k] = from[count - 1 - k];
}

}  // namespace

template <class Value>
DeviceLayout<Value> build_on_device(const DeviceCsr<Value>& matrix, StreamRef stream) {
  Stopwatch watch;
  constexpr Cut kCut{};
  DeviceLayout<Value> layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz;
  layout.values = matrix.values;
  layout.col_idx = matrix.col_idx;
  layout.segments = (layout.nnz + kCut.segment_nonzeros - 1) / kCut.segment_nonzeros;
  layout.row_blocks = (layout.segments + kCut.block_segments - 1) / kCut.block_segments;
  layout.row_starts = DeviceBuffer<std::uint16_t>(layout.segments, stream);
  layout.first_row = DeviceBuffer<Index>(layout.segments, stream);
  layout.head_row = DeviceBuffer<Index>(layout.row_blocks, stream);

  const Index* starts = matrix.row_ptr.data();
  std::int64_t rows = matrix.rows;
  ScratchBuffer<Index> own_starts;
  if (matrix.rows > 0) {
    const SplitRows split = split_rows(matrix.rows, matrix.row_ptr.data(), stream);
    const std::int64_t empty = matrix.rows - split.with_nonzeros;
    if (empty > 0) {
      rows = split.with_nonzeros;
      layout.row_of = DeviceBuffer<Index>(rows, stream);
      copy_on_device(DeviceSpan<const Index>(split.rows.data(), rows), layout.row_of.span(),
                     stream);
      layout.empty_rows = DeviceBuffer<Index>(empty, stream);
      reverse<<<blocks_for(empty), kThreads, 0, stream>>>(empty, split.rows.data() + rows,
                                                          layout.empty_rows.data());
      check_launch();
      own_starts = ScratchBuffer<Index>(rows, stream);
      if (rows > 0) {
        gather_starts<<<blocks_for(rows), kThreads, 0, stream>>>(
            rows, layout.row_of.data(), matrix.row_ptr.data(), own_starts.data());
        check_launch();
      }
      starts = own_starts.data();
    }
    synchronize(stream);  // `split` is freed here.
  }
  if (layout.segments > 0) {
    describe_segments<<<blocks_for(layout.segments), kThreads, 0, stream>>>(
        layout.segments, layout.nnz, rows, starts, layout.row_starts.data(),
        layout.first_row.data(), layout.head_row.data());
    check_launch();
  }
  synchronize(stream);
  layout.steps.push_back({"describe segments", watch.lap()});
  return layout;
}

template DeviceLayout<double> build_on_device(const DeviceCsr<double>&, StreamRef);
template DeviceLayout<float> build_on_device(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme::lsrb_csr
