// SPDX-License-Identifier: BSD-3-Clause
// Groups of 1 to 32 lanes; each group takes one row.
#include <span>

#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "distributed/boundary_product.hpp"
#include "distributed/boundary_rows.hpp"

namespace trireme {
namespace {

constexpr int kThreads = 256;

template <int lanes, bool dot, class Value>
__global__ void __launch_bounds__(kThreads)
    add_rows(std::int32_t count, const std::int32_t* __restrict__ rows,
             const std::int32_t* __restrict__ row_ptr, const std::int32_t* __restrict__ col_idx,
             const double* __restrict__ values, const double* __restrict__ ghosts,
             const Value* __restrict__ x, Value* __restrict__ y, double* __restrict__ partials) {
  const auto k = static_cast<std::int32_t>((blockIdx.x * kThreads + threadIdx.x) / lanes);
  const auto lane = static_cast<std::int32_t>(threadIdx.x % lanes);
  double sum = 0;
  if (k < count)
    for (std::int32_t j = row_ptr[k] + lane; j < row_ptr[k + 1]; j += lanes)
      sum += values[j] * ghosts[col_idx[j]];
  sum = warp_sum<lanes>(sum);
  double product = 0;
  if (k < count && lane == 0) {
    const std::int32_t row = rows[k];
    y[row] = static_cast<Value>(static_cast<double>(y[row]) + sum);
    if constexpr (dot) product = static_cast<double>(x[row]) * sum;
  }
  if constexpr (dot) {
    product = block_sum<kThreads>(product);
    if (threadIdx.x == 0) partials[blockIdx.x] = product;
  }
}

// A thread takes one row of one vector; neighbours take the same row of neighbouring vectors.
__global__ void __launch_bounds__(kThreads)
    add_rows_of_vectors(std::int64_t elements, const std::int32_t* __restrict__ rows,
                        const std::int32_t* __restrict__ row_ptr,
                        const std::int32_t* __restrict__ col_idx, const double* __restrict__ values,
                        DeviceMultiVector<const double> ghosts, DeviceMultiVector<double> y) {
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (element >= elements) return;
  const auto k = static_cast<std::int32_t>(element / y.width);
  const std::int64_t vector = element - k * y.width;
  double sum = 0;
  for (std::int32_t j = row_ptr[k]; j < row_ptr[k + 1]; ++j)
    sum += values[j] * ghosts.data[col_idx[j] * ghosts.row_stride + vector];
  y.data[rows[k] * y.row_stride + vector] += sum;
}

}  // namespace

BoundaryProduct::BoundaryProduct(const CsrMatrix<double>& ghost, StreamRef stream) {
  const auto [rows, row_ptr] = boundary_rows(ghost);
  rows_ = to_device(std::span<const std::int32_t>(rows), stream);
  row_ptr_ = to_device(std::span<const std::int32_t>(row_ptr), stream);
  col_idx_ = to_device(std::span<const std::int32_t>(ghost.col_idx), stream);
  values_ = to_device(std::span<const double>(ghost.values), stream);
  synchronize(stream);  // the arrays above go out of scope
  const auto count = static_cast<std::int64_t>(rows.size());
  while (lanes_ < 32 && 2 * lanes_ * count <= ghost.nnz()) lanes_ *= 2;
  blocks_ = static_cast<int>((count * lanes_ + kThreads - 1) / kThreads);
}

namespace {

template <bool dot, class Value, class... Arguments>
void launch(int lanes, int blocks, StreamRef stream, Arguments... arguments) {
  if (blocks == 0) return;
  const auto run = [&](auto kernel) { kernel<<<blocks, kThreads, 0, stream>>>(arguments...); };
  switch (lanes) {
    case 1:
      run(add_rows<1, dot, Value>);
      break;
    case 2:
      run(add_rows<2, dot, Value>);
      break;
    case 4:
      run(add_rows<4, dot, Value>);
      break;
    case 8:
      run(add_rows<8, dot, Value>);
      break;
    case 16:
      run(add_rows<16, dot, Value>);
      break;
    default:
      run(add_rows<32, dot, Value>);
      break;
  }
  check_launch();
}

}  // namespace

template <class Value>
void BoundaryProduct::multiply(DeviceSpan<const double> ghosts, DeviceSpan<Value> y,
                               StreamRef stream) const {
  launch<false, Value>(lanes_, blocks_, stream, static_cast<std::int32_t>(rows_.size()),
                       rows_.data(), row_ptr_.data(), col_idx_.data(), values_.data(),
                       ghosts.data(), static_cast<const Value*>(nullptr), y.data(),
                       static_cast<double*>(nullptr));
}

template <class Value>
void BoundaryProduct::multiply_and_dot(DeviceSpan<const double> ghosts, DeviceSpan<const Value> x,
                                       DeviceSpan<Value> y, DeviceSpan<double> partials,
                                       StreamRef stream) const {
  launch<true, Value>(lanes_, blocks_, stream, static_cast<std::int32_t>(rows_.size()),
                      rows_.data(), row_ptr_.data(), col_idx_.data(), values_.data(), ghosts.data(),
                      x.data(), y.data(), partials.data());
}

TRIREME_BOUNDARY_PRODUCTS

void BoundaryProduct::multi_multiply(DeviceMultiVector<const double> ghosts,
                                     DeviceMultiVector<double> y, StreamRef stream) const {
  const std::int64_t elements = static_cast<std::int64_t>(rows_.size()) * y.width;
  if (elements == 0) return;
  add_rows_of_vectors<<<static_cast<unsigned>((elements + kThreads - 1) / kThreads), kThreads, 0,
                        stream>>>(elements, rows_.data(), row_ptr_.data(), col_idx_.data(),
                                  values_.data(), ghosts, y);
  check_launch();
}

void BoundaryProduct::update_values(std::span<const double> values, StreamRef stream) {
  copy_to_device(values, values_.span(), stream);
}

KernelStatistics BoundaryProduct::statistics() const {
  return {.stored_bytes = static_cast<std::int64_t>(12 * values_.size() + 8 * rows_.size() + 4),
          .padding_ratio = 0,
          .steps = {}};
}

}  // namespace trireme
