// SPDX-License-Identifier: BSD-3-Clause
// A KSP set up from a SolverSpec, and its solves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/case.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/row_sizes.hpp"
#include "multigrid/facts.hpp"
#include "multigrid/store/hierarchy_entry.hpp"
#include "petsc/factors/complete_factors.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/ksp/petsc_loop.hpp"
#include "petsc/ksp/reasons.hpp"
#include "petsc/mat/assembled_mat.hpp"
#include "petsc/shim.hpp"
#include "sparse/modes.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme {

struct KspResult {
  Verdict verdict;
  std::int64_t iterations = 0;
  bool can_go_on = false;         // the solve was stopped, or came to the iteration limit
  double seconds = 0;             // of KSPSolve or of the whole block, the slowest rank
  KspFacts facts;                 // PETSc's own loops fill in `stopped` only
  std::vector<double> residuals;  // the norm that the method tests, from iteration 0
};

// What of a preconditioner takes the new values of a matrix.
enum class Renewing {
  nothing,     // the old one serves
  numbers,     // its structure stays, such as the aggregates of multigrid
  everything,  // its structure is found anew
};

// PETSc's options (after `--`, and under `petsc:`) win over the SolverSpec.
class KspSolver {
 public:
  // Called on every rank at every iteration with the norm that the method tests; in a solve of a
  // block, with the largest norm of the columns that did this iteration.
  using Monitor = std::function<void(std::int64_t iteration, double norm)>;

  // Amat is `amat`; where the preconditioner needs entries, Pmat is `assembled`, or an AIJ made of
  // `matrix` when that is null or a row stores no diagonal entry. Throws Error{usage} for names
  // that PETSc does not know and for combinations that it does not support, Error{input} for a
  // matrix that the preconditioner cannot take: with jacobi or sor, a zero on the diagonal. `modes`
  // become the near-null space of both matrices; see set_near_nullspace(). `store`, which may be
  // null, has hierarchies of multigrid. `analysis`: see CompleteFactors. Collective.
  KspSolver(const SolverSpec& spec, Mat amat, Mat assembled,
            const std::shared_ptr<const DistributedMatrix>& matrix, const Modes& modes = {},
            multigrid::HierarchyStore store = {}, std::shared_ptr<FactorAnalysis> analysis = {});

  // Says that the right-hand sides of the next solves are the caller's times 2^-exponent, so that
  // atol is scaled likewise. `unit`: how often the norm that the loop tests has the norm of the
  // caller's residual, where the rows of the loop's system are scaled. `part`: the loop is to end
  // at this part of the tolerance, a power of two.
  void scale_tolerance(int exponent, double unit = 1, double part = 1);
  // Says the same of each column of the next blocks. `units`: empty, or one per column.
  void scale_tolerance(std::span<const int> exponents, std::vector<double> units = {});

  // x holds the initial guess where nonzero_guess, and the solution afterwards. A signal that an
  // InterruptGuard notes on any rank ends the solve with the solution so far. Collective.
  KspResult solve(Vec b, Vec x, bool nonzero_guess);

  // Whether b and x of a solve can be in device memory: see ksp_takes_device_vectors().
  bool takes_device_vectors() const { return ksp_takes_device_vectors(ksp_); }
  // The next solves take these vectors and leave b and x as they are; none: b and x again.
  void use_device_vectors(const std::optional<DeviceVectors>& vectors) {
    ksp_use_device_vectors(ksp_, vectors);
  }

  // Whether solve_block() serves: ksp_solves_blocks() or complete factors, without an option by
  // which KSPSolve prints what it solves. Collective.
  bool solves_blocks() const;
  // Whether the preconditioner is applied to one column of a block after another: multigrid, and
  // what PCApply does. Prepares the solver. Collective.
  bool preconditions_one_by_one() const;
  // The bytes of this rank's work vectors for `width` columns at once, on the GPU where the loop
  // runs there. Prepares the solver. Collective.
  std::int64_t block_bytes(std::int64_t width) const;
  // Solves A X = B, as solve() does for one vector. B and X are this rank's rows, in the caller's
  // order and in any layout. The result has one element per column; none of them can go on. A
  // signal ends all columns. Throws Error{usage} unless solves_blocks(), and Error{resource} where
  // the memory for the block cannot be had. Collective.
  std::vector<KspResult> solve_block(MultiVector<const double> b, MultiVector<double> x,
                                     bool nonzero_guess);

  // What another solve needs to go on from the last one, where that can be. After a loop of PETSc's
  // own it holds no directions.
  solvers::StoppedSolve stopped() const;
  // The next solve, which is given the last x as its guess, goes on from `stopped` and counts its
  // iterations on.
  void go_on(const solvers::StoppedSolve& stopped);

  void keep_checkpoints(Checkpoints checkpoints) { checkpoints_ = std::move(checkpoints); }

  // Mixed precision corrects residuals by the norm that is tested. Throws Error{usage} where an
  // option turns that test off.
  void require_residual_test() const;

  // Comes before the first solve: see petsc/mat/row_order.hpp. Does nothing for PETSc's own loops.
  void choose_row_order();
  // Comes after choose_row_order(): sets up what the first solve by the resident engine would set
  // up. Counts in setup_seconds(). Collective.
  void prepare();

  // What runs the loop of the resident engine, once prepare() has run; empty for PETSc's loops.
  std::string executor() const { return ksp_executor(ksp_); }
  // Whether that is the persistent kernel of small systems on a GPU.
  bool is_one_kernel() const { return executor() == kPersistentExecutor; }
  // Whether the solver may work in any order of rows: the resident engine with a preconditioner
  // that does not depend on it.
  bool row_order_is_free() const;
  std::int64_t max_iterations() const;
  // Comes after Amat::refresh_values(). The preconditioner takes the new values as `renewing` says.
  // Returns the seconds of the slowest rank. Throws what the constructor throws for a matrix that
  // the preconditioner cannot take. Collective.
  double take_values(Renewing renewing);

  // Whether change_preconditioner() to multigrid is expected to read its hierarchy. Collective.
  bool expects_to_find_multigrid() const;
  // Takes another preconditioner of the resident engine and sets it up. Comes between two solves,
  // or where a solve of the resident engine was stopped. Returns the seconds of the slowest rank,
  // which count in setup_seconds(). Throws on every rank Error{usage} where the resident engine
  // lacks it for this matrix and kernel, and what the constructor throws for a matrix that the
  // preconditioner cannot take; then a further call of this function must come before the next
  // solve. Collective.
  double change_preconditioner(const AnyPreconditioner& preconditioner);

  // The norms that the method tested in the solve that runs or was the last, as far as the history
  // reaches.
  std::vector<double> residuals() const;

  void monitor(Monitor monitor) { monitor_ = std::move(monitor); }
  double setup_seconds() const { return setup_seconds_; }
  // What setup_seconds() would be more if no hierarchy of an earlier run had been read.
  double saved_seconds() const;
  std::string method() const;  // what runs: cg, bicgstab, block_cg, or PETSc's name
  Engine engine() const;
  AnyPreconditioner preconditioner() const;  // what runs
  // Of the blocks of block Jacobi, where this class has chosen it.
  const std::optional<AnyPreconditioner>& block_preconditioner() const {
    return block_preconditioner_;
  }
  std::string preconditioner_words() const;  // of both: jacobi, bjacobi/ilu, ...
  bool has_multigrid() const;                // whether the preconditioner is multigrid, and set up
  // What a report says about its hierarchy; none for another preconditioner. Times products on a
  // GPU.
  std::optional<multigrid::HierarchyFacts> multigrid() const;
  double rtol() const;
  double atol() const;  // in the scale of the last scale_tolerance(), for the caller's residual
  // The norm at which the loop ends, where rtol is a part of `reference`.
  double loop_target(double reference) const;
  double divergence_bound() const;  // of the larger of ||b|| and the first residual
  // The norm that rtol is a part of. It is `unit` (||b||, or the norm of the first residual where
  // b = 0) unless an option makes it the norm of the first residual or the smaller of the two.
  double reference(double unit, double first_norm) const;
  // Whether a claim of convergence means the norm in which rows are divided by their sizes too, or
  // alone. Options that change what rtol refers to leave it out.
  solvers::RowTest row_test() const;
  // Whether a guess may be left out where x = 0 has a smaller residual: not where rtol is relative
  // to the first residual, or where a test of the user judges. The resident engine does so by
  // itself.
  bool may_leave_out_guess() const;
  // Whether residuals() begins with ||b - A x0|| and reference() is its `unit`.
  bool measures_first_residual() const;
  std::vector<std::string> notes() const;

 private:
  std::vector<KspResult> solve_block_by_factors(MultiVector<const double> b, MultiVector<double> x,
                                                bool nonzero_guess);
  bool is_by_factors() const { return spec_.is_direct() && factors_; }
  KspResult solve_once(Vec b, Vec x, bool nonzero_guess);
  void explain_factors(KspResult& result);
  void set_up_ksp(ExitCode code);
  std::string type() const;  // of the KSP
  double scaled_atol(int exponent) const;
  void set_types(const SolverSpec& spec, const std::string& type, const std::string& pc_type);
  void choose_engine(const SolverSpec& spec);
  void choose_norm();
  void take_magnitudes();
  void take_row_sizes();
  void note_a_block_size_of_one();
  void choose_parallel_factorisation();
  void give_entries(Mat assembled, const std::shared_ptr<const DistributedMatrix>& matrix,
                    const Modes& modes);
  void set_block_factorisation();
  void set_up_given();
  void set_up_blocks();
  std::string_view unsymmetric_preconditioner() const;

  SolverSpec spec_;
  multigrid::HierarchyStore store_;
  std::shared_ptr<const DistributedMatrix> matrix_;
  Mat amat_;
  std::unique_ptr<AssembledMat> pmat_;
  KspHandle ksp_;
  std::unique_ptr<CompleteFactors> factors_;  // where the preconditioner is lu or cholesky
  bool has_old_values_ = false;               // the preconditioner, of an earlier step
  RowSizes row_sizes_;                        // for PETSc's own loops
  Monitor monitor_;
  Checkpoints checkpoints_;
  std::int64_t iterations_before_ = 0;  // from which the next solve by PETSc's own loop goes on
  std::int64_t iterations_ = 0;         // of the last solve, with those before it
  std::vector<double> history_;
  std::optional<AnyPreconditioner> block_preconditioner_;
  std::vector<std::string> notes_;
  double setup_seconds_ = 0;
  double unscaled_atol_ = 0;
  int exponent_of_atol_ = 0;
  double unit_of_atol_ = 1;              // as of scale_tolerance()
  double part_of_tolerance_ = 1;         // likewise
  std::vector<int> exponents_of_block_;  // one per column; empty: exponent_of_atol_ for all
  std::vector<double> units_of_block_;   // one per column; empty: 1
};

}  // namespace trireme
