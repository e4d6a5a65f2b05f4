// SPDX-License-Identifier: BSD-3-Clause
// Rows that are too long for one thread block: they are cut into chunks, one per thread block, and
// a second kernel adds up the chunks of each row.
//
// The order of the additions depends on the row lengths only, so that every run gives the same
// bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "device/block_sum.cuh"
#include "device/buffer.hpp"
#include "device/check.hpp"
#include "kernels/numeric.cuh"

namespace trireme {

struct LongRow {
  std::int32_t row;
  std::int32_t begin, end;  // nonzeros of the row in the layout
};

namespace detail {

inline constexpr int kChunkThreads = 256;
inline constexpr std::int64_t kChunkNonzeros = 4096;

struct RowChunk {
  std::int32_t begin, end;  // nonzeros
};
struct ChunkedRow {
  std::int32_t row;
  std::int32_t first_chunk, end_chunk;
};

// column_of(k) is the column of nonzero k.
template <class Vector, class Stored, class ColumnOf>
__global__ void __launch_bounds__(kChunkThreads)
    sum_chunks(const RowChunk* __restrict__ chunks, const Stored* __restrict__ values,
               ColumnOf column_of, const Vector* __restrict__ x, Sum<Vector>* __restrict__ sums) {
  using Number = Sum<Vector>;
  const RowChunk chunk = chunks[blockIdx.x];
  Number sum{};
#pragma unroll 4
  for (std::int64_t k = chunk.begin + static_cast<std::int64_t>(threadIdx.x); k < chunk.end;
       k += kChunkThreads)
    sum += load_once<Number>(values + k) * load<Number>(x + column_of(k));
  sum = block_sum<kChunkThreads>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// One warp per row.
template <class Vector>
__global__ void __launch_bounds__(kChunkThreads)
    add_chunks(std::int64_t rows, const ChunkedRow* __restrict__ chunked,
               const Sum<Vector>* __restrict__ sums, Vector* __restrict__ y, bool add) {
  const std::int64_t number =
      (blockIdx.x * static_cast<std::int64_t>(kChunkThreads) + threadIdx.x) / 32;
  if (number >= rows) return;
  const int lane = threadIdx.x % 32;
  const ChunkedRow row = chunked[number];
  Sum<Vector> sum{};
  for (std::int32_t chunk = row.first_chunk + lane; chunk < row.end_chunk; chunk += 32)
    sum += sums[chunk];
  sum = warp_sum(sum);
  if (lane == 0) store_or_add(y + row.row, sum, add);
}

}  // namespace detail

// The long rows of one layout, and the memory for the sums of their chunks.
template <class Vector>
class LongRows {
 public:
  LongRows() = default;
  // Waits for `stream`.
  LongRows(std::span<const LongRow> rows, StreamRef stream) {
    std::vector<detail::RowChunk> chunks;
    std::vector<detail::ChunkedRow> chunked;
    for (const LongRow& row : rows) {
      const auto first = static_cast<std::int32_t>(chunks.size());
      for (std::int64_t begin = row.begin; begin < row.end; begin += detail::kChunkNonzeros)
        chunks.push_back(
            {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(std::min<std::int64_t>(
                                                   begin + detail::kChunkNonzeros, row.end))});
      chunked.push_back({row.row, first, static_cast<std::int32_t>(chunks.size())});
    }
    chunks_ = to_device(std::span<const detail::RowChunk>(chunks), stream);
    rows_ = to_device(std::span<const detail::ChunkedRow>(chunked), stream);
    sums_ = DeviceBuffer<Sum<Vector>>(chunks.size(), stream);
    synchronize(stream);  // The copies read `chunks` and `chunked`.
  }

  std::int64_t bytes() const {  // that a product reads of the description of the rows
    return static_cast<std::int64_t>(chunks_.size() * sizeof(detail::RowChunk) +
                                     rows_.size() * sizeof(detail::ChunkedRow));
  }

  // Stores the long rows of y. Asynchronous in `stream`.
  template <class Stored, class ColumnOf>
  void multiply(const Stored* values, ColumnOf column_of, const Vector* x, Vector* y, bool add,
                StreamRef stream) const {
    if (rows_.empty()) return;
    detail::sum_chunks<Vector>
        <<<static_cast<unsigned>(chunks_.size()), detail::kChunkThreads, 0, stream>>>(
            chunks_.data(), values, column_of, x, sums_.data());
    check_launch();
    constexpr std::size_t kRowsPerBlock = detail::kChunkThreads / 32;
    detail::add_chunks<Vector>
        <<<static_cast<unsigned>((rows_.size() + kRowsPerBlock - 1) / kRowsPerBlock),
           detail::kChunkThreads, 0, stream>>>(static_cast<std::int64_t>(rows_.size()),
                                               rows_.data(), sums_.data(), y, add);
    check_launch();
  }

 private:
  DeviceBuffer<detail::RowChunk> chunks_;
  DeviceBuffer<detail::ChunkedRow> rows_;
  DeviceBuffer<Sum<Vector>> sums_;  // one per chunk
};

}  // namespace trireme
