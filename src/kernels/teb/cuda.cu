// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor (paper, section 3.2): one thread block takes one block of nonzeros at a time.
//
//   Phase 1  The threads hold the values and columns of the block in registers, loaded with unit
//            stride. They gather x and write the products to shared memory, where one word of
//            padding per 128 bytes keeps rows of 4, 8, 16 .. nonzeros on different banks. Then they
//            start to load the next block.
//   Phase 2  `lanes` threads sum each row. One warp, or all warps, sum a long first row.
//
//   values   | 5 4 2 1 | 2 1 8 6 | ...
//   threads    0 1 2 3   4 5 6 7
//
//   Algorithm 3 of the paper gives each row to one thread instead, whose loads are not coalesced.
//
// Rows longer than the threshold are cut into chunks, one per thread block. The thread block that
// finishes last adds the sums of the chunks in their order.
//
// Bytes moved (double): 12 per nonzero, 16 per row and 16 per block. The result is deterministic:
// the tree of each sum is fixed.
#include <algorithm>
#include <utility>

#include "device/block_sum.cuh"
#include "device/device.hpp"
#include "kernels/numeric.cuh"
#include "kernels/teb/device_layout.hpp"
#include "kernels/teb/strips.cuh"
#include "kernels/teb/teb.hpp"

namespace trireme {
namespace {

using teb::BlockHead;
using teb::Chunk;
using teb::kThreads;
using Index = std::int32_t;

constexpr int kSlots = kThreads * teb::kNonzerosPerThread;
static_assert(teb::kMaxNonzeros + 31 == kSlots);

template <class Stored, class Vector>
struct Operands {
  const Stored* __restrict__ values;
  const Index* __restrict__ col_idx;
  const Index* __restrict__ rownnz_sum;
  const Index* __restrict__ row_order;  // null where position and row are the same
  const Vector* __restrict__ x;
  Vector* __restrict__ y;
  bool add;
  const float* __restrict__ diagonal;  // null, or see CudaKernel::add_diagonal()
};

template <class Vector>
struct ChunkSums {
  Sum<Vector>* __restrict__ sums;  // one per chunk
  unsigned* __restrict__ done;     // finished chunks per long row; 0 between products
};

// The place of product k in shared memory.
template <class Number>
__device__ __forceinline__ int slot(int k) {
  constexpr int kPadding = 128 / sizeof(Number);
  return k + k / kPadding;
}

template <class Stored, class Vector>
__device__ __forceinline__ Index row_at(const Operands<Stored, Vector>& a, Index position) {
  return a.row_order ? a.row_order[position] : position;
}

// Writes the sum of a row; returns its term of x . A x, or 0 without dot.
template <bool with_dot, class Stored, class Vector, class Number>
__device__ __forceinline__ double finish_row(const Operands<Stored, Vector>& a, Index row,
                                             Number sum) {
  sum = with_diagonal(sum, a.diagonal, a.x, row);
  store_or_add(a.y + row, sum, a.add);
  return with_dot ? static_cast<double>(sum) * load<Number>(a.x + row) : 0;
}

// Multiplies one chunk of a long row. Returns the row's term of x . A x in thread 0 of the thread
// block that finishes the row, and 0 in all other threads.
template <bool with_dot, class Stored, class Vector>
__device__ double multiply_chunk(const Operands<Stored, Vector>& a, const Chunk& chunk, int number,
                                 const ChunkSums<Vector>& sums) {
  using Number = Sum<Vector>;
  Number sum{};
#pragma unroll 4
  for (Index k = chunk.begin + static_cast<Index>(threadIdx.x); k < chunk.end; k += kThreads)
    sum += static_cast<Number>(__ldcs(a.values + k)) * load<Number>(a.x + __ldcs(a.col_idx + k));
  sum = block_sum<kThreads>(sum);
  if (chunk.chunks == 1)
    return threadIdx.x == 0 ? finish_row<with_dot>(a, row_at(a, chunk.position), sum) : 0;

  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    sums.sums[number] = sum;
    __threadfence();
    is_last = atomicAdd(sums.done + chunk.position, 1u) + 1 == static_cast<unsigned>(chunk.chunks);
  }
  __syncthreads();
  if (!is_last) return 0;
  __threadfence();
  sum = 0;
  for (Index k = threadIdx.x; k < chunk.chunks; k += kThreads)
    sum += __ldcg(sums.sums + chunk.first_chunk + k);
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x != 0) return 0;
  sums.done[chunk.position] = 0;
  return finish_row<with_dot>(a, row_at(a, chunk.position), sum);
}

// The nonzeros and the caller's number of a row. A row without nonzeros stands for no row.
struct RowPlace {
  Index begin = 0, end = 0, row = 0;
};

template <class Stored, class Vector>
__device__ __forceinline__ RowPlace find_row(const Operands<Stored, Vector>& a, Index position,
                                             Index end_position) {
  if (position >= end_position) return {};
  return {a.rownnz_sum[position], a.rownnz_sum[position + 1], row_at(a, position)};
}

// A thread's entries of a block: thread, thread + kThreads, .., counted from base_of().
template <class Stored>
struct Entries {
  Index columns[teb::kNonzerosPerThread];  // -1 where there is no entry
  Stored values[teb::kNonzerosPerThread];
};

// The multiple of 32 at or before the first entry of a block, where a cache line begins.
__device__ __forceinline__ Index base_of(const BlockHead& head) { return head.first_nonzero & ~31; }

template <class Stored, class Vector>
__device__ __forceinline__ void load_entries(const Operands<Stored, Vector>& a,
                                             const BlockHead& head, const BlockHead& next,
                                             Entries<Stored>& entries) {
#pragma unroll
  for (int k = 0; k < teb::kNonzerosPerThread; ++k) {
    const Index entry = base_of(head) + k * kThreads + static_cast<Index>(threadIdx.x);
    const bool inside = entry >= head.first_nonzero && entry < next.first_nonzero;
    entries.columns[k] = inside ? __ldcs(a.col_idx + entry) : -1;
    if (inside) entries.values[k] = __ldcs(a.values + entry);
  }
}

template <class Stored, class Vector>
__device__ __forceinline__ void store_products(const Vector* __restrict__ x,
                                               const Entries<Stored>& entries,
                                               Sum<Vector>* products) {
  using Number = Sum<Vector>;
#pragma unroll
  for (int k = 0; k < teb::kNonzerosPerThread; ++k)
    if (entries.columns[k] >= 0)
      products[slot<Number>(k * kThreads + static_cast<int>(threadIdx.x))] =
          static_cast<Number>(entries.values[k]) * load<Number>(x + entries.columns[k]);
}

// The sum of the products begin + lane, begin + lane + lanes, .. before `end`.
template <class Number>
__device__ __forceinline__ Number sum_products(const Number* products, int begin, int end, int lane,
                                               int lanes) {
  Number sum{};
  for (int k = begin + lane; k < end; k += lanes) sum += products[slot<Number>(k)];
  return sum;
}

// How the threads share the rows of a block, and the first row of each thread.
struct RowWork {
  bool front_apart;   // One warp, or all warps, sum the first row.
  int workers;        // threads for the other rows
  int worker;         // number among the workers; negative in the warp that sums the first row
  Index group_first;  // first position of the rows that are summed at the same time
  RowPlace row;
};

template <class Stored, class Vector>
__device__ __forceinline__ RowWork share_rows(const Operands<Stored, Vector>& a,
                                              const BlockHead& head, const BlockHead& next) {
  RowWork work;
  work.front_apart = head.front_length > teb::kLongFront;
  work.workers = teb::threads_beside_front(head.front_length);
  work.worker = static_cast<int>(threadIdx.x) - (kThreads - work.workers);
  work.group_first = head.first_row + work.front_apart;
  work.row =
      find_row(a, work.worker < 0 ? head.first_row : work.group_first + work.worker / head.lanes,
               next.first_row);
  return work;
}

// Phase 2. Returns the thread's share of x . A x.
template <bool with_dot, class Stored, class Vector>
__device__ __forceinline__ double sum_rows(const Operands<Stored, Vector>& a, const BlockHead& head,
                                           Index end_row, RowWork work,
                                           const Sum<Vector>* products) {
  using Number = Sum<Vector>;
  const Index base = base_of(head);
  double dot = 0;
  if (work.worker < 0) {
    Number sum =
        sum_products(products, work.row.begin - base, work.row.end - base, threadIdx.x, 32);
    sum = warp_sum(sum);
    if (threadIdx.x == 0) dot = finish_row<with_dot>(a, work.row.row, sum);
    return dot;
  }
  if (work.front_apart && work.workers == kThreads) {
    const int begin = head.first_nonzero - base;
    Number sum = sum_products(products, begin, begin + head.front_length, threadIdx.x, kThreads);
    sum = block_sum<kThreads>(sum);
    if (threadIdx.x == 0) dot = finish_row<with_dot>(a, row_at(a, head.first_row), sum);
  }
  const int lanes = head.lanes;
  const int lane = work.worker & (lanes - 1);
  const int rows_at_once = work.workers / lanes;
  for (Index first = work.group_first; first < end_row; first += rows_at_once) {
    const Index position = first + work.worker / lanes;
    const RowPlace following = find_row(a, position + rows_at_once, end_row);
    Number sum = sum_products(products, work.row.begin - base, work.row.end - base, lane, lanes);
    for (int offset = lanes / 2; offset > 0; offset /= 2)
      sum += __shfl_down_sync(kFullWarp, sum, offset, lanes);
    if (lane == 0 && position < end_row) dot += finish_row<with_dot>(a, work.row.row, sum);
    work.row = following;
  }
  return dot;
}

// The item that this thread block takes in a round: one item per round. Its place within the round
// moves, because panels have similar blocks in similar places: a fixed place could give one thread
// block all the slow blocks.
__device__ __forceinline__ int item_of_round(unsigned round) {
  constexpr unsigned kStep = 61;
  return static_cast<int>(round * gridDim.x + (blockIdx.x + round * kStep) % gridDim.x);
}

// The items are first the chunks, then the blocks.
template <bool with_dot, class Stored, class Vector>
__global__ void __launch_bounds__(kThreads, teb::kResidentBlocks)
    multiply_blocks(Operands<Stored, Vector> a, int chunk_count, const Chunk* __restrict__ chunks,
                    int block_count, const BlockHead* __restrict__ heads, ChunkSums<Vector> sums,
                    double* __restrict__ partials) {
  using Number = Sum<Vector>;
  __shared__ Number products[kSlots + kSlots * sizeof(Number) / 128];
  double dot = 0;
  unsigned round = 0;
  int item = item_of_round(round);
  for (; item < chunk_count; item = item_of_round(++round))
    dot += multiply_chunk<with_dot>(a, chunks[item], item, sums);

  int block = item - chunk_count;
  BlockHead head{}, next{};
  Entries<Stored> entries;
  if (block < block_count) {
    head = heads[block];
    next = heads[block + 1];
    load_entries(a, head, next, entries);
  }
  while (block < block_count) {
    block = item_of_round(++round) - chunk_count;
    BlockHead following{}, following_next{};
    if (block < block_count) {
      following = heads[block];
      following_next = heads[block + 1];
    }
    const RowWork work = share_rows(a, head, next);
    store_products(a.x, entries, products);
    if (block < block_count) load_entries(a, following, following_next, entries);
    __syncthreads();
    dot += sum_rows<with_dot>(a, head, next.first_row, work, products);
    __syncthreads();
    head = following;
    next = following_next;
  }
  if constexpr (with_dot) {
    dot = block_sum<kThreads>(dot);
    if (threadIdx.x == 0) partials[blockIdx.x] = dot;
  }
}

template <class Stored, class Vector>
class TebCuda final : public CudaKernel<Vector> {
 public:
  TebCuda(const DeviceCsr<Vector>& matrix, StreamRef stream)
      : TebCuda(matrix, teb::build_on_device<Stored>(matrix, stream), stream) {}
  TebCuda(const DeviceCsr<Vector>& matrix, teb::DeviceLayout<Stored> layout, StreamRef stream)
      : row_ptr_(matrix.row_ptr),
        layout_(std::move(layout)),
        chunk_sums_(layout_.chunks.size() * teb::kMaxStrip, stream),
        chunks_done_(layout_.order.plan.long_rows, stream),
        grid_(static_cast<int>(std::min<std::int64_t>(chunks() + blocks(),
                                                      multiprocessors() * teb::kResidentBlocks))) {
    fill_zero(chunks_done_.span(), stream);
    synchronize(stream);
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    launch<false>(x, y, accumulate == Accumulate::yes, nullptr, stream);
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(DeviceMultiVector<const Vector> x, DeviceMultiVector<Vector> y,
                      Accumulate accumulate, StreamRef stream) override {
    const teb::StripScratch<Vector> scratch{chunk_sums_.data(), chunks_done_.data()};
    teb::multiply_strips(layout_, scratch, x, y, accumulate, diagonal_.data(), stream);
  }

  void update_values(DeviceSpan<const Vector> values, StreamRef stream) override {
    teb::reorder_values<Stored>(row_ptr_, values, layout_, stream);
  }

  KernelStatistics statistics() const override {
    return {.stored_bytes = static_cast<std::int64_t>(
                layout_.nnz * (sizeof(Stored) + sizeof(Index)) +
                (layout_.rows + layout_.order.row_order.size()) * sizeof(Index) +
                layout_.heads.size() * sizeof(BlockHead) + layout_.chunks.size() * sizeof(Chunk)),
            .padding_ratio = 0,
            .steps = layout_.steps};
  }

  bool add_diagonal(DeviceSpan<const float> diagonal) override {
    diagonal_ = diagonal;
    return true;
  }

  std::size_t dot_partials() const override { return layout_.rows == layout_.cols ? grid_ : 0; }
  void multiply_and_dot(DeviceSpan<const Vector> x, DeviceSpan<Vector> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    launch<true>(x, y, false, partials.data(), stream);
  }

  DeviceBuffer<Index> row_order(StreamRef stream) const override {
    DeviceBuffer<Index> order(layout_.order.row_order.size(), stream);
    copy_on_device(layout_.order.row_order.view(), order.span(), stream);
    synchronize(stream);
    return order;
  }
  // The blocks stay the same. Sorting and merging again would reverse the rows within each block.
  std::unique_ptr<CudaKernel<Vector>> in_row_order(const DeviceCsr<Vector>& permuted,
                                                   StreamRef stream) const override {
    return std::make_unique<TebCuda>(
        permuted,
        teb::build_in_order<Stored>(permuted, teb::without_row_order(layout_.order, stream),
                                    stream),
        stream);
  }

 private:
  int chunks() const { return static_cast<int>(layout_.chunks.size()); }
  int blocks() const {
    return static_cast<int>(layout_.order.blocks - layout_.order.plan.long_rows);
  }

  template <bool with_dot>
  void launch(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, bool add, double* partials,
              StreamRef stream) {
    if (grid_ == 0) return;
    const Operands<Stored, Vector> a{layout_.values.data(),
                                     layout_.col_idx.data(),
                                     layout_.order.rownnz_sum.data(),
                                     layout_.order.row_order.data(),
                                     x.data(),
                                     y.data(),
                                     add,
                                     diagonal_.data()};
    multiply_blocks<with_dot><<<grid_, kThreads, 0, stream>>>(
        a, chunks(), layout_.chunks.data(), blocks(),
        layout_.heads.data() + layout_.order.plan.long_rows,
        ChunkSums<Vector>{chunk_sums_.data(), chunks_done_.data()}, partials);
    check_launch();
  }

  DeviceSpan<const Index> row_ptr_;
  teb::DeviceLayout<Stored> layout_;
  DeviceBuffer<Sum<Vector>> chunk_sums_;
  DeviceBuffer<unsigned> chunks_done_;
  DeviceSpan<const float> diagonal_;
  int grid_;  // thread blocks, all resident at the same time
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_teb_cuda(const DeviceCsr<Value>& matrix,
                                                  StreamRef stream) {
  return std::make_unique<TebCuda<Value, Value>>(matrix, stream);
}

std::unique_ptr<CudaKernel<double>> build_teb_mixed_cuda(const DeviceCsr<double>& matrix,
                                                         StreamRef stream) {
  return std::make_unique<TebCuda<float, double>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_teb_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_teb_cuda(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
