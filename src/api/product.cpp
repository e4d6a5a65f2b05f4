// SPDX-License-Identifier: BSD-3-Clause
// Products by a kernel on the host or on a GPU.
#include <algorithm>
#include <optional>
#include <utility>

#include "api/caller_matrix.hpp"
#include "api/on_device.hpp"
#include "api/options.hpp"
#include "base/choices.hpp"
#include "base/error.hpp"
#include "distributed/cuda_operator.hpp"
#include "kernels/multi_product.hpp"
#include "kernels/registry.hpp"
#include "planning/choose.hpp"
#include "planning/kernel_for_matrix.hpp"

namespace trireme::api {

class Product::Work {
 public:
  Work(const CsrArrays& matrix, const std::string& kernel, const std::string& device) {
    gpu_ = gpu_for(device);
    if (kernel != kAuto) find_kernel(kernel);
    if (gpu_ >= 0) {
      auto square = copied_square(Ranks(nullptr), matrix);
      kernel_ = kernel == kAuto
                    ? std::string(choose_kernel_for(*square, Device::cuda, Precision::full))
                    : kernel;
      on_gpu_ = std::make_unique<CudaOperator>(std::move(square), kernel_);
      return;
    }
    matrix_ = copied(matrix);
    kernel_ = kernel == kAuto ? std::string(choose_kernel(Device::cpu, MatrixTraits{})) : kernel;
    on_host_ = build_host_kernel<double>(kernel_, matrix_.view());
  }

  std::int64_t rows() const { return on_gpu_ ? on_gpu_->matrix().local_rows() : matrix_.rows; }
  std::int64_t cols() const { return on_gpu_ ? on_gpu_->matrix().local_rows() : matrix_.cols; }
  const std::string& kernel() const { return kernel_; }
  int gpu() const { return gpu_; }  // -1: none
  Device device() const { return on_gpu_ ? Device::cuda : Device::cpu; }

  void multiply(std::span<const double> x, std::span<double> y) {
    require_size(x.size(), cols(), "x");
    require_size(y.size(), rows(), "y");
    if (on_gpu_)
      on_gpu_->multiply(x, y);
    else
      on_host_->multiply(x, y, Accumulate::no);
  }

  void multiply(const GpuArray<const double>& x, const GpuArray<double>& y) {
    require_size(x.size, cols(), "x");
    require_size(y.size, rows(), "y");
    if (!on_gpu_) fail(ExitCode::usage, "x is on a GPU, and this matrix multiplies on the CPU");
    on_gpu_->multiply(of(x), of(y), stream_of(x));
  }

  void multiply_transposed(std::span<const double> x, std::span<double> y) {
    require_size(x.size(), rows(), "x");
    require_size(y.size(), cols(), "y");
    if (on_gpu_) return on_gpu_->multiply_transpose(x, y);
    std::ranges::fill(y, 0.0);
    for (std::int64_t i = 0; i < matrix_.rows; ++i)
      for (std::int32_t k = matrix_.row_ptr[i]; k < matrix_.row_ptr[i + 1]; ++k)
        y[matrix_.col_idx[k]] += matrix_.values[k] * x[i];
  }

  void multiply_many(std::span<const double> x, std::span<double> y, std::int64_t width) {
    if (width < 0) fail(ExitCode::usage, "width cannot be {}", width);
    require_size(x.size(), cols() * width, "x");
    require_size(y.size(), rows() * width, "y");
    if (on_gpu_) return multiply_one_by_one(x, y, width);
    if (!on_host_many_) on_host_many_.emplace(*on_host_, matrix_.rows, matrix_.cols);
    on_host_many_->multiply(side_by_side(x.data(), cols(), width),
                            side_by_side(y.data(), rows(), width), Accumulate::no);
  }

 private:
  void multiply_one_by_one(std::span<const double> x, std::span<double> y, std::int64_t width) {
    Array<double> one_x(static_cast<std::size_t>(cols())), one_y(static_cast<std::size_t>(rows()));
    for (std::int64_t j = 0; j < width; ++j) {
      for (std::size_t i = 0; i < one_x.size(); ++i) one_x[i] = x[i * width + j];
      on_gpu_->multiply(std::span<const double>(one_x), std::span<double>(one_y));
      for (std::size_t i = 0; i < one_y.size(); ++i) y[i * width + j] = one_y[i];
    }
  }

  int gpu_ = -1;
  CsrMatrix<double> matrix_;
  std::string kernel_;
  std::unique_ptr<HostKernel<double>> on_host_;         // null: on_gpu_
  std::optional<MultiProduct<double>> on_host_many_{};  // made at the first use
  std::unique_ptr<CudaOperator> on_gpu_;
};

Product::Product(const CsrArrays& matrix, const std::string& kernel, const std::string& device)
    : work_(on_device(-1, [&] { return std::make_unique<Work>(matrix, kernel, device); })) {}
Product::~Product() = default;
Product::Product(Product&&) noexcept = default;
Product& Product::operator=(Product&&) noexcept = default;

std::int64_t Product::rows() const { return work_->rows(); }
std::int64_t Product::cols() const { return work_->cols(); }
std::string Product::kernel() const { return work_->kernel(); }
int Product::gpu() const { return work_->gpu(); }
std::string Product::device() const { return std::string(to_string(work_->device())); }
void Product::multiply(std::span<const double> x, std::span<double> y) {
  on_device(work_->gpu(), [&] { work_->multiply(x, y); });
}
void Product::multiply(GpuArray<const double> x, GpuArray<double> y) {
  on_device(work_->gpu(), [&] { work_->multiply(x, y); });
}
void Product::multiply_transposed(std::span<const double> x, std::span<double> y) {
  on_device(work_->gpu(), [&] { work_->multiply_transposed(x, y); });
}
void Product::multiply_many(std::span<const double> x, std::span<double> y, std::int64_t width) {
  on_device(work_->gpu(), [&] { work_->multiply_many(x, y, width); });
}

}  // namespace trireme::api
