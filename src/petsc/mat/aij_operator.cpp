// SPDX-License-Identifier: BSD-3-Clause
// MatMult on arrays of the caller.
#include "petsc/mat/aij_operator.hpp"

#include <utility>
#include <vector>

#include "base/stopwatch.hpp"
#include "config/case.hpp"
#include "petsc/vectors.hpp"

namespace trireme {

AijOperator::AijOperator(const std::shared_ptr<DistributedMatrix>& matrix)
    : Operator(matrix, kPetscAij, OperatorOptions()),
      aij_([&] {
        const Stopwatch watch;
        auto built = std::make_unique<AssembledMat>(matrix, AijUse::product);
        build_seconds_ = watch.seconds();
        return built;
      }()),
      x_(vector_without_array(aij_->mat())),
      y_(vector_without_array(aij_->mat())) {}

void AijOperator::multiply_exactly(std::span<const double> x, std::span<double> y) {
  petsc_check(VecPlaceArray(x_, x.data()));
  petsc_check(VecPlaceArray(y_, y.data()));
  petsc_check(MatMult(aij_->mat(), x_, y_));
  petsc_check(VecResetArray(x_));
  petsc_check(VecResetArray(y_));
}

void AijOperator::multiply(std::span<const double> x, std::span<double> y) {
  const Stopwatch watch;
  multiply_exactly(x, y);
  times_.record(watch.seconds());
}

// PETSc has copies of some arrays.
void AijOperator::refresh_values() {
  aij_ = std::make_unique<AssembledMat>(matrix_, AijUse::product);
}

double AijOperator::measure_product_us(int products) {
  const Array<double> x(matrix().local_rows(), 1.0);
  Array<double> y(matrix().local_rows());
  return median_us(products, [&] { multiply_exactly(x, y); });
}

KernelStatistics AijOperator::statistics() const {
  KernelStatistics statistics;
  statistics.stored_bytes = matrix().csr_bytes();
  return statistics;
}

}  // namespace trireme
