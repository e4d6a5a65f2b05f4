// SPDX-License-Identifier: BSD-3-Clause
// The distributed product on the host.
#include "distributed/host_operator.hpp"

#include <utility>

#include "base/stopwatch.hpp"
#include "distributed/float_values.hpp"
#include "parallel/collective.hpp"

namespace trireme {

using Part = Operator::ProductObserver::Part;

HostOperator::HostOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
                           Precision precision)
    : Operator(std::move(matrix), kernel),
      packed_(matrix_->halo.send_rows.size()),
      ghosts_(matrix_->halo.ghosts),
      exchange_(matrix_->comm, matrix_->halo, packed_, ghosts_) {
  const Stopwatch watch;
  mixed_ = precision == Precision::mixed;
  inexact_ = mixed_ && !float_values_are_exact(*matrix_);
  collectively(matrix_->comm, [&] {
    const SplitRows& blocks = matrix_->blocks;
    const auto build = [&](const auto& builder) {
      return Kernels{builder(blocks.local.view()),
                     blocks.ghost.nnz() > 0 ? builder(blocks.ghost.view()) : nullptr};
    };
    kernels_ = build([&](const CsrView<double>& block) {
      return mixed_ ? build_mixed_host_kernel(kernel, block)
                    : build_host_kernel<double>(kernel, block);
    });
    if (inexact_) row_defect_ = trireme::row_defect(blocks.local, &blocks.ghost);
    if (inexact_)
      exact_ = build(
          [](const CsrView<double>& block) { return build_host_kernel<double>("csr", block); });
  });
  build_seconds_ = watch.seconds();
}

void HostOperator::pack(std::span<const double> x) {
  const std::int32_t* rows = matrix_->halo.send_rows.data();
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
  const Stopwatch watch;
  multiply(kernels_, x, y);
  times_.record(watch.seconds());
}

void HostOperator::multiply_exactly(std::span<const double> x, std::span<double> y) {
  multiply(inexact_ ? exact_ : kernels_, x, y);
}

void HostOperator::multiply(const Kernels& kernels, std::span<const double> x,
                            std::span<double> y) {
  const bool halo = !matrix_->halo.empty();
  if (halo) observed(Part::halo, [&] { begin_halo(x); });
  observed(Part::local, [&] { kernels.local->multiply(x, y, Accumulate::no); });
  if (halo) observed(Part::halo, [&] { end_halo(); });
  if (kernels.ghost)
    observed(Part::ghost, [&] { kernels.ghost->multiply(ghosts_, y, Accumulate::yes); });
}

void HostOperator::refresh_values() {
  const SplitRows& blocks = matrix_->blocks;
  if (inexact_) row_defect_ = trireme::row_defect(blocks.local, &blocks.ghost);
  for (const Kernels* kernels : {&kernels_, &exact_}) {
    if (kernels->local) kernels->local->update_values(matrix_->blocks.local.values);
    if (kernels->ghost) kernels->ghost->update_values(matrix_->blocks.ghost.values);
  }
}

double HostOperator::measure_product_us(int products) {
  const Array<double> x(matrix_->local_rows(), 1.0);
  Array<double> y(matrix_->local_rows());
  std::vector<float> us;
  multiply(kernels_, x, y);
  for (int product = 0; product < products; ++product) {
    const Stopwatch watch;
    multiply(kernels_, x, y);
    us.push_back(static_cast<float>(1e6 * watch.seconds()));
  }
  return summarise(std::move(us), products).median;
}

KernelStatistics HostOperator::statistics() const {
  const KernelStatistics local = kernels_.local->statistics();
  return kernels_.ghost ? combined(local, kernels_.ghost->statistics()) : local;
}

}  // namespace trireme
