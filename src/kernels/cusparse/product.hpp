// SPDX-License-Identifier: BSD-3-Clause
// cusparseSpMV with a handle, descriptors, a workspace and preprocessing that are made beforehand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

#include "base/half.hpp"
#include "device/buffer.hpp"
#include "device/check.hpp"
#include "kernels/cusparse/library.hpp"
#include "kernels/kernel.hpp"

namespace trireme::cusparse {

template <class Value>
constexpr cudaDataType data_type() {
  if constexpr (std::is_same_v<Value, double>) return CUDA_R_64F;
  if constexpr (std::is_same_v<Value, float>) return CUDA_R_32F;
  if constexpr (std::is_same_v<Value, Half>) return CUDA_R_16F;
}

// y = A x and y += A x for a matrix in device memory, which the caller owns. Vector is the type of
// x and y.
template <class Vector>
class Product {
 public:
  using Scalar = std::conditional_t<std::is_same_v<Vector, Half>, float, Vector>;
  // Makes a descriptor of the matrix. The constructor and renew() call it.
  using Describe = std::function<cusparseStatus_t(const Library&, cusparseConstSpMatDescr_t*)>;

  Product(std::int64_t rows, std::int64_t cols, cusparseSpMVAlg_t algorithm, Describe describe,
          StreamRef stream)
      : library_(open_library()),
        rows_(rows),
        cols_(cols),
        algorithm_(algorithm),
        describe_(std::move(describe)) {
    library_->check(library_->create(&handle_));
    try {
      renew(stream);
    } catch (...) {
      release();
      throw;
    }
  }
  ~Product() { release(); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  // To be called after the values or addresses of the matrix have changed. The workspace grows
  // where it must and never shrinks.
  void renew(StreamRef stream) {
    release_descriptors();
    ScratchBuffer<Vector> x(cols_, stream), y(rows_, stream);
    library_->check(library_->set_stream(handle_, stream));
    library_->check(describe_(*library_, &matrix_));
    library_->check(library_->create_vector(&x_, cols_, x.data(), data_type<Vector>()));
    library_->check(library_->create_vector(&y_, rows_, y.data(), data_type<Vector>()));
    std::size_t bytes = 0;
    library_->check(library_->spmv_buffer_size(handle_, kPlain, &kOne, matrix_, x_, &kZero, y_,
                                               data_type<Scalar>(), algorithm_, &bytes));
    if (bytes > workspace_.size()) workspace_ = DeviceBuffer<std::byte>(bytes, stream);
    library_->check(library_->spmv_preprocess(handle_, kPlain, &kOne, matrix_, x_, &kZero, y_,
                                              data_type<Scalar>(), algorithm_, workspace_.data()));
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) {
    library_->check(library_->set_stream(handle_, stream));
    library_->check(library_->set_vector_values(x_, const_cast<Vector*>(x.data())));
    library_->check(library_->set_vector_values(y_, y.data()));
    const Scalar* beta = accumulate == Accumulate::yes ? &kOne : &kZero;
    library_->check(library_->spmv(handle_, kPlain, &kOne, matrix_, x_, beta, y_,
                                   data_type<Scalar>(), algorithm_, workspace_.data()));
  }

  std::int64_t workspace_bytes() const { return static_cast<std::int64_t>(workspace_.size()); }

 private:
  static constexpr cusparseOperation_t kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr Scalar kOne = 1;
  static constexpr Scalar kZero = 0;

  void release_descriptors() noexcept {
    if (matrix_) library_->destroy_matrix(matrix_);
    if (x_) library_->destroy_vector(x_);
    if (y_) library_->destroy_vector(y_);
    matrix_ = nullptr;
    x_ = y_ = nullptr;
  }
  void release() noexcept {
    release_descriptors();
    if (handle_) library_->destroy(handle_);
    handle_ = nullptr;
  }

  std::shared_ptr<const Library> library_;
  std::int64_t rows_, cols_;
  cusparseSpMVAlg_t algorithm_;
  Describe describe_;
  cusparseHandle_t handle_ = nullptr;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  DeviceBuffer<std::byte> workspace_;
};

}  // namespace trireme::cusparse
