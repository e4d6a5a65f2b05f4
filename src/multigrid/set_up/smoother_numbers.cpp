// SPDX-License-Identifier: BSD-3-Clause
// Estimates the spectrum by a few steps of CG from a random vector, whose Lanczos matrix has the
// extreme Ritz values (Saad, Iterative Methods, section 6.7.3).
#include "multigrid/set_up/smoother_numbers.hpp"

#include <algorithm>
#include <cmath>

#include "multigrid/cycle/level_executor.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/dot.hpp"
#include "multigrid/set_up/smoother_functors.hpp"
#include "parallel/collective.hpp"
#include "solvers/preconditioners/lanczos_bounds.hpp"

namespace trireme::multigrid {
namespace {

constexpr double kIntervalRatio = 7;    // upper end over lower end of the Chebyshev interval
constexpr double kCoarsestRatio = 100;  // the same where no coarser level takes the lower part

// z = W r
struct ApplyInverse {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const double* inverse;
  std::int64_t size;
  const double* r;
  double* z;

  struct Row {
    double z;
  };
  Row load(std::int64_t i) const {
    return {size > 1 ? InverseBlocks{inverse, size}(i, r) : InverseDiagonal{inverse}(i, r)};
  }
  void update(Row&, const solvers::State&, double*) const {}
  void store(std::int64_t i, const Row& row) const { z[i] = row.z; }
};

// y = x + factor y
struct Aypx {
  static constexpr int sums = 0;
  static constexpr bool always = true;
  const double* x;
  double* y;
  double factor;

  struct Row {
    double y;
  };
  Row load(std::int64_t i) const { return {x[i] + factor * y[i]}; }
  void update(Row&, const solvers::State&, double*) const {}
  void store(std::int64_t i, const Row& row) const { y[i] = row.y; }
};

// The largest eigenvalue of W A that a run of CG sees; 0 if it sees none.
double estimate(LevelExecutor& e, const DistributedMatrix& a, const SmootherNumbers& numbers,
                const WorkVectors& v) {
  const Array<double> random = solvers::random_right_hand_side(a.first_row(), a.local_rows());
  std::copy(random.begin(), random.end(), v.r.begin());
  const ApplyInverse precondition{numbers.inverse.data(), numbers.block_size, v.r.data(),
                                  v.z.data()};
  e.pass(precondition);
  std::copy(v.z.begin(), v.z.end(), v.p.begin());
  double rho = dot(a.comm, v.r, v.z);
  const double start = rho;
  solvers::LanczosBounds bounds;
  for (int k = 0; k < kEstimationSteps && rho > 1e-24 * start; ++k) {
    e.product(v.p.data(), v.q.data());
    const double curvature = dot(a.comm, v.p, v.q);
    if (!(curvature > 0) || !std::isfinite(curvature)) break;
    const double alpha = rho / curvature;
    e.pass(Aypx{v.r.data(), v.q.data(), -alpha});  // q = r - alpha q, the next r
    std::copy(v.q.begin(), v.q.end(), v.r.begin());
    e.pass(precondition);
    const double next = dot(a.comm, v.r, v.z);
    const double beta = next / rho;
    bounds.add(alpha, beta);
    e.pass(Aypx{v.z.data(), v.p.data(), beta});
    rho = next;
  }
  return bounds.size() > 0 ? bounds.largest() : 0;
}

RowModuli moduli_of(const SplitRows& a) {
  const bool ghosts = a.ghost.nnz() > 0;
  return {MatrixPointers(a.local), ghosts ? a.ghost.row_ptr.data() : nullptr,
          a.ghost.values.data()};
}

// The largest row sum of |a_ij| / a_ii, a bound of the spectral radius of D^-1 A.
double largest_row_sum(const DistributedMatrix& matrix, std::span<const double> inverse) {
  const SplitRows& a = matrix.blocks;
  const RowModuli a_moduli = moduli_of(a);
  double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::int64_t i = 0; i < a.local.rows; ++i)
    largest = std::max(largest, a_moduli(i) * inverse[i]);
  return max_over_ranks(matrix.comm, largest);
}

void invert_diagonal(const DistributedMatrix& a, int level, Array<double>& inverse) {
  inverse.resize(a.local_rows());
  a.diagonal(inverse);
  std::int64_t bad = a.local_rows();
#pragma omp parallel for schedule(static) reduction(min : bad)
  for (std::int64_t i = 0; i < a.local_rows(); ++i) {
    if (!(inverse[i] > 0) || !std::isfinite(1 / inverse[i])) bad = std::min(bad, i);
    inverse[i] = 1 / inverse[i];
  }
  if (bad == a.local_rows()) return;
  refuse_diagonal(level, a.callers_row(bad), 1 / inverse[bad]);
}

void invert_l1_diagonal(const SplitRows& a, Array<double>& inverse) {
  const InvertL1Diagonal invert{moduli_of(a), inverse.data()};
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < a.local.rows; ++i) invert(i);
}

void invert_blocks(const DistributedMatrix& a, std::int64_t size, int level,
                   Array<double>& inverse) {
  const CsrMatrix<double>& local = a.blocks.local;
  inverse.assign(local.rows * size, 0.0);
  const InvertNodeBlock invert{MatrixPointers(local), size, inverse.data()};
  std::int64_t bad = local.rows;
#pragma omp parallel for schedule(static) reduction(min : bad)
  for (std::int64_t node = 0; node < local.rows / size; ++node)
    if (!invert(node)) bad = std::min(bad, node * size);
  if (bad < local.rows) refuse_block(level, a.callers_row(bad), size);
}

// A number that the eigenvalues of W A hardly exceed, and in `radius` what has been found of them.
double upper_end(HostOperator& op, Smoother smoother, const SmoothedLevel& level,
                 const SmootherNumbers& numbers, const WorkVectors& work, double& radius) {
  LevelExecutor e(op);
  if (!level.symmetric)
    radius = 0;
  else if (level.radius > 0 && smoother != Smoother::block_jacobi)
    radius = level.radius;
  else
    radius = estimate(e, op.matrix(), numbers, work);
  if (smoother == Smoother::block_jacobi) return kMargin * radius;
  const double bound = largest_row_sum(op.matrix(), numbers.inverse);
  radius = radius > 0 ? std::min(radius, bound) : bound;
  return std::min(kMargin * radius, bound);
}

}  // namespace

Smoother chosen_smoother(const Options& options, const SmoothedLevel& level) {
  if (!level.symmetric && options.smoother != Smoother::l1_jacobi) return Smoother::jacobi;
  if (options.smoother == Smoother::block_jacobi && level.node_size == 1) return Smoother::jacobi;
  return options.smoother;
}

Smoothing smoothing_up_to(double high, Smoother smoother, std::int32_t degree, bool coarsest) {
  const double ratio = coarsest ? kCoarsestRatio : kIntervalRatio;
  return smoother == Smoother::chebyshev ? chebyshev_smoothing(degree, high / ratio, high)
                                         : jacobi_smoothing(degree, 4.0 / 3 / high);
}

SmootherNumbers smoother_numbers(MPI_Comm comm, HostOperator& op, const Options& options,
                                 const SmoothedLevel& level, const WorkVectors& work) {
  const DistributedMatrix& a = op.matrix();
  const Smoother smoother = chosen_smoother(options, level);
  SmootherNumbers numbers;
  numbers.kind = smoother;
  collectively(comm, [&] {
    invert_diagonal(a, level.number, numbers.inverse);
    if (smoother == Smoother::l1_jacobi) invert_l1_diagonal(a.blocks, numbers.inverse);
    if (smoother == Smoother::block_jacobi)
      invert_blocks(a, level.node_size, level.number, numbers.inverse);
  });
  if (smoother == Smoother::block_jacobi) numbers.block_size = level.node_size;
  const std::int32_t degree = level.coarsest ? kMaxDegree : options.degree;
  if (smoother == Smoother::l1_jacobi) {
    numbers.spectral_radius = 1;
    numbers.smoothing = jacobi_smoothing(degree, 1);
    return numbers;
  }
  const double high = upper_end(op, smoother, level, numbers, work, numbers.spectral_radius);
  if (a.global_rows() > 0 && (!(high > 0) || !std::isfinite(high))) refuse_spectrum(level.number);
  numbers.smoothing = smoothing_up_to(high, smoother, degree, level.coarsest);
  return numbers;
}

}  // namespace trireme::multigrid
