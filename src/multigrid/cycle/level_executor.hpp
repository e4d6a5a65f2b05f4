// SPDX-License-Identifier: BSD-3-Clause
// Runs algorithms on one level on the host: products by the level's operator, and passes by OpenMP.
#pragma once

#include <cstdint>
#include <span>

#include "distributed/host_operator.hpp"
#include "distributed/transposed_product.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

class LevelExecutor {
 public:
  // Products are those of `transposed` where it is given.
  explicit LevelExecutor(HostOperator& op, TransposedProduct* transposed = nullptr)
      : op_(op), transposed_(transposed), rows_(op.matrix().local_rows()) {}

  std::int64_t rows() const { return rows_; }

  void product(const double* x, double* y) {
    const std::span<const double> from{x, static_cast<std::size_t>(rows_)};
    const std::span<double> to{y, static_cast<std::size_t>(rows_)};
    if (transposed_)
      transposed_->multiply(from, to);
    else
      op_.multiply(from, to);
  }

  // Rows are independent, so that the bits do not depend on the number of threads.
  template <class Pass>
  void pass(const Pass& pass) {
    static_assert(Pass::sums == 0);
    const solvers::State state{};
#pragma omp parallel for simd schedule(static) if (rows_ > kFewRows)
    for (std::int64_t i = 0; i < rows_; ++i) {
      typename Pass::Row row = pass.load(i);
      pass.update(row, state, nullptr);
      pass.store(i, row);
    }
  }

 private:
  static constexpr std::int64_t kFewRows = 2048;  // one thread does them

  HostOperator& op_;
  TransposedProduct* transposed_;
  std::int64_t rows_;
};

}  // namespace trireme::multigrid
