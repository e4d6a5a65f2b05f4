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

void FsaiOperation::set_place(const std::optional<ExchangeRequest>& exchange) {
  exchange_ = exchange;
}

void FsaiOperation::build(std::shared_ptr<DistributedMatrix> matrix, const FsaiOptions& options) {
  forget();
  const Stopwatch watch;
  options_ = options;
  matrix_ = std::move(matrix);
  try {
    if (exchange_ && size_of(matrix_->comm) == 1) make_on_gpu();
    if (!on_gpu_) {
      make_on_host();
      make_products(exchange_ ? Device::cuda : Device::cpu);
    }
  } catch (...) {
    forget();
    throw;
  }
  seconds_ = watch.seconds();
}

void FsaiOperation::make_on_gpu() {
  const auto blocks = DeviceBlocks::of(*matrix_).blocks;
  if (!blocks->local().is_one_block()) return;
  on_gpu_ = GpuFactors::make(blocks->local().view(), options_.steps);
  if (!on_gpu_) return;
  device_between_ =
      DeviceBuffer<double>(static_cast<std::size_t>(matrix_->local_rows()), blocks->stream());
  synchronize(blocks->stream());
  ++device_version_;
}

void FsaiOperation::make_on_host() {
  take_values(make_fsai(*matrix_, ScaledRows(*matrix_), options_));
}

// An error leaves no half of an inverse.
void FsaiOperation::renew() {
  require_set_up();
  const Stopwatch watch;
  try {
    if (on_gpu_) {
      drop_host();
      if (!on_gpu_->renew(DeviceBlocks::of(*matrix_).blocks->local().view()))
        return build(std::shared_ptr(matrix_), options_);
    } else {
      renew_on_host();
    }
  } catch (...) {
    forget();
    throw;
  }
  seconds_ = watch.seconds();
}

void FsaiOperation::renew_on_host() {
  RowSlab lower{.global_rows = lower_->global_rows(),
                .global_cols = lower_->global_rows(),
                .global_nnz = lower_->global_nnz,
                .first_row = lower_->first_row()};
  collectively(matrix_->comm, [&] { lower.local = joined_rows(*lower_); });
  renew_fsai(*matrix_, ScaledRows(*matrix_), lower);
  take_values(std::move(lower));
  for (Products* const products : {&on_host_, &on_device_}) {
    if (!products->lower) continue;
    if (products->lower->can_refresh() && products->upper->can_refresh()) {
      products->lower->refresh_values();
      products->upper->refresh_values();
    } else {
      *products = {};
      make_products(products == &on_host_ ? Device::cpu : Device::cuda);
    }
  }
}

// Rounds the values where FP32 suffices, and gives them to both factors.
void FsaiOperation::take_values(RowSlab&& lower) {
  const bool normal = std::ranges::all_of(lower.local.values, is_normal_in_fp32);
  precision_ = any_rank(matrix_->comm, !normal) ? Precision::full : Precision::mixed;
  if (precision_ == Precision::mixed)
    for (double& value : lower.local.values) value = static_cast<double>(static_cast<float>(value));
  RowSlab upper = transposed(*matrix_, lower);
  if (lower_) {
    lower_->replace_values(lower.local.values);
    upper_->replace_values(upper.local.values);
  } else {
    upper_ = distribute(matrix_->comm, std::move(upper), matrix_->row_starts);
    lower_ = distribute(matrix_->comm, std::move(lower), matrix_->row_starts);
  }
}

void FsaiOperation::make_products(Device device) {
  const auto make = [&](const std::shared_ptr<DistributedMatrix>& factor) {
    const std::string kernel(choose_kernel_for(*factor, device, precision_));
    std::shared_ptr<Operator> made;
    if (device == Device::cuda)
      made = std::make_shared<CudaOperator>(factor, kernel, precision_,
                                            exchange_.value_or(ExchangeRequest()));
    else
      made = std::make_shared<HostOperator>(factor, kernel, precision_);
    return made;
  };
  Products made{make(lower_), make(upper_)};
  const auto rows = static_cast<std::size_t>(matrix_->local_rows());
  collectively(matrix_->comm, [&] {
    if (device == Device::cuda)
      device_between_ = DeviceBuffer<double>(rows, gpu_operator(made.lower).stream());
    else
      between_.resize(rows);
  });
  if (device == Device::cuda) ++device_version_;
  (device == Device::cuda ? on_device_ : on_host_) = std::move(made);
}

void FsaiOperation::require_set_up() const {
  if (!is_set_up()) fail(ExitCode::internal, "an approximate inverse is applied before it is made");
}

void FsaiOperation::drop_host() {
  on_host_ = {};
  on_device_ = {};
  lower_.reset();
  upper_.reset();
}

void FsaiOperation::forget() {
  drop_host();
  on_gpu_.reset();
  matrix_.reset();
}

std::optional<FsaiFacts> FsaiOperation::facts() const {
  if (!is_set_up()) return std::nullopt;
  if (on_gpu_) {
    FsaiFacts facts = on_gpu_->facts();
    facts.seconds = seconds_;
    return facts;
  }
  const Products& products = on_device_.lower ? on_device_ : on_host_;
  return FsaiFacts{.nnz = lower_->global_nnz,
                   .kernel = products.lower->kernel(),
                   .kernel_of_transposed = products.upper->kernel(),
                   .in_fp32 = precision_ == Precision::mixed,
                   .seconds = seconds_};
}

void FsaiOperation::apply(std::span<const double> r, std::span<double> z) {
  require_set_up();
  if (!lower_) make_on_host();
  if (!on_host_.lower) make_products(Device::cpu);
  on_host_.lower->multiply(r, between_);
  on_host_.upper->multiply(between_, z);
}

bool FsaiOperation::prepare_on_device() {
  require_set_up();
  if (!on_gpu_ && !on_device_.lower) make_products(Device::cuda);
  return true;
}

void FsaiOperation::enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) {
  if (on_gpu_) return on_gpu_->enqueue(r, device_between_.span(), z, stream);
  gpu_operator(on_device_.lower).queue_product(r, device_between_.span(), {}, stream);
  gpu_operator(on_device_.upper).queue_product(device_between_.view(), z, {}, stream);
}

void FsaiOperation::check_device() const {
  if (on_device_.lower && size_of(matrix_->comm) > 1)
    gpu_operator(on_device_.lower).exchange()->check();
}

}  // namespace trireme::inverses
