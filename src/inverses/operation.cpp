// SPDX-License-Identifier: BSD-3-Clause
#include "inverses/operation.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/device_blocks.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/joined_rows.hpp"
#include "parallel/collective.hpp"
#include "planning/kernel_for_matrix.hpp"
#include "solvers/fp32_range.hpp"

namespace trireme::inverses {
namespace {

CudaOperator& gpu_operator(const std::shared_ptr<Operator>& op) {
  return dynamic_cast<CudaOperator&>(*op);
}

}  // namespace

void InverseOperation::set_place(const std::optional<ExchangeRequest>& exchange) {
  exchange_ = exchange;
}

void InverseOperation::build(std::shared_ptr<DistributedMatrix> matrix) {
  forget();
  const Stopwatch watch;
  matrix_ = std::move(matrix);
  try {
    if (exchange_ && size_of(matrix_->comm) == 1) on_gpu_ = make_on_gpu(*matrix_);
    if (on_gpu_) {
      const StreamRef stream = DeviceBlocks::of(*matrix_).blocks->stream();
      device_between_ =
          DeviceBuffer<double>(static_cast<std::size_t>(matrix_->local_rows()), stream);
      synchronize(stream);
      ++device_version_;
    } else {
      make_on_host();
      make_products(exchange_ ? Device::cuda : Device::cpu);
    }
  } catch (...) {
    forget();
    throw;
  }
  seconds_ = watch.seconds();
}

void InverseOperation::make_on_host() { take_values(make_rows(*matrix_)); }

// An error leaves no half of an inverse.
void InverseOperation::renew() {
  require_set_up();
  const Stopwatch watch;
  try {
    if (on_gpu_) {
      drop_host();
      if (!on_gpu_->renew(DeviceBlocks::of(*matrix_).blocks->local().view()))
        return build(std::shared_ptr(matrix_));
    } else {
      renew_on_host();
    }
  } catch (...) {
    forget();
    throw;
  }
  seconds_ = watch.seconds();
}

void InverseOperation::renew_on_host() {
  RowSlab rows{.global_rows = rows_->global_rows(),
               .global_cols = rows_->global_rows(),
               .global_nnz = rows_->global_nnz,
               .first_row = rows_->first_row()};
  collectively(matrix_->comm, [&] { rows.local = joined_rows(*rows_); });
  renew_rows(*matrix_, rows);
  const Precision before = precision_;
  take_values(std::move(rows));
  transposed_on_host_.reset();
  for (Products* const products : {&on_host_, &on_device_}) {
    if (!products->rows) continue;
    const auto can_refresh = [&](const auto& op) {
      return !op || (precision_ == before && op->can_refresh());
    };
    if (can_refresh(products->rows) && can_refresh(products->transposed)) {
      products->rows->refresh_values();
      if (products->transposed) products->transposed->refresh_values();
    } else {
      *products = {};
      make_products(products == &on_host_ ? Device::cpu : Device::cuda);
    }
  }
}

// Rounds the values where FP32 suffices, and gives them to both factors.
void InverseOperation::take_values(RowSlab&& rows) {
  const bool normal = std::ranges::all_of(rows.local.values, is_normal_in_fp32);
  precision_ = any_rank(matrix_->comm, !normal) ? Precision::full : Precision::mixed;
  if (precision_ == Precision::mixed)
    for (double& value : rows.local.values) value = static_cast<double>(static_cast<float>(value));
  std::optional<RowSlab> columns;
  if (symmetric_) columns = transposed(*matrix_, rows);
  if (rows_) {
    rows_->replace_values(rows.local.values);
    if (columns) transposed_->replace_values(columns->local.values);
    return;
  }
  if (columns) transposed_ = distribute(matrix_->comm, std::move(*columns), matrix_->row_starts);
  rows_ = distribute(matrix_->comm, std::move(rows), matrix_->row_starts);
}

void InverseOperation::make_products(Device device) {
  const auto make = [&](const std::shared_ptr<DistributedMatrix>& factor) {
    std::shared_ptr<Operator> made;
    if (!factor) return made;
    const std::string kernel(choose_kernel_for(*factor, device, precision_));
    if (device == Device::cuda)
      made = std::make_shared<CudaOperator>(factor, kernel, precision_,
                                            exchange_.value_or(ExchangeRequest()));
    else
      made = std::make_shared<HostOperator>(factor, kernel, precision_);
    return made;
  };
  Products made{make(rows_), make(transposed_)};
  const auto rows = static_cast<std::size_t>(matrix_->local_rows());
  collectively(matrix_->comm, [&] {
    if (!symmetric_) return;
    if (device == Device::cuda)
      device_between_ = DeviceBuffer<double>(rows, gpu_operator(made.rows).stream());
    else
      between_.resize(rows);
  });
  if (device == Device::cuda) ++device_version_;
  (device == Device::cuda ? on_device_ : on_host_) = std::move(made);
}

void InverseOperation::require_set_up() const {
  if (!is_set_up()) fail(ExitCode::internal, "an approximate inverse is applied before it is made");
}

void InverseOperation::drop_host() {
  on_host_ = {};
  on_device_ = {};
  transposed_on_host_.reset();
  rows_.reset();
  transposed_.reset();
}

void InverseOperation::forget() {
  drop_host();
  on_gpu_.reset();
  matrix_.reset();
}

std::optional<InverseFacts> InverseOperation::facts() const {
  if (!is_set_up()) return std::nullopt;
  if (on_gpu_) {
    InverseFacts facts = on_gpu_->facts();
    facts.seconds = seconds_;
    return facts;
  }
  const Products& products = on_device_.rows ? on_device_ : on_host_;
  return InverseFacts{
      .nnz = rows_->global_nnz,
      .kernel = products.rows->kernel(),
      .kernel_of_transposed = products.transposed ? products.transposed->kernel() : std::string(),
      .in_fp32 = precision_ == Precision::mixed,
      .seconds = seconds_};
}

void InverseOperation::apply(std::span<const double> r, std::span<double> z) {
  require_set_up();
  if (!rows_) make_on_host();
  if (!on_host_.rows) make_products(Device::cpu);
  if (!symmetric_) return on_host_.rows->multiply(r, z);
  on_host_.rows->multiply(r, between_);
  on_host_.transposed->multiply(between_, z);
}

void InverseOperation::apply_transposed(std::span<const double> r, std::span<double> z) {
  if (symmetric_) return apply(r, z);
  require_set_up();
  if (!transposed_on_host_) {
    RowSlab rows{.global_rows = rows_->global_rows(),
                 .global_cols = rows_->global_rows(),
                 .global_nnz = rows_->global_nnz,
                 .first_row = rows_->first_row()};
    collectively(matrix_->comm, [&] { rows.local = joined_rows(*rows_); });
    const std::shared_ptr<DistributedMatrix> columns =
        distribute(matrix_->comm, transposed(*matrix_, rows), matrix_->row_starts);
    transposed_on_host_ = std::make_shared<HostOperator>(
        columns, std::string(choose_kernel_for(*columns, Device::cpu, precision_)), precision_);
  }
  transposed_on_host_->multiply(r, z);
}

bool InverseOperation::prepare_on_device() {
  require_set_up();
  if (!on_gpu_ && !on_device_.rows) make_products(Device::cuda);
  return true;
}

void InverseOperation::enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) {
  if (on_gpu_) return on_gpu_->enqueue(r, device_between_.span(), z, stream);
  CudaOperator& rows = gpu_operator(on_device_.rows);
  if (!symmetric_) return rows.queue_product(r, z, {}, stream);
  rows.queue_product(r, device_between_.span(), {}, stream);
  gpu_operator(on_device_.transposed).queue_product(device_between_.view(), z, {}, stream);
}

void InverseOperation::check_device() const {
  if (on_device_.rows && size_of(matrix_->comm) > 1)
    gpu_operator(on_device_.rows).exchange()->check();
}

void FsaiOperation::build(std::shared_ptr<DistributedMatrix> matrix, const FsaiOptions& options) {
  options_ = options;
  InverseOperation::build(std::move(matrix));
}

RowSlab FsaiOperation::make_rows(const DistributedMatrix& matrix) const {
  return make_fsai(matrix, ScaledRows(matrix), options_);
}

void FsaiOperation::renew_rows(const DistributedMatrix& matrix, RowSlab& rows) const {
  renew_fsai(matrix, ScaledRows(matrix), rows);
}

std::unique_ptr<GpuFactors> FsaiOperation::make_on_gpu(DistributedMatrix& matrix) const {
  const auto blocks = DeviceBlocks::of(matrix).blocks;
  if (!blocks->local().is_one_block()) return nullptr;
  return GpuFactors::make(blocks->local().view(), options_.steps);
}

void SpaiOperation::build(std::shared_ptr<DistributedMatrix> matrix, const SpaiOptions& options) {
  options_ = options;
  InverseOperation::build(std::move(matrix));
}

RowSlab SpaiOperation::make_rows(const DistributedMatrix& matrix) const {
  return make_spai(matrix, options_);
}

void SpaiOperation::renew_rows(const DistributedMatrix& matrix, RowSlab& rows) const {
  renew_spai(matrix, rows);
}

}  // namespace trireme::inverses
