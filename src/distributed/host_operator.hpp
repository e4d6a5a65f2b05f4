// SPDX-License-Identifier: BSD-3-Clause
// y = A x on all ranks by host kernels. The halo travels while the local product runs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/array.hpp"
#include "distributed/halo.hpp"
#include "distributed/operator.hpp"
#include "kernels/multi_product.hpp"

namespace trireme {

// Several operators may share one matrix, and their kernels keep views of it.
class HostOperator final : public Operator {
 public:
  // Builds the named kernel for both blocks. Throws the same Error on every rank. Collective.
  HostOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
               const OperatorOptions& options);
  HostOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
               Precision precision = Precision::full)
      : HostOperator(std::move(matrix), kernel, OperatorOptions{.precision = precision}) {}

  void multiply(std::span<const double> x, std::span<double> y) override;
  void multiply_exactly(std::span<const double> x, std::span<double> y) override;
  // Y = A X for several vectors in any layout, with one exchange of the halo for all of them. X and
  // Y have local_rows() rows, the same width on all ranks, and do not overlap. Allocates where a
  // width comes for the first time. The time is recorded as that of `width` products, an
  // equal part for each. Collective.
  void multi_multiply(MultiVector<const double> x, MultiVector<double> y);
  // The same in FP64 whatever the precision is. The time is not recorded. Collective.
  void multi_multiply_exactly(MultiVector<const double> x, MultiVector<double> y);
  void refresh_values() override;
  double measure_product_us(int products) override;
  // Median microseconds of one product with the local block alone, for which no rank waits.
  double measure_local_us(int products);
  KernelStatistics statistics() const override;

  // multiply(), multiply_exactly() and row_defect() for a loop that keeps its vectors in the order
  // of the kernels: that of ordered(), or the caller's. Collective.
  void multiply_in_order(std::span<const double> x, std::span<double> y);
  void multiply_exactly_in_order(std::span<const double> x, std::span<double> y);
  void multi_multiply_in_order(MultiVector<const double> x, MultiVector<double> y);
  void multi_multiply_exactly_in_order(MultiVector<const double> x, MultiVector<double> y);
  // multi_multiply_exactly_in_order() with the dot products of each chunk, as by
  // MultiProduct::multiply_and_dot(). The time is recorded unless inexact(). Returns false, and
  // does nothing, where the operator is on several ranks or its kernel has no such product.
  bool multiply_and_dot_in_order(MultiVector<const double> x, MultiVector<double> y,
                                 std::int64_t chunk_rows, double* dots);
  std::span<const float> row_defect_in_order() const;

 private:
  struct Kernels {
    std::unique_ptr<HostKernel<double>> local, ghost;                  // ghost: null without ghosts
    std::optional<MultiProduct<double>> local_multi{}, ghost_multi{};  // made at the first use
  };
  // The halo of several vectors side by side.
  struct MultiHalo {
    MultiHalo(MPI_Comm comm, const HaloPlan& plan, std::int64_t width);
    Array<double> packed, ghosts;
    HaloExchange exchange;
  };
  // By plain CSR where the ghost kernel refuses the block; sets `refused` then.
  template <class Builder>
  std::unique_ptr<HostKernel<double>> build_ghost(const Builder& builder, bool& refused) const;
  void pack(std::span<const double> x);
  void begin_halo(std::span<const double> x);
  void end_halo();
  void multiply(const Kernels& kernels, std::span<const double> x, std::span<double> y);
  void multiply(Kernels& kernels, MultiVector<const double> x, MultiVector<double> y);
  void prepare_multi(Kernels& kernels) const;
  void record(double seconds, std::int64_t products);
  MultiHalo& multi_halo(std::int64_t width);
  // Calls product(x, y) with vectors in the order of the kernels.
  template <class Product>
  void in_order(std::span<const double> x, std::span<double> y, const Product& product);
  template <class Product>
  void in_order(MultiVector<const double> x, MultiVector<double> y, const Product& product);
  void find_row_defect();
  const HaloPlan& halo() const { return ordered_ ? ordered_->halo() : matrix_->halo; }
  const CsrMatrix<double>& local() const;
  const CsrMatrix<double>& ghost() const;

  Kernels kernels_;
  Kernels exact_;  // by csr, which needs no layout of its own; empty unless inexact()
  Array<float> row_defect_in_order_;
  Array<double> x_in_order_, y_in_order_;  // of in_order(); made at the first use
  Array<double> packed_, ghosts_;
  HaloExchange exchange_;
  std::map<std::int64_t, MultiHalo> multi_halos_;  // by width; made at the first use
};

}  // namespace trireme
