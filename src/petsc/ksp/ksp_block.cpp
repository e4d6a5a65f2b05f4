// SPDX-License-Identifier: BSD-3-Clause
// A block is solved by the engine's BlockSolver, or column by column where that cannot be.
#include "petsc/ksp/ksp_block.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "distributed/cuda_operator.hpp"
#include "parallel/collective.hpp"
#include "petsc/ksp/block_progress.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/ksp/ksp_engine.hpp"
#include "petsc/ksp/ksp_rules.hpp"
#include "petsc/mat/operator_of.hpp"
#include "petsc/pc/pc_needs.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/vectors.hpp"

namespace trireme {
namespace {

Mat matrix_of(KSP ksp) {
  Mat amat = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, nullptr));
  return amat;
}

solvers::BlockSolver& block_solver_of(KSP ksp) {
  return engine_of(ksp).block_solver(inputs_of(ksp, choose_loop(ksp)));
}

// Whether a null space is to be removed from each right-hand side.
bool has_null_space(KSP ksp) {
  MatNullSpace of_transpose = nullptr;
  petsc_check(MatGetTransposeNullSpace(matrix_of(ksp), &of_transpose));
  return of_transpose || null_space_of(matrix_of(ksp));
}

// While an object of this class lives, KSPBuildSolution refuses, and the KSP has vectors without
// values, of which PETSc makes duplicates before it asks for the solution.
class InBlock {
 public:
  explicit InBlock(KSP ksp)
      : ksp_(ksp),
        none_(vector_without_array(matrix_of(ksp))),
        before_(exchange_vectors(ksp, {none_, none_})) {
    engine_of(ksp).in_block = true;
  }
  ~InBlock() {
    engine_of(ksp_).in_block = false;
    exchange_vectors(ksp_, before_);
  }
  InBlock(const InBlock&) = delete;
  InBlock& operator=(const InBlock&) = delete;

 private:
  KSP ksp_;
  VecHandle none_;
  KspVectors before_;
};

// The result of many solves, from that of each.
struct WorstColumn {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;  // no column so far
  std::int64_t iterations = 0;                          // the largest number
  double norm = 0;                                      // the largest one

  // Returns whether the reason is that of this column.
  bool add(KSPConvergedReason other, std::int64_t its, double its_norm) {
    const bool first = reason == KSP_CONVERGED_ITERATING;
    const bool worse = first || (other < 0 ? other < reason : reason > 0 && its > iterations);
    if (worse) reason = other;
    iterations = std::max(iterations, its);
    if (first || its_norm > norm || std::isnan(its_norm)) norm = its_norm;
    return worse;
  }
  void leave_in(KSP ksp) const { set_result(ksp, static_cast<PetscInt>(iterations), norm, reason); }
};

// What the KSP says of its last solve.
WorstColumn result_in(KSP ksp) {
  WorstColumn result;
  PetscInt iterations = 0;
  petsc_check(KSPGetConvergedReason(ksp, &result.reason));
  petsc_check(KSPGetIterationNumber(ksp, &iterations));
  petsc_check(KSPGetResidualNorm(ksp, &result.norm));
  result.iterations = iterations;
  return result;
}

// Column j of a block as a Vec of the rows of `mat`.
VecHandle column_of(Mat mat, MultiVector<const double> block, std::int64_t j) {
  Array<double> values(static_cast<std::size_t>(block.rows));
  for (std::int64_t i = 0; i < block.rows; ++i) values[i] = block(i, j);
  VecHandle column;
  petsc_check(MatCreateVecs(mat, column.put(), nullptr));
  set_local_values(column, values);
  return column;
}

KSPConvergedReason reason_of_column(KSP ksp, const KspBlock& block, std::int64_t j,
                                    const solvers::SolveResult& result,
                                    const solvers::Tolerances& rule) {
  if (!squares_may_have_vanished(result, rule)) return reason_of(ksp, result, rule, {}, {});
  Mat amat = matrix_of(ksp);
  return reason_of(ksp, result, rule, column_of(amat, block.b, j), column_of(amat, block.x, j));
}

// B and X of KSPMatSolve as arrays in host memory, for as long as the object lives.
class DenseArrays {
 public:
  DenseArrays(Mat b, Mat x) : b_mat_(b), x_mat_(x) {
    petsc_check(MatDenseGetArrayRead(b, &b_));
    petsc_check(MatDenseGetArray(x, &x_));
  }
  ~DenseArrays() {
    static_cast<void>(MatDenseRestoreArray(x_mat_, &x_));
    static_cast<void>(MatDenseRestoreArrayRead(b_mat_, &b_));
  }
  DenseArrays(const DenseArrays&) = delete;
  DenseArrays& operator=(const DenseArrays&) = delete;

  MultiVector<const double> b() const { return view(b_mat_, b_); }
  MultiVector<double> x() const { return view(x_mat_, x_); }

 private:
  template <class Element>
  static MultiVector<Element> view(Mat mat, Element* data) {
    PetscInt rows = 0, columns = 0, stride = 0;
    petsc_check(MatGetLocalSize(mat, &rows, nullptr));
    petsc_check(MatGetSize(mat, nullptr, &columns));
    petsc_check(MatDenseGetLDA(mat, &stride));
    return {data, rows, columns, 1, std::max<PetscInt>(stride, 1)};
  }

  Mat b_mat_, x_mat_;
  const PetscScalar* b_ = nullptr;
  PetscScalar* x_ = nullptr;
};

// Column j of B and of X as the vectors of the KSP, for as long as the object lives.
class OneColumn {
 public:
  OneColumn(KSP ksp, Mat b, Mat x, PetscInt j) : ksp_(ksp), b_mat_(b), x_mat_(x), j_(j) {
    petsc_check(MatDenseGetColumnVecRead(b, j, &column_.right_hand_side));
    petsc_check(MatDenseGetColumnVec(x, j, &column_.solution));
    before_ = exchange_vectors(ksp, column_);
  }
  ~OneColumn() {
    exchange_vectors(ksp_, before_);
    static_cast<void>(MatDenseRestoreColumnVec(x_mat_, j_, &column_.solution));
    static_cast<void>(MatDenseRestoreColumnVecRead(b_mat_, j_, &column_.right_hand_side));
  }
  OneColumn(const OneColumn&) = delete;
  OneColumn& operator=(const OneColumn&) = delete;

 private:
  KSP ksp_;
  Mat b_mat_, x_mat_;
  PetscInt j_;
  KspVectors column_{}, before_{};
};

void require_rows(KSP ksp, Mat block) {
  PetscInt rows = 0, of_block = 0;
  petsc_check(MatGetLocalSize(matrix_of(ksp), &rows, nullptr));
  petsc_check(MatGetLocalSize(block, &of_block, nullptr));
  collectively(comm_of(ksp), [&] {
    if (rows != of_block)
      fail(ExitCode::usage,
           "KSPMatSolve: the matrix has {} rows on this rank, and B or X has {}; create B and X "
           "with the layout of the matrix",
           rows, of_block);
  });
}

WorstColumn solve_at_once(KSP ksp, Mat b, Mat x, bool zero_guess) {
  const DenseArrays arrays(b, x);
  ksp_solve_block(ksp, {.b = arrays.b(), .x = arrays.x(), .zero_guess = zero_guess});
  return result_in(ksp);
}

WorstColumn solve_one_by_one(KSP ksp, Mat b, Mat x, const std::function<void()>& solve_one) {
  WorstColumn worst;
  KspFacts facts;
  PetscInt columns = 0;
  petsc_check(MatGetSize(b, nullptr, &columns));
  for (PetscInt j = 0; j < columns; ++j) {
    {
      const OneColumn column(ksp, b, x, j);
      begin_history(ksp);
      solve_one();
    }
    const WorstColumn one = result_in(ksp);
    if (worst.add(one.reason, one.iterations, one.norm)) facts = engine_of(ksp).facts;
  }
  engine_of(ksp).facts = facts;
  return worst;
}

}  // namespace

bool ksp_solves_blocks(KSP ksp) {
  KSPType type = nullptr;
  petsc_check(KSPGetType(ksp, &type));
  if (!type || !resident_method(type)) return false;
  const Loop loop = choose_loop(ksp).loop;
  if ((loop != Loop::resident && loop != Loop::applied) || has_null_space(ksp) ||
      requests_of(ksp).own_test || !solution_monitor(ksp).empty() ||
      solvers::has_variant<solvers::HostMethodList>(engine_of(ksp).method(),
                                                    engine_of(ksp).variant()))
    return false;
  if (loop == Loop::applied) return true;
  const auto cuda = std::dynamic_pointer_cast<CudaOperator>(operator_of(matrix_of(ksp)));
  if (!cuda) return true;
  return !engine_of(ksp).info().block && cuda->multiplies_vectors();
}

bool ksp_preconditions_one_by_one(KSP ksp) {
  return std::holds_alternative<solvers::Given>(block_solver_of(ksp).preconditioner());
}

std::int64_t ksp_block_bytes(KSP ksp, std::int64_t width) {
  return block_solver_of(ksp).bytes(width);
}

std::vector<KspColumn> ksp_solve_block(KSP ksp, const KspBlock& block) {
  require_loop(ksp, choose_loop(ksp));
  const KspRequests asked = requests_of(ksp);
  if (asked.own_test)
    fail(ExitCode::usage,
         "a convergence test of the user judges one vector, not a block; solve column by column");
  KspEngine& engine = engine_of(ksp);
  solvers::BlockSolver& solver = block_solver_of(ksp);
  solvers::Tolerances rule = tolerances_of(ksp, asked);
  rule.drops_worse_guess = false;  // the caller sees to it
  BlockProgress progress(
      block.b.width, block.longest_history,
      [ksp](std::int64_t iteration, const solvers::State& worst) {
        report(ksp, {static_cast<PetscInt>(iteration), worst.norm, worst.reference, worst.target});
      },
      engine.stop);
  std::vector<solvers::SolveResult> results;
  {
    const InBlock in_block(ksp);
    results =
        solver.solve(block.b, block.x, block.zero_guess, rule, progress.observers(), block.atol);
    progress.end();
  }
  WorstColumn worst;
  std::vector<KspColumn> columns(results.size());
  for (std::size_t j = 0; j < results.size(); ++j) {
    solvers::Tolerances own = rule;
    if (!block.atol.empty()) own.atol = block.atol[j];
    const auto number = static_cast<std::int64_t>(j);
    columns[j] = {.reason = reason_of_column(ksp, block, number, results[j], own),
                  .iterations = results[j].iterations,
                  .norm = results[j].norm,
                  .facts = facts_of(engine, results[j]),
                  .residuals = std::move(progress.history(number))};
    if (worst.add(columns[j].reason, columns[j].iterations, columns[j].norm))
      engine.facts = columns[j].facts;
  }
  worst.leave_in(ksp);
  return columns;
}

// KSPMatSolve calls KSPSetUp, which resets the reason, and then this function once per batch: a
// reason that is set is that of the batches before.
void ksp_mat_solve(KSP ksp, Mat b, Mat x, const std::function<void()>& solve_one) {
  require_loop(ksp, choose_loop(ksp));
  require_rows(ksp, b);
  require_rows(ksp, x);
  WorstColumn all = result_in(ksp);
  if (all.reason == KSP_CONVERGED_ITERATING) {
    all = {};
    begin_history(ksp);
  }
  const KspFacts facts_before = engine_of(ksp).facts;
  const KspRequests asked = requests_of(ksp);
  const WorstColumn batch = ksp_solves_blocks(ksp) ? solve_at_once(ksp, b, x, asked.zero_guess)
                                                   : solve_one_by_one(ksp, b, x, solve_one);
  if (!all.add(batch.reason, batch.iterations, batch.norm)) engine_of(ksp).facts = facts_before;
  all.leave_in(ksp);
  if (all.reason < 0 && asked.error_if_not_converged)
    fail(ExitCode::not_converged, "KSPMatSolve has not converged, reason {}",
         KSPConvergedReasons[all.reason]);
}

}  // namespace trireme
