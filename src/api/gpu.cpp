// SPDX-License-Identifier: BSD-3-Clause
#include "api/gpu.hpp"

#include <cmath>

#include "distributed/device_blocks.hpp"
#include "distributed/row_sizes.hpp"
#include "kernels/blocked_cuda_kernel.hpp"
#include "kernels/registry.hpp"

namespace trireme::api {
namespace {

// Below so many numbers a copy through pinned memory saves nothing.

}  // namespace

void Gpu::wait_for(StreamRef other) {
  event_.record(other);
  stream_.wait(event_);
}

void Gpu::upload(std::span<const double> from, DeviceSpan<double> to) {
  uploader_.copy(from, to, stream_);
}

void Gpu::download(DeviceSpan<const double> from, std::span<double> to) {
  uploader_.copy_back(from, to, stream_);
}

Residual Gpu::residual(DistributedMatrix& matrix, DeviceSpan<const double> b,
                       DeviceSpan<const double> x) {
  if (b.empty()) return {};
  if (DeviceBlocks::left_entries_out(matrix)) return residual_on_host(matrix, b, x);
  if (!product_) {
    const auto blocks = DeviceBlocks::of(matrix).blocks->local().blocks();
    product_ = build_by_blocks<double>(blocks, [this](const DeviceCsr<double>& rows) {
      return build_cuda_kernel<double>("albus", rows, stream_);
    });
    r_ = DeviceBuffer<double>(b.size(), stream_);
    if (const RowSizes& sizes = row_sizes(matrix); sizes.differ)
      sizes_ = to_device(std::span<const double>(sizes.inverse), stream_);
  }
  product_->multiply(x, r_.span(), Accumulate::no, stream_);
  const ResidualSums sums = sums_.subtract_from(b, r_.span(), sizes_.view());
  const auto in_range = [](double squares) {
    return squares > kAboveUnderflow && std::isfinite(squares);
  };
  const bool weighs = !sizes_.empty();
  if (!in_range(sums.squares) || (weighs && !in_range(sums.of_rows)) ||
      (weighs && !in_range(sums.of_rows_and_b)))
    return residual_on_host(matrix, b, x);
  Residual result{.norm = std::sqrt(sums.squares)};
  if (weighs) result.of_rows = std::sqrt(sums.of_rows) / std::sqrt(sums.of_rows_and_b);
  return result;
}

Residual Gpu::residual_on_host(const DistributedMatrix& matrix, DeviceSpan<const double> b,
                               DeviceSpan<const double> x) {
  Array<double> of_b(b.size()), of_x(x.size()), r;
  download(b, of_b);
  download(x, of_x);
  return plain_residual(matrix, matrix.blocks.local.values, row_sizes(matrix), of_b, of_x, r);
}

void Gpu::forget_matrix() {
  product_.reset();
  sizes_ = {};
}

}  // namespace trireme::api
