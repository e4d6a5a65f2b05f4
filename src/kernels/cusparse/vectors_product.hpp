// SPDX-License-Identifier: BSD-3-Clause
// cusparseSpMM with a handle, descriptors, a workspace and preprocessing, which are made when a
// number of vectors or a layout comes for the first time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/multi_vector.hpp"
#include "kernels/cusparse/library.hpp"
#include "kernels/cusparse/product.hpp"
#include "kernels/kernel.hpp"

namespace trireme::cusparse {

// Y = A X and Y += A X for a CSR matrix in device memory, which the caller owns. The vectors lie
// side by side or one after the other, X and Y in the same way. Value: double, float.
template <class Value>
class VectorsProduct {
 public:
  VectorsProduct(const DeviceCsr<Value>& matrix, cusparseSpMMAlg_t algorithm)
      : library_(open_library()), a_(matrix), algorithm_(algorithm) {
    library_->check(library_->create(&handle_));
  }
  ~VectorsProduct() {
    release_descriptors();
    if (handle_) library_->destroy(handle_);
  }
  VectorsProduct(const VectorsProduct&) = delete;
  VectorsProduct& operator=(const VectorsProduct&) = delete;

  // The descriptors are made again at the next product.
  void update_values(DeviceSpan<const Value> values) {
    a_.values = values;
    release_descriptors();
  }

  void multiply(DeviceMultiVector<const Value> x, DeviceMultiVector<Value> y, Accumulate accumulate,
                StreamRef stream) {
    const Shape shape{x.width, leading(x), leading(y), x.side_by_side(), aligned(x) && aligned(y)};
    library_->check(library_->set_stream(handle_, stream));
    if (!matrix_ || shape != shape_) prepare(shape, x, y, stream);
    library_->check(library_->set_dense_values(x_, const_cast<Value*>(x.data)));
    library_->check(library_->set_dense_values(y_, y.data));
    const Value* beta = accumulate == Accumulate::yes ? &kOne : &kZero;
    library_->check(library_->spmm(handle_, kPlain, kPlain, &kOne, matrix_, x_, beta, y_,
                                   data_type<Value>(), algorithm_for(shape), workspace_.data()));
  }

  std::int64_t workspace_bytes() const { return static_cast<std::int64_t>(workspace_.size()); }

 private:
  static constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr Value kOne = 1;
  static constexpr Value kZero = 0;

  struct Shape {
    std::int64_t width = 0, x_leading = 0, y_leading = 0;
    bool side_by_side = true, aligned = true;
    bool operator==(const Shape&) const = default;
  };

  template <class Element>
  static std::int64_t leading(const DeviceMultiVector<Element>& v) {
    return v.side_by_side() ? v.row_stride : v.vector_stride;
  }

  // Whether the lines of v, which are rows or vectors, have no gaps or begin at multiples of 16
  // bytes.
  template <class Element>
  static bool aligned(const DeviceMultiVector<Element>& v) {
    constexpr std::int64_t kBytes = 16;
    const std::int64_t length = v.side_by_side() ? v.width : v.rows;
    const bool base = reinterpret_cast<std::uintptr_t>(v.data) % kBytes == 0;
    return base &&
           (leading(v) == length || leading(v) * std::int64_t{sizeof(Element)} % kBytes == 0);
  }

  // Algorithm 3 of cuSPARSE 12.6 reads misaligned addresses where lines have gaps and are not
  // aligned.
  cusparseSpMMAlg_t algorithm_for(const Shape& shape) const {
    return shape.aligned ? algorithm_ : CUSPARSE_SPMM_ALG_DEFAULT;
  }

  void prepare(const Shape& shape, DeviceMultiVector<const Value> x, DeviceMultiVector<Value> y,
               StreamRef stream) {
    release_descriptors();
    const cusparseOrder_t order = shape.side_by_side ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    constexpr auto kType = data_type<Value>();
    const cusparseSpMMAlg_t algorithm = algorithm_for(shape);
    library_->check(library_->create_csr(&matrix_, a_.rows, a_.cols, a_.nnz, a_.row_ptr.data(),
                                         a_.col_idx.data(), a_.values.data(), CUSPARSE_INDEX_32I,
                                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, kType));
    library_->check(library_->create_dense(&x_, a_.cols, shape.width, shape.x_leading,
                                           const_cast<Value*>(x.data), kType, order));
    library_->check(
        library_->create_dense(&y_, a_.rows, shape.width, shape.y_leading, y.data, kType, order));
    std::size_t bytes = 0;
    library_->check(library_->spmm_buffer_size(handle_, kPlain, kPlain, &kOne, matrix_, x_, &kZero,
                                               y_, kType, algorithm, &bytes));
    bytes = std::max<std::size_t>(bytes, 1);
    if (bytes > workspace_.size()) workspace_ = DeviceBuffer<std::byte>(bytes, stream);
    library_->check(library_->spmm_preprocess(handle_, kPlain, kPlain, &kOne, matrix_, x_, &kZero,
                                              y_, kType, algorithm, workspace_.data()));
    shape_ = shape;
  }

  void release_descriptors() noexcept {
    if (matrix_) library_->destroy_matrix(matrix_);
    if (x_) library_->destroy_dense(x_);
    if (y_) library_->destroy_dense(y_);
    matrix_ = nullptr;
    x_ = y_ = nullptr;
  }

  std::shared_ptr<const Library> library_;
  DeviceCsr<Value> a_;
  cusparseSpMMAlg_t algorithm_;
  Shape shape_;
  cusparseHandle_t handle_ = nullptr;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  cusparseDnMatDescr_t x_ = nullptr, y_ = nullptr;
  DeviceBuffer<std::byte> workspace_;
};

}  // namespace trireme::cusparse
