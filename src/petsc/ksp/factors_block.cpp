// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides by complete factors: one call makes the first correction of all columns,
// and each column is then refined by itself, which few need.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "base/stopwatch.hpp"
#include "parallel/collective.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vectors.hpp"

namespace trireme {
namespace {

// A dense matrix whose columns have the rows of a distributed matrix. Those of this rank lie one
// column after another.
class Columns {
 public:
  Columns(MPI_Comm comm, std::int64_t rows, std::int64_t width)
      : rows_(static_cast<std::size_t>(rows)), numbers_(rows * width, 0.0) {
    petsc_check(MatCreateDense(comm, static_cast<PetscInt>(rows), PETSC_DECIDE, PETSC_DETERMINE,
                               static_cast<PetscInt>(width), numbers_.data(), mat_.put()));
  }
  Mat mat() const { return mat_; }
  std::span<double> column(std::int64_t j) {
    return std::span(numbers_).subspan(static_cast<std::size_t>(j) * rows_, rows_);
  }

 private:
  std::size_t rows_;
  Array<double> numbers_;
  MatHandle mat_;
};

void take_column(MultiVector<const double> from, std::int64_t j, std::span<double> into) {
  for (std::int64_t i = 0; i < from.rows; ++i) into[i] = from(i, j);
}

}  // namespace

std::vector<KspResult> KspSolver::solve_block_by_factors(MultiVector<const double> b,
                                                         MultiVector<double> x,
                                                         bool nonzero_guess) {
  const MPI_Comm comm = comm_of(amat_);
  const Stopwatch watch;
  const std::int64_t width = b.width;
  VecHandle of_b, of_x, image;
  petsc_check(MatCreateVecs(amat_, of_x.put(), of_b.put()));
  petsc_check(VecDuplicate(of_b, image.put()));
  Array<double> one(b.rows);
  const auto bring = [&](MultiVector<const double> from, std::int64_t j, Vec to) {
    take_column(from, j, one);
    set_local_values(to, one);
  };

  Columns residuals(comm, b.rows, width), corrections(comm, b.rows, width);
  std::vector<double> first_norms;
  for (std::int64_t j = 0; j < width; ++j) {
    bring(b, j, image);
    if (nonzero_guess) {
      bring(x, j, of_x);
      petsc_check(MatMult(amat_, of_x, of_b));
      petsc_check(VecAXPY(image, -1, of_b));
    }
    PetscReal norm = 0;
    petsc_check(VecNorm(image, NORM_2, &norm));
    first_norms.push_back(norm);
    copy_local_values(image, residuals.column(j));
  }
  const bool corrected = factors_->solve_block(residuals.mat(), corrections.mat());

  // The state of a block is not kept.
  Checkpoints checkpoints = std::exchange(checkpoints_, {});
  std::vector<KspResult> results;
  for (std::int64_t j = 0; j < width; ++j) {
    const auto k = static_cast<std::size_t>(j);
    if (!exponents_of_block_.empty())
      scale_tolerance(exponents_of_block_.at(k),
                      units_of_block_.empty() ? 1 : units_of_block_.at(k));
    bring(b, j, of_b);
    KspResult result;
    bool done = false;
    if (corrected && first_norms[k] > 0) {
      const std::span<double> guess = corrections.column(j);
      if (nonzero_guess)
        for (std::int64_t i = 0; i < x.rows; ++i) guess[i] += x(i, j);
      set_local_values(of_x, guess);
      result = solve_once(of_b, of_x, true);
      done = result.verdict.converged || result.facts.stopped;
      ++result.iterations;
      result.residuals.insert(result.residuals.begin(), first_norms[k]);
    }
    if (!done) {  // as if it were alone
      bring(x, j, of_x);
      result = solve(of_b, of_x, nonzero_guess);
    }
    result.can_go_on = false;
    copy_local_values(of_x, one);
    for (std::int64_t i = 0; i < x.rows; ++i) x(i, j) = one[i];
    results.push_back(std::move(result));
  }
  checkpoints_ = std::move(checkpoints);
  const double seconds = max_over_ranks(comm, watch.seconds());
  iterations_ = 0;
  for (KspResult& result : results) {
    result.seconds = seconds;
    iterations_ = std::max(iterations_, result.iterations);
  }
  return results;
}

}  // namespace trireme
