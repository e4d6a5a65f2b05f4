// SPDX-License-Identifier: BSD-3-Clause
// The sliced ELLPACK of cuSPARSE: 32 rows per slice, stored column by column, padded with column
// -1.
#include <string>

#include "base/error.hpp"
#include "device/check.hpp"
#include "device/scan.hpp"
#include "kernels/cusparse/cusparse.hpp"
#include "kernels/cusparse/product.hpp"
#include "kernels/numeric.cuh"

namespace trireme {
namespace {

constexpr int kSlice = 32;

// Counts the entries of each slice with its padding, one warp per slice.
__global__ void slice_sizes(std::int64_t rows, std::int64_t slices, const std::int32_t* row_ptr,
                            std::int64_t* sizes) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  const std::int64_t slice = row / kSlice;
  const int length = row < rows ? row_ptr[row + 1] - row_ptr[row] : 0;
  const int widest = __reduce_max_sync(0xffffffffu, length);
  if (row % kSlice == 0 && slice < slices)
    sizes[slice] = static_cast<std::int64_t>(widest) * kSlice;
}

__global__ void narrow_offsets(std::int64_t count, const std::int64_t* from, std::int32_t* to) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < count) to[i] = static_cast<std::int32_t>(from[i]);
}

template <class Value>
__global__ void fill_slices(std::int64_t rows, std::int64_t slices, const std::int32_t* row_ptr,
                            const std::int32_t* col_idx, const Value* values,
                            const std::int32_t* slice_ptr, std::int32_t* sell_col,
                            Value* sell_values) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  const std::int64_t slice = row / kSlice;
  if (slice >= slices) return;
  const std::int32_t begin = row < rows ? row_ptr[row] : 0;
  const std::int32_t end = row < rows ? row_ptr[row + 1] : 0;
  std::int32_t k = begin;
  for (std::int64_t at = slice_ptr[slice] + row % kSlice; at < slice_ptr[slice + 1];
       at += kSlice, ++k) {
    sell_col[at] = k < end ? col_idx[k] : -1;
    if (k < end)
      sell_values[at] = values[k];
    else
      store(sell_values + at, 0.0f);
  }
}

template <class Value>
class CusparseSell final : public CudaKernel<Value> {
 public:
  CusparseSell(const DeviceCsr<Value>& matrix, StreamRef stream) : a_(matrix) {
    if (a_.nnz == 0) return;
    slices_ = (a_.rows + kSlice - 1) / kSlice;
    lay_out_slices(stream);
    columns_ = DeviceBuffer<std::int32_t>(stored_, stream);
    values_ = DeviceBuffer<Value>(stored_, stream);
    fill(a_.values, stream);
    product_ = std::make_unique<cusparse::Product<Value>>(
        a_.rows, a_.cols, CUSPARSE_SPMV_SELL_ALG1,
        [this](const cusparse::Library& library, cusparseConstSpMatDescr_t* out) {
          return library.create_sliced_ell(out, a_.rows, a_.cols, a_.nnz, stored_, kSlice,
                                           slice_ptr_.data(), columns_.data(), values_.data(),
                                           CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                           CUSPARSE_INDEX_BASE_ZERO, cusparse::data_type<Value>());
        },
        stream);
    synchronize(stream);
  }

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override {
    if (product_)
      product_->multiply(x, y, accumulate, stream);
    else if (accumulate == Accumulate::no)
      fill_zero(y, stream);
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) override {
    if (product_) fill(values, stream);
  }

  KernelStatistics statistics() const override {
    return {
        .stored_bytes = static_cast<std::int64_t>(stored_ * (sizeof(Value) + sizeof(std::int32_t)) +
                                                  slice_ptr_.size() * sizeof(std::int32_t)),
        .padding_ratio = a_.nnz ? static_cast<double>(stored_) / a_.nnz - 1 : 0.0,
        .steps = {}};
  }

 private:
  int blocks() const { return static_cast<int>((slices_ * kSlice + 255) / 256); }

  void lay_out_slices(StreamRef stream) {
    ScratchBuffer<std::int64_t> sizes(slices_ + 1, stream), offsets(slices_ + 1, stream);
    fill_zero(sizes.span(), stream);
    slice_sizes<<<blocks(), 256, 0, stream>>>(a_.rows, slices_, a_.row_ptr.data(), sizes.data());
    check_launch();
    exclusive_sum(sizes.view(), offsets.span(), stream);
    stored_ = read_back(offsets.data() + slices_, stream);
    if (stored_ > 0x7fffffff)
      throw Error(ExitCode::resource, "cusparse-sell pads " + std::to_string(a_.nnz) +
                                          " nonzeros to " + std::to_string(stored_) +
                                          " entries, more than 2^31-1; choose another kernel");
    slice_ptr_ = DeviceBuffer<std::int32_t>(slices_ + 1, stream);
    const int count = static_cast<int>(slices_ + 1);
    narrow_offsets<<<(count + 255) / 256, 256, 0, stream>>>(count, offsets.data(),
                                                            slice_ptr_.data());
    check_launch();
  }

  void fill(DeviceSpan<const Value> values, StreamRef stream) {
    fill_slices<<<blocks(), 256, 0, stream>>>(a_.rows, slices_, a_.row_ptr.data(),
                                              a_.col_idx.data(), values.data(), slice_ptr_.data(),
                                              columns_.data(), values_.data());
    check_launch();
  }

  DeviceCsr<Value> a_;
  std::int64_t slices_ = 0;
  std::int64_t stored_ = 0;
  DeviceBuffer<std::int32_t> slice_ptr_, columns_;
  DeviceBuffer<Value> values_;
  std::unique_ptr<cusparse::Product<Value>> product_;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_sell(const DeviceCsr<Value>& matrix,
                                                       StreamRef stream) {
  return std::make_unique<CusparseSell<Value>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_cusparse_sell(const DeviceCsr<double>&,
                                                                 StreamRef);
template std::unique_ptr<CudaKernel<float>> build_cusparse_sell(const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_cusparse_sell(const DeviceCsr<Half>&, StreamRef);

}  // namespace trireme
