// SPDX-License-Identifier: BSD-3-Clause
// The block CSR of cuSPARSE, with the block size that stores the fewest bytes.
//
// The entries are sorted by block row and then by block column, which makes the entries of a block
// adjacent: each run of equal keys is a block. Where the block size does not divide the shape of
// the matrix, the matrix, x and y are padded.
#include <limits>

#include "device/check.hpp"
#include "device/scan.hpp"
#include "device/sort.hpp"
#include "kernels/cusparse/cusparse.hpp"
#include "kernels/cusparse/expand_rows.cuh"
#include "kernels/cusparse/product.hpp"
#include "kernels/numeric.cuh"

namespace trireme {
namespace {

using Key = std::uint64_t;  // block row * block columns + block column

constexpr int kBlockSizes[] = {2, 3, 4, 5, 6, 8};

__global__ void block_keys(std::int64_t rows, const std::int32_t* row_ptr,
                           const std::int32_t* col_idx, int size, Key block_cols, Key* keys,
                           std::int32_t* entries) {
  const int lane = threadIdx.x % 32;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x / 32;
  for (std::int64_t row = (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / 32;
       row < rows; row += stride)
    for (std::int32_t k = row_ptr[row] + lane; k < row_ptr[row + 1]; k += 32) {
      keys[k] = static_cast<Key>(row / size) * block_cols + col_idx[k] / size;
      entries[k] = k;
    }
}

__global__ void mark_heads(std::int64_t nnz, const Key* keys, std::int32_t* heads) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < nnz) heads[i] = i == 0 || keys[i] != keys[i - 1];
}

// Places the entries, one per thread, in sorted order. blocks[i] is the number of blocks up to and
// including that of entry i.
__global__ void place_entries(std::int64_t nnz, int size, Key block_cols, const Key* keys,
                              const std::int32_t* entries, const std::int32_t* blocks,
                              const std::int32_t* row_of, const std::int32_t* col_idx,
                              std::int32_t* block_col, std::int32_t* blocks_in_row,
                              std::int32_t* position) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i >= nnz) return;
  const std::int32_t block = blocks[i] - 1;
  const std::int32_t entry = entries[i];
  position[entry] = (block * size + row_of[entry] % size) * size + col_idx[entry] % size;
  if (i == 0 || keys[i] != keys[i - 1]) {
    block_col[block] = static_cast<std::int32_t>(keys[i] % block_cols);
    atomicAdd(blocks_in_row + keys[i] / block_cols, 1);
  }
}

// Adds the values, so that an entry which the CSR stores twice counts twice.
template <class Value>
__global__ void scatter_values(std::int64_t nnz, const Value* values, const std::int32_t* position,
                               Value* blocks) {
  const std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (k < nnz) atomicAdd(blocks + position[k], values[k]);
}

int grid(std::int64_t threads) { return static_cast<int>((threads + 255) / 256); }

// The entries in block order, and for each entry the number of blocks up to and including its own.
struct BlockOrder {
  ScratchBuffer<Key> keys;
  ScratchBuffer<std::int32_t> entries, blocks;
  std::int64_t count = 0;
};

template <class Value>
class CusparseBsr final : public CudaKernel<Value> {
 public:
  CusparseBsr(const DeviceCsr<Value>& matrix, StreamRef stream)
      : rows_(matrix.rows), cols_(matrix.cols), nnz_(matrix.nnz) {
    if (nnz_ == 0) return;
    const BlockOrder order = best_order(matrix, stream);
    block_rows_ = (rows_ + size_ - 1) / size_;
    block_cols_ = (cols_ + size_ - 1) / size_;
    stored_ = order.count * size_ * size_;
    lay_out(matrix, order, stream);
    values_ = DeviceBuffer<Value>(stored_, stream);
    update_values(matrix.values, stream);
    if (rows_ % size_) padded_y_ = DeviceBuffer<Value>(block_rows_ * size_, stream);
    if (cols_ % size_) {
      padded_x_ = DeviceBuffer<Value>(block_cols_ * size_, stream);
      fill_zero(padded_x_.span(), stream);
    }
    product_ = std::make_unique<cusparse::Product<Value>>(
        block_rows_ * size_, block_cols_ * size_, CUSPARSE_SPMV_ALG_DEFAULT,
        [this, blocks = order.count](const cusparse::Library& library,
                                     cusparseConstSpMatDescr_t* out) {
          return library.create_bsr(
              out, block_rows_, block_cols_, blocks, size_, size_, block_ptr_.data(),
              block_col_.data(), values_.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
              CUSPARSE_INDEX_BASE_ZERO, cusparse::data_type<Value>(), CUSPARSE_ORDER_ROW);
        },
        stream);
    synchronize(stream);
  }

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override {
    if (!product_) {
      if (accumulate == Accumulate::no) fill_zero(y, stream);
      return;
    }
    if (!padded_x_.empty()) copy_on_device(x, padded_x_.span(), stream);
    const DeviceSpan<const Value> x_used = padded_x_.empty() ? x : padded_x_.view();
    if (padded_y_.empty()) return product_->multiply(x_used, y, accumulate, stream);
    if (accumulate == Accumulate::yes)
      copy_on_device(DeviceSpan<const Value>(y), padded_y_.span(), stream);
    product_->multiply(x_used, padded_y_.span(), accumulate, stream);
    copy_on_device(padded_y_.view().subspan(0, rows_), y, stream);
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) override {
    if (nnz_ == 0) return;
    fill_zero(values_.span(), stream);
    scatter_values<<<grid(nnz_), 256, 0, stream>>>(nnz_, values.data(), position_.data(),
                                                   values_.data());
    check_launch();
  }

  KernelStatistics statistics() const override {
    return {.stored_bytes = static_cast<std::int64_t>(stored_ * sizeof(Value) +
                                                      (block_col_.size() + block_ptr_.size()) *
                                                          sizeof(std::int32_t)),
            .padding_ratio = nnz_ ? static_cast<double>(stored_) / nnz_ - 1 : 0.0,
            .steps = {}};
  }

 private:
  BlockOrder order_by_blocks(const DeviceCsr<Value>& a, int size, StreamRef stream) const {
    const auto block_cols = static_cast<Key>((cols_ + size - 1) / size);
    ScratchBuffer<Key> keys(nnz_, stream);
    ScratchBuffer<std::int32_t> entries(nnz_, stream), heads(nnz_, stream);
    BlockOrder order{ScratchBuffer<Key>(nnz_, stream), ScratchBuffer<std::int32_t>(nnz_, stream),
                     ScratchBuffer<std::int32_t>(nnz_, stream)};
    block_keys<<<1024, 256, 0, stream>>>(rows_, a.row_ptr.data(), a.col_idx.data(), size,
                                         block_cols, keys.data(), entries.data());
    check_launch();
    sort_pairs(keys.view(), order.keys.span(), entries.view(), order.entries.span(), 64, stream);
    mark_heads<<<grid(nnz_), 256, 0, stream>>>(nnz_, order.keys.data(), heads.data());
    check_launch();
    inclusive_sum(heads.view(), order.blocks.span(), stream);
    order.count = read_back(order.blocks.data() + nnz_ - 1, stream);
    return order;
  }

  // Sets size_. Block sizes for which the blocks would exceed 2^31-1 entries are not considered.
  BlockOrder best_order(const DeviceCsr<Value>& a, StreamRef stream) {
    BlockOrder best;
    double best_bytes = std::numeric_limits<double>::infinity();
    for (const int size : kBlockSizes) {
      BlockOrder order = order_by_blocks(a, size, stream);
      const double entries = static_cast<double>(order.count) * size * size;
      const double bytes = entries * sizeof(Value) + 4.0 * order.count;
      if (size != kBlockSizes[0] && (bytes >= best_bytes || entries > 0x7fffffff)) continue;
      best_bytes = bytes;
      size_ = size;
      best = std::move(order);
    }
    return best;
  }

  void lay_out(const DeviceCsr<Value>& a, const BlockOrder& order, StreamRef stream) {
    ScratchBuffer<std::int32_t> row_of(nnz_, stream), blocks_in_row(block_rows_ + 1, stream);
    cusparse::expand_rows<<<1024, 256, 0, stream>>>(rows_, a.row_ptr.data(), row_of.data());
    check_launch();
    fill_zero(blocks_in_row.span(), stream);
    block_col_ = DeviceBuffer<std::int32_t>(order.count, stream);
    position_ = DeviceBuffer<std::int32_t>(nnz_, stream);
    block_ptr_ = DeviceBuffer<std::int32_t>(block_rows_ + 1, stream);
    place_entries<<<grid(nnz_), 256, 0, stream>>>(
        nnz_, size_, static_cast<Key>(block_cols_), order.keys.data(), order.entries.data(),
        order.blocks.data(), row_of.data(), a.col_idx.data(), block_col_.data(),
        blocks_in_row.data(), position_.data());
    check_launch();
    exclusive_sum(blocks_in_row.view(), block_ptr_.span(), stream);
  }

  std::int64_t rows_, cols_, nnz_;
  int size_ = kBlockSizes[0];
  std::int64_t block_rows_ = 0, block_cols_ = 0, stored_ = 0;
  DeviceBuffer<std::int32_t> block_ptr_, block_col_, position_;
  DeviceBuffer<Value> values_, padded_x_, padded_y_;
  std::unique_ptr<cusparse::Product<Value>> product_;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_bsr(const DeviceCsr<Value>& matrix,
                                                      StreamRef stream) {
  return std::make_unique<CusparseBsr<Value>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_cusparse_bsr(const DeviceCsr<double>&,
                                                                StreamRef);
template std::unique_ptr<CudaKernel<float>> build_cusparse_bsr(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
