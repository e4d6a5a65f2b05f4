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
namespace {

// Calls build(kernel) for a ghost block. Most rows of a ghost block can be empty, so that a kernel
// that pads its rows refuses the block: plain CSR takes it then, and `refused` is set.
template <class Build>
auto build_ghost(std::string_view kernel, bool& refused, const Build& build) {
  try {
    return build(kernel);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
    refused = true;
    return build(plain_kernel(Device::cpu).name);
  }
}

void round_to_float(std::span<const double> values, Array<float>& rounded) {
  rounded.resize(values.size());
  const std::int64_t count = std::ssize(values);
#pragma omp parallel for schedule(static) if (count > 10000)
  for (std::int64_t k = 0; k < count; ++k) rounded[k] = static_cast<float>(values[k]);
}

}  // namespace

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
      const auto of_block = [&](const CsrMatrix<double>& matrix_block, std::string_view name) {
        return build_by_blocks<double>(matrix_block,
                                       [&](const auto& rows) { return builder(name, rows); });
      };
      Kernels kernels{.local = of_block(local(), kernel_), .ghost = nullptr};
      if (ghost().nnz() > 0)
        kernels.ghost = build_ghost(ghost_kernel_, refused,
                                    [&](std::string_view name) { return of_block(ghost(), name); });
      return kernels;
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
  if (mixed_) takes_floats_ = !any_rank(matrix_->comm, !can_take_floats(options));
}

bool HostOperator::can_take_floats(const OperatorOptions& options) const {
  const auto has_floats = [&](std::string_view name) {
    const KernelEntry& entry = find_kernel(name);
    return entry.host_float &&
           !(options.same_bits_for_any_threads && entry.host_bits_follow_threads);
  };
  return local().cuts.empty() && has_floats(kernel_) &&
         (ghost().nnz() == 0 || has_floats(ghost_kernel_));
}

void HostOperator::prepare_floats() {
  if (floats_ || !takes_floats_) return;
  const Stopwatch watch;
  std::unique_ptr<Floats> made;
  try {
    collectively(matrix_->comm, [&] {
      made = std::make_unique<Floats>();
      const auto rounded = [](const CsrMatrix<double>& block, Array<float>& values) {
        round_to_float(block.values, values);
        return CsrView<float>{block.rows, block.cols, block.row_ptr, block.col_idx, values};
      };
      made->local = build_host_kernel<float>(kernel_, rounded(local(), made->local_values));
      if (ghost().nnz() > 0) {
        const CsrView<float> block = rounded(ghost(), made->ghost_values);
        bool refused = false;
        made->ghost = build_ghost(ghost_kernel_, refused, [&](std::string_view name) {
          return build_host_kernel<float>(name, block);
        });
      }
      made->packed.resize(halo().send_rows.size());
      made->ghosts.resize(halo().ghosts);
    });
  } catch (const AgreedError& error) {
    if (error.code() != ExitCode::resource) throw;
    takes_floats_ = false;
    return;
  }
  made->exchange.emplace(matrix_->comm, halo(), std::span<float>(made->packed),
                         std::span<float>(made->ghosts));
  floats_ = std::move(made);
  build_seconds_ += watch.seconds();
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

template <class Number>
void HostOperator::pack(std::span<const Number> x, Array<Number>& packed) const {
  const std::int32_t* rows = halo().send_rows.data();
  const auto count = static_cast<std::int64_t>(packed.size());
#pragma omp parallel for schedule(static) if (count > 10000)
  for (std::int64_t k = 0; k < count; ++k) packed[k] = x[rows[k]];
}

void HostOperator::begin_halo(std::span<const double> x) {
  pack(x, packed_);
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

void HostOperator::multiply_floats_in_order(std::span<const float> x, std::span<float> y) {
  const Stopwatch watch;
  Floats& floats = *floats_;
  const bool neighbours = !matrix_->halo.empty();
  if (neighbours)
    observed(Part::halo, [&] {
      pack(x, floats.packed);
      floats.exchange->begin();
    });
  observed(Part::local, [&] { floats.local->multiply(x, y, Accumulate::no); });
  if (neighbours) observed(Part::halo, [&] { floats.exchange->end(); });
  if (floats.ghost)
    observed(Part::ghost, [&] { floats.ghost->multiply(floats.ghosts, y, Accumulate::yes); });
  times_.record(watch.seconds());
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
  if (!floats_) return;
  round_to_float(local().values, floats_->local_values);
  floats_->local->update_values(floats_->local_values);
  if (!floats_->ghost) return;
  round_to_float(ghost().values, floats_->ghost_values);
  floats_->ghost->update_values(floats_->ghost_values);
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
