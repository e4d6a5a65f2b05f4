// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor: one thread block per block of the layout.
//
//   Phase 1  The threads load the nonzeros of the block with unit stride, gather x, and write the
//            products and the rows to shared memory, where padding keeps the shares of the threads
//            on different banks.
//   Phase 2  Each thread takes 8 consecutive products. Where no row of the block is longer than 8
//            (dev_w), a thread sums the rows that begin in its share to their ends. Otherwise it
//            sums the rows within its share, and a segmented sum over the thread block adds the
//            parts of the rows that are cut between threads.
//
// Rows longer than plan.max_row are cut into chunks (long_rows.cuh).
//
// Bytes moved (double): 16 per nonzero, 8 per row and 8 per block. The result is deterministic: the
// order of the additions depends on the layout only.
#include <vector>

#include "kernels/numeric.cuh"
#include "kernels/peers/long_rows.cuh"
#include "kernels/peers/pbc/device_layout.hpp"
#include "kernels/peers/pbc/pbc.hpp"
#include "kernels/peers/pbc/plan.hpp"
#include "kernels/peers/segmented_sum.cuh"
#include "kernels/peers/zero_rows.cuh"

namespace trireme {
namespace {

using Index = std::int32_t;
constexpr int kThreads = 256;
constexpr int kEach = 8;  // products per thread
constexpr int kSlots = kThreads * kEach;
static_assert(pbc::kMaxNonzeros <= kSlots);

template <class Value>
struct Operands {
  const Value* __restrict__ val_data;
  const Index* __restrict__ dev_offset;
  const Index* __restrict__ dev_blockpos;
  const Index* __restrict__ dev_w;
  const Index* __restrict__ dev_p;
  const Value* __restrict__ x;
  Value* __restrict__ y;
  bool add;
};

// The place of product k in shared memory.
__device__ __forceinline__ int slot(int k) { return k + k / kEach; }

template <class Number>
struct BlockMemory {
  Number products[kSlots + kThreads];
  Index rows[kSlots + kThreads];
  CarryMemory<kThreads, Number> carry;
};

// Sums the rows that begin among the products [begin, end), which may end behind `end`.
template <class Value>
__device__ __forceinline__ void sum_short_rows(const Operands<Value>& a,
                                               const BlockMemory<Sum<Value>>& memory, int begin,
                                               int end, int size) {
  Index row = begin > 0 && begin < size ? memory.rows[slot(begin - 1)] : -1;
  Sum<Value> sum{};
  bool mine = false;
  int k = begin;
  for (; k < size; ++k) {
    const Index next = memory.rows[slot(k)];
    if (next != row) {
      if (mine) store_or_add(a.y + row, sum, a.add);
      mine = k < end;
      if (!mine) return;
      sum = 0;
      row = next;
    } else if (k >= end && !mine) {
      return;
    }
    if (mine) sum += memory.products[slot(k)];
  }
  if (mine) store_or_add(a.y + row, sum, a.add);
}

// Sums the rows of the block, of any length. All threads call it.
template <class Value>
__device__ __forceinline__ void sum_rows(const Operands<Value>& a, BlockMemory<Sum<Value>>& memory,
                                         int begin, int end, int size) {
  using Number = Sum<Value>;
  const Index open_row = begin > 0 && begin < size ? memory.rows[slot(begin - 1)] : -1;
  Index row = open_row;
  bool starts = false;
  Number sum{}, open_sum{};
  for (int k = begin; k < end; ++k) {
    const Index next = memory.rows[slot(k)];
    if (next != row) {
      if (starts)
        store_or_add(a.y + row, sum, a.add);
      else
        open_sum = sum;
      starts = true;
      sum = 0;
      row = next;
    }
    sum += memory.products[slot(k)];
  }
  const Number carry = carry_in<kThreads>(sum, starts, memory.carry);
  if (starts && open_row >= 0) store_or_add(a.y + open_row, carry + open_sum, a.add);
  if (begin < end && end == size) store_or_add(a.y + row, starts ? sum : carry + sum, a.add);
}

// The blocks from first_block on, whose rows are not long.
template <class Value>
__global__ void __launch_bounds__(kThreads)
    multiply_blocks(Operands<Value> a, std::int64_t first_block) {
  using Number = Sum<Value>;
  __shared__ BlockMemory<Number> memory;
  const std::int64_t block = first_block + blockIdx.x;
  const std::int64_t first = a.dev_p[block];
  const int size = static_cast<int>(a.dev_p[block + 1] - first);
  const int width = a.dev_w[block];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int k = i * kThreads + static_cast<int>(threadIdx.x);
    if (k < size) {
      memory.products[slot(k)] = load_once<Number>(a.val_data + first + k) *
                                 load<Number>(a.x + __ldcs(a.dev_offset + first + k));
      memory.rows[slot(k)] = __ldcs(a.dev_blockpos + first + k);
    }
  }
  __syncthreads();
  const int begin = min(static_cast<int>(threadIdx.x) * kEach, size);
  const int end = min(begin + kEach, size);
  if (width <= kEach)
    sum_short_rows(a, memory, begin, end, size);
  else
    sum_rows(a, memory, begin, end, size);
}

template <class Value>
std::vector<LongRow> long_rows_of(const pbc::DeviceLayout<Value>& layout) {
  std::vector<LongRow> rows;
  for (std::size_t k = 0; k < layout.long_row_numbers.size(); ++k)
    rows.push_back(
        {layout.long_row_numbers[k], layout.long_row_places[k], layout.long_row_places[k + 1]});
  return rows;
}

struct PlainColumn {
  const Index* columns;
  __device__ __forceinline__ Index operator()(std::int64_t k) const { return __ldcs(columns + k); }
};

template <class Value>
class PbcCuda final : public CudaKernel<Value> {
 public:
  PbcCuda(const DeviceCsr<Value>& matrix, StreamRef stream)
      : row_ptr_(matrix.row_ptr),
        layout_(pbc::build_on_device(matrix, stream)),
        long_rows_(long_rows_of(layout_), stream) {}

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override {
    const bool add = accumulate == Accumulate::yes;
    if (!add) zero_rows(layout_.empty_rows.view(), y, stream);
    long_rows_.multiply(layout_.val_data.data(), PlainColumn{layout_.dev_offset.data()}, x.data(),
                        y.data(), add, stream);
    const std::int64_t blocks = layout_.blocks() - layout_.long_rows;
    if (blocks == 0) return;
    const Operands<Value> a{layout_.val_data.data(),
                            layout_.dev_offset.data(),
                            layout_.dev_blockpos.data(),
                            layout_.dev_w.data(),
                            layout_.dev_p.data(),
                            x.data(),
                            y.data(),
                            add};
    multiply_blocks<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(a, layout_.long_rows);
    check_launch();
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) override {
    pbc::reorder_values(row_ptr_, values, layout_, stream);
  }

  KernelStatistics statistics() const override {
    const auto words = layout_.dev_w.size() + layout_.dev_p.size() + layout_.empty_rows.size();
    return {.stored_bytes =
                static_cast<std::int64_t>(layout_.nnz * (sizeof(Value) + 2 * sizeof(Index)) +
                                          words * sizeof(Index)) +
                long_rows_.bytes(),
            .padding_ratio = 0,
            .steps = layout_.steps};
  }

 private:
  DeviceSpan<const Index> row_ptr_;
  pbc::DeviceLayout<Value> layout_;
  LongRows<Value> long_rows_;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_pbc_cuda(const DeviceCsr<Value>& matrix,
                                                  StreamRef stream) {
  return std::make_unique<PbcCuda<Value>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_pbc_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_pbc_cuda(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
