// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor: one thread block per sub-block, whose warps share the row blocks.
//
//   Row block of several rows  Each lane keeps a sum per row in a column of its own of shared
//                              memory, to which it adds its products. Then two lanes per row add up
//                              the sums of all lanes.
//   Row block of one row       The lanes keep their sums in registers.
//   Longer row                 It is cut into chunks (long_rows.cuh).
//
//   sums[row][lane]            Lanes of a warp write to different banks, because each has its own
//                              column; the reading lanes start at different columns.
//
// Bytes moved (double): 12 per nonzero, 8 per row, 8 per row block and 4 per sub-block. The result
// is deterministic: the order of the additions depends on the layout only.
#include <vector>

#include "kernels/numeric.cuh"
#include "kernels/peers/amf_csr/amf_csr.hpp"
#include "kernels/peers/amf_csr/device_layout.hpp"
#include "kernels/peers/amf_csr/layout.hpp"
#include "kernels/peers/long_rows.cuh"

namespace trireme {
namespace {

using Index = std::int32_t;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kMaxRows = 1 << amf_csr::kMaxRowBits;
static_assert(2 * kMaxRows == 32);  // two lanes add up the sums of a row

template <class Value>
struct Operands {
  int row_bits;
  const Value* __restrict__ val;
  const std::uint32_t* __restrict__ col_index;
  const Index* __restrict__ row_ptr;
  const Index* __restrict__ sub_block_ptr;
  const Index* __restrict__ first_row;
  const Value* __restrict__ x;
  Value* __restrict__ y;
  bool add;
};

template <class Value>
__device__ __forceinline__ Sum<Value> product(const Operands<Value>& a, std::int64_t k,
                                              std::uint32_t index) {
  using Number = Sum<Value>;
  return load_once<Number>(a.val + k) * load<Number>(a.x + (index >> a.row_bits));
}

// One warp, for a row block of one row.
template <class Value>
__device__ __forceinline__ void multiply_row(const Operands<Value>& a, Index row,
                                             std::int64_t begin, std::int64_t end, int lane) {
  Sum<Value> sum{};
#pragma unroll 4
  for (std::int64_t k = begin + lane; k < end; k += 32)
    sum += product(a, k, __ldcs(a.col_index + k));
  sum = warp_sum(sum);
  if (lane == 0) store_or_add(a.y + row, sum, a.add);
}

// One warp, for a row block of 2 to kMaxRows rows. `sums` has kMaxRows * 32 numbers.
template <class Value>
__device__ __forceinline__ void multiply_rows(const Operands<Value>& a, Index first_row, int rows,
                                              std::int64_t begin, std::int64_t end, int lane,
                                              Sum<Value>* sums) {
  const std::uint32_t mask = (1u << a.row_bits) - 1;
  for (int row = 0; row < rows; ++row) sums[32 * row + lane] = 0;
#pragma unroll 4
  for (std::int64_t k = begin + lane; k < end; k += 32) {
    const std::uint32_t index = __ldcs(a.col_index + k);
    sums[32 * (index & mask) + lane] += product(a, k, index);
  }
  __syncwarp();
  const int row = lane / 2, half = lane % 2;
  Sum<Value> sum{};
  if (row < rows)
    for (int k = 0; k < 16; ++k) sum += sums[32 * row + 16 * half + (k + row) % 16];
  sum = warp_sum<2>(sum);
  if (half == 0 && row < rows) store_or_add(a.y + first_row + row, sum, a.add);
  __syncwarp();  // The next row block overwrites `sums`.
}

template <class Value>
__global__ void __launch_bounds__(kThreads) multiply_sub_blocks(Operands<Value> a) {
  __shared__ Sum<Value> sums[kWarps][32 * kMaxRows];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const Index last = a.sub_block_ptr[blockIdx.x + 1];
  for (Index row_block = a.sub_block_ptr[blockIdx.x] + warp; row_block < last;
       row_block += kWarps) {
    const Index first_row = a.first_row[row_block];
    const int rows = a.first_row[row_block + 1] - first_row;
    const std::int64_t begin = a.row_ptr[row_block], end = a.row_ptr[row_block + 1];
    if (rows > 1)
      multiply_rows(a, first_row, rows, begin, end, lane, sums[warp]);
    else if (end - begin <= amf_csr::kMaxRowBlockNonzeros)
      multiply_row(a, first_row, begin, end, lane);
  }
}

template <class Value>
std::vector<LongRow> long_rows_of(const amf_csr::DeviceLayout<Value>& layout) {
  std::vector<LongRow> rows;
  for (const amf_csr::LongRowBlock& block : layout.long_rows)
    rows.push_back({block.row, block.begin, block.end});
  return rows;
}

struct FoldedColumn {
  const std::uint32_t* col_index;
  int row_bits;
  __device__ __forceinline__ std::uint32_t operator()(std::int64_t k) const {
    return __ldcs(col_index + k) >> row_bits;
  }
};

template <class Value>
class AmfCsrCuda final : public CudaKernel<Value> {
 public:
  AmfCsrCuda(const DeviceCsr<Value>& matrix, StreamRef stream)
      : row_ptr_(matrix.row_ptr),
        layout_(amf_csr::build_on_device(matrix, stream)),
        long_rows_(long_rows_of(layout_), stream) {}

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override {
    if (layout_.sub_blocks == 0) return;
    const bool add = accumulate == Accumulate::yes;
    long_rows_.multiply(layout_.val.data(),
                        FoldedColumn{layout_.col_index.data(), layout_.row_bits}, x.data(),
                        y.data(), add, stream);
    const Operands<Value> a{layout_.row_bits,
                            layout_.val.data(),
                            layout_.col_index.data(),
                            layout_.row_ptr.data(),
                            layout_.sub_block_ptr(),
                            layout_.first_row.data(),
                            x.data(),
                            y.data(),
                            add};
    multiply_sub_blocks<<<static_cast<unsigned>(layout_.sub_blocks), kThreads, 0, stream>>>(a);
    check_launch();
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) override {
    amf_csr::reorder_values(row_ptr_, values, layout_, stream);
  }

  KernelStatistics statistics() const override {
    return {.stored_bytes =
                static_cast<std::int64_t>(layout_.nnz * (sizeof(Value) + sizeof(std::uint32_t)) +
                                          (layout_.row_ptr.size() + layout_.first_row.size()) *
                                              sizeof(Index)) +
                long_rows_.bytes(),
            .padding_ratio = 0,
            .steps = layout_.steps};
  }

 private:
  DeviceSpan<const Index> row_ptr_;
  amf_csr::DeviceLayout<Value> layout_;
  LongRows<Value> long_rows_;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_amf_csr_cuda(const DeviceCsr<Value>& matrix,
                                                      StreamRef stream) {
  return std::make_unique<AmfCsrCuda<Value>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_amf_csr_cuda(const DeviceCsr<double>&,
                                                                StreamRef);
template std::unique_ptr<CudaKernel<float>> build_amf_csr_cuda(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
