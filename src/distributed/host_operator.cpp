// SPDX-License-Identifier: BSD-3-Clause
// The distributed product on the host.
#include "distributed/host_operator.hpp"

#include <algorithm>
#include <utility>

#include "base/stopwatch.hpp"
#include "distributed/float_values.hpp"
#include "kernels/albus/albus.hpp"
#include "kernels/blocked_kernel.hpp"
#include "parallel/collective.hpp"

namespace trireme {

HostOperator::HostOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
                           const OperatorOptions& options)
    : Operator(std::move(matrix), kernel, options),
      packed_(matrix_->halo.send_rows.size()),
      ghosts_(matrix_->halo.ghosts),
      exchange_(matrix_->comm, halo(), packed_, ghosts_) {
  inexact_ = mixed_ && !float_values_are_exact(*matrix_);
  bool refused = false;
  collectively(matrix_->comm, [&] {
    if (ordered_) {
      ordered_->refresh_old_values();
      ordered_->local();  // made here, because it is not a part of the build
    }
    const Stopwatch watch;
    const auto build = [&](const auto& builder) {
      return Kernels{.local = build_by_blocks<double>(
                         local(), [&](const auto& block) { return builder(kernel_, block); }),
                     .ghost = ghost().nnz() > 0 ? build_ghost(builder, refused) : nullptr};
    };
    kernels_ = build([&](std::string_view name, const CsrView<double>& block) {
      if (options.same_bits_for_any_threads && name == "albus")
        return build_albus_fixed_host(block, options.precision);
      return mixed_ ? build_mixed_host_kernel(name, block) : build_host_kernel<double>(name, block);
    });
    if (inexact_) {
      find_row_defect();
      exact_ = build([](std::string_view, const CsrView<double>& block) {
        return build_host_kernel<double>(plain_kernel(Device::cpu).name, block);
      });
    }
    build_seconds_ = watch.seconds();
  });
  ghost_refusals_ = sum_over_ranks(matrix_->comm, refused ? 1 : 0);
}

// Most rows of a ghost block can be empty, so that a kernel that pads its rows refuses the block.
template <class Builder>
std::unique_ptr<HostKernel<double>> HostOperator::build_ghost(const Builder& builder,
                                                              bool& refused) const {
  try {
    return build_by_blocks<double>(
        ghost(), [&](const auto& block) { return builder(ghost_kernel_, block); });
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
    refused = true;
    const std::string_view plain = plain_kernel(Device::cpu).name;
    return build_by_blocks<double>(ghost(),
                                   [&](const auto& block) { return builder(plain, block); });
  }
}

const CsrMatrix<double>& HostOperator::local() const {
  return ordered_ ? ordered_->local() : matrix_->blocks.local;
}

const CsrMatrix<double>& HostOperator::ghost() const {
  return ordered_ ? ordered_->ghost() : matrix_->blocks.ghost;
}

void HostOperator::find_row_defect() {
  row_defect_ = trireme::row_defect(matrix_->blocks, true);
  if (!ordered_) return;
  row_defect_in_order_.resize(row_defect_.size());
  permute<float>(row_defect_, ordered_->order(), row_defect_in_order_);
}

std::span<const float> HostOperator::row_defect_in_order() const {
  return ordered_ ? row_defect_in_order_ : row_defect_;
}

void HostOperator::pack(std::span<const double> x) {
  const std::int32_t* rows = halo().send_rows.data();
  const auto count = static_cast<std::int64_t>(packed_.size());
#pragma omp parallel for schedule(static) if (count > 10000)
  for (std::int64_t k = 0; k < count; ++k) packed_[k] = x[rows[k]];
}

void HostOperator::begin_halo(std::span<const double> x) {
  pack(x);
  exchange_.begin();
}

void HostOperator::end_halo() { exchange_.end(); }

void HostOperator::multiply(std::span<const double> x, std::span<double> y) {
  in_order(x, y, [this](auto px, auto py) { multiply_in_order(px, py); });
}

void HostOperator::multiply_exactly(std::span<const double> x, std::span<double> y) {
  in_order(x, y, [this](auto px, auto py) { multiply_exactly_in_order(px, py); });
}

// The time of the product leaves out the permutations of x and y, which a loop in the order of the
// kernels does not need.
void HostOperator::multiply_in_order(std::span<const double> x, std::span<double> y) {
  const Stopwatch watch;
  multiply(kernels_, x, y);
  times_.record(watch.seconds());
}

void HostOperator::multiply_exactly_in_order(std::span<const double> x, std::span<double> y) {
  multiply(inexact_ ? exact_ : kernels_, x, y);
}

template <class Product>
void HostOperator::in_order(std::span<const double> x, std::span<double> y,
                            const Product& product) {
  if (!ordered_) return product(x, y);
  x_in_order_.resize(x.size());
  y_in_order_.resize(y.size());
  permute<double>(x, ordered_->order(), x_in_order_);
  product(std::span<const double>(x_in_order_), std::span<double>(y_in_order_));
  permute_back<double>(y_in_order_, ordered_->order(), y);
}

void HostOperator::multiply(const Kernels& kernels, std::span<const double> x,
                            std::span<double> y) {
  const bool neighbours = !matrix_->halo.empty();
  if (neighbours) observed(Part::halo, [&] { begin_halo(x); });
  observed(Part::local, [&] { kernels.local->multiply(x, y, Accumulate::no); });
  if (neighbours) observed(Part::halo, [&] { end_halo(); });
  if (kernels.ghost)
    observed(Part::ghost, [&] { kernels.ghost->multiply(ghosts_, y, Accumulate::yes); });
}

HostOperator::MultiHalo::MultiHalo(MPI_Comm comm, const HaloPlan& plan, std::int64_t width)
    : packed(plan.send_rows.size() * width),
      ghosts(plan.ghosts * width),
      exchange(comm, plan, packed, ghosts, static_cast<int>(width)) {}

HostOperator::MultiHalo& HostOperator::multi_halo(std::int64_t width) {
  const auto known = multi_halos_.find(width);
  if (known != multi_halos_.end()) return known->second;
  return multi_halos_.try_emplace(width, matrix_->comm, halo(), width).first->second;
}

void HostOperator::multi_multiply(MultiVector<const double> x, MultiVector<double> y) {
  in_order(x, y, [this](auto px, auto py) { multi_multiply_in_order(px, py); });
}

void HostOperator::multi_multiply_exactly(MultiVector<const double> x, MultiVector<double> y) {
  in_order(x, y, [this](auto px, auto py) { multi_multiply_exactly_in_order(px, py); });
}

void HostOperator::multi_multiply_in_order(MultiVector<const double> x, MultiVector<double> y) {
  const Stopwatch watch;
  multiply(kernels_, x, y);
  record(watch.seconds(), x.width);
}

void HostOperator::record(double seconds, std::int64_t products) {
  for (std::int64_t j = 0; j < products; ++j)
    times_.record(seconds / static_cast<double>(products));
}

void HostOperator::multi_multiply_exactly_in_order(MultiVector<const double> x,
                                                   MultiVector<double> y) {
  multiply(inexact_ ? exact_ : kernels_, x, y);
}

bool HostOperator::multiply_and_dot_in_order(MultiVector<const double> x, MultiVector<double> y,
                                             std::int64_t chunk_rows, double* dots) {
  if (size_of(matrix_->comm) > 1) return false;
  Kernels& kernels = inexact_ ? exact_ : kernels_;
  prepare_multi(kernels);
  const Stopwatch watch;
  bool done = false;
  observed(Part::local,
           [&] { done = kernels.local_multi->multiply_and_dot(x, y, chunk_rows, dots); });
  if (done && !inexact_) record(watch.seconds(), x.width);
  return done;
}

template <class Product>
void HostOperator::in_order(MultiVector<const double> x, MultiVector<double> y,
                            const Product& product) {
  if (!ordered_) return product(x, y);
  x_in_order_.resize(x.rows * x.width);
  y_in_order_.resize(x.rows * x.width);
  const auto px = side_by_side(x_in_order_.data(), x.rows, x.width);
  const auto py = side_by_side(y_in_order_.data(), x.rows, x.width);
  const std::span<const std::int32_t> order = ordered_->order();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.width; ++j) px(i, j) = x(order[i], j);
  product(MultiVector<const double>(px), py);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.width; ++j) y(order[i], j) = py(i, j);
}

void HostOperator::prepare_multi(Kernels& kernels) const {
  if (kernels.local_multi) return;
  kernels.local_multi.emplace(*kernels.local, local().rows, local().cols);
  if (kernels.ghost) kernels.ghost_multi.emplace(*kernels.ghost, ghost().rows, ghost().cols);
}

void HostOperator::multiply(Kernels& kernels, MultiVector<const double> x, MultiVector<double> y) {
  if (x.width == 0) return;
  prepare_multi(kernels);
  MultiHalo& travelling = multi_halo(x.width);  // collective: ranks without neighbours make it too
  const bool neighbours = !matrix_->halo.empty();
  if (neighbours)
    observed(Part::halo, [&] {
      const std::int32_t* rows = halo().send_rows.data();
      const auto count = static_cast<std::int64_t>(halo().send_rows.size());
#pragma omp parallel for schedule(static) if (count * x.width > 10000)
      for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t j = 0; j < x.width; ++j)
          travelling.packed[k * x.width + j] = x(rows[k], j);
      travelling.exchange.begin();
    });
  observed(Part::local, [&] { kernels.local_multi->multiply(x, y, Accumulate::no); });
  if (neighbours) observed(Part::halo, [&] { travelling.exchange.end(); });
  if (kernels.ghost)
    observed(Part::ghost, [&] {
      kernels.ghost_multi->multiply(
          side_by_side(std::as_const(travelling.ghosts).data(), halo().ghosts, x.width), y,
          Accumulate::yes);
    });
}

void HostOperator::refresh_values() {
  if (ordered_) ordered_->refresh_values();
  if (inexact_) find_row_defect();
  for (const Kernels* kernels : {&kernels_, &exact_}) {
    if (kernels->local) kernels->local->update_values(local().values);
    if (kernels->ghost) kernels->ghost->update_values(ghost().values);
  }
}

double HostOperator::measure_product_us(int products) {
  const Array<double> x(matrix_->local_rows(), 1.0);
  Array<double> y(matrix_->local_rows());
  return median_us(products, [&] { multiply(kernels_, x, y); });
}

double HostOperator::measure_local_us(int products) {
  const Array<double> x(matrix_->local_rows(), 1.0);
  Array<double> y(matrix_->local_rows());
  return median_us(products, [&] { kernels_.local->multiply(x, y, Accumulate::no); });
}

KernelStatistics HostOperator::statistics() const {
  const KernelStatistics local = kernels_.local->statistics();
  return kernels_.ghost ? combined(local, kernels_.ghost->statistics()) : local;
}

}  // namespace trireme
