// SPDX-License-Identifier: BSD-3-Clause
// What a Solver is inside: a matrix in a range where squares are doubles, the rungs of
// planning/rungs.hpp that may solve with it, and the loop of the one that does. A symmetric matrix
// with a negative diagonal is solved as -A x = -b, since methods and multigrid want a positive one.
// All that is not const is collective: what ranks might decide differently, such as by the time or
// by the caller's functions, they decide together.
//   work.cpp     the matrix, its loops, new values
//   run.cpp      one rung
//   climb.cpp    one right-hand side, by one rung after another
//   columns.cpp  many right-hand sides
#pragma once

#include <trireme/solver.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/kernel_search.hpp"
#include "api/loop.hpp"
#include "api/options.hpp"
#include "api/preconditioner_search.hpp"
#include "api/ranks.hpp"
#include "api/residual.hpp"
#include "api/system.hpp"
#include "planning/rungs.hpp"

namespace trireme::api {

// b - A x beside what was asked for.
struct Judgement {
  double relative_residual = 0;  // ||b - A x|| / ||b||
  double excess = 0;             // planning/acceptance.hpp
  bool holds() const;
};

// How one rung has ended.
struct Ending {
  solvers::Reason reason = solvers::Reason::running;
  bool claims = false;  // convergence, by its own residual
  bool by_user = false, stood_still = false, stagnated = false;
  std::int64_t iterations = 0;
  std::vector<double> history;
  Judgement judgement;  // of the x that it has left
};
std::string words_of(const Ending& ending, const std::string& method);
bool is_breakdown(solvers::Reason reason);

// Writes the solution that an x of the loop stands for.
using ShowIterate = std::function<void(Array<double>&& of_loop, std::span<double> out)>;

// "converged after 12 iterations: ..."
std::string words_of_success(const SolveReport& report);

class Solver::Work {
 public:
  // `measure` times the kernels that are tried.
  Work(std::shared_ptr<const Ranks> ranks, const CsrArrays& matrix, const SolverOptions& options,
       MeasureProduct measure = measure_product);

  const Ranks& ranks() const { return ranks_; }

  std::int64_t rows() const { return matrix_->local_rows(); }  // of this rank
  Gpu* gpu() const { return gpu_.get(); }                      // null: it solves on the host
  int device() const { return options_.gpu; }
  // `x` refers to the caller's.
  SolveReport solve(const Numbers& b, Vector x, const SolveOptions& how);
  std::vector<SolveReport> solve_many(const Numbers& b, Vector x, std::int64_t width,
                                      const SolveOptions& how);
  void update(std::span<const double> values);
  void precondition(std::span<const double> r, std::span<double> z);
  // Only queues work in `stream`, where the preconditioner is multigrid.
  void precondition(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream);
  SolverFacts facts() const;

 private:
  // The loop of a rung, and the copy of the matrix that it works on where its rung scales.
  struct Active {
    std::size_t rung = 0;
    std::optional<SystemScaling> scaling{};
    std::shared_ptr<DistributedMatrix> matrix{};
    std::unique_ptr<Loop> loop{};
    std::unique_ptr<PreconditionerSearch> search{};
    bool stale = false;            // what was set up has older values than the matrix
    bool has_solved = false;       // one right-hand side or more, with the present values
    double counted_seconds = 0;    // of the set-ups of `search`
    bool may_stand_still = false;  // the loop is left where its residual stands still

    double set_up_seconds() const { return search ? search->set_up_seconds() : 0; }
  };
  struct Climb;

  // Brings new values of the matrix to where the loops take them, and chooses the rungs by them.
  void take_values();
  std::shared_ptr<Operator> make_operator(const std::shared_ptr<DistributedMatrix>& matrix,
                                          const KernelChoice& kernel);
  void renew();  // brings the active loop to the present values
  // Makes rung k the active one. Throws what Loop throws.
  void activate(std::size_t k);
  // Runs the active rung from system.x, which it improves.
  Ending run(System& system, const SolveOptions& how);
  // Solves once by the loop, from x. `shown` makes a solution of the caller of an iterate.
  Ending run_loop(const Numbers& b, Vector& x, bool guess, double unit,
                  const solvers::Tolerances& rule, const ShowIterate& shown,
                  const SolveOptions& how);
  // Of the part of the tolerance.
  solvers::Tolerances rule(const SolveOptions& how, double atol, double part) const;
  // Throws Error{usage} for options that are wrong, or not the same on all ranks; and for vectors
  // of the wrong size.
  void check(const Numbers& b, const Vector& x, std::int64_t width, const SolveOptions& how) const;
  // How large b - A x is, by the matrix as it is.
  Judgement judge(const System& system, const SolveOptions& how);
  std::optional<std::size_t> next(const Climb& climb) const;
  bool climb_one(std::size_t k, System& system, const SolveOptions& how, Climb& climb,
                 SolveReport& report);
  SolveReport climb(System& system, const SolveOptions& how);
  std::string_view what_to_do(const SolveReport& report, const SolveOptions& how) const;
  // Makes a change of the preconditioner that pays for so many solves ahead.
  void change_between_solves(std::int64_t solves_ahead);
  // Likewise of the kernel, which is timed with one vector. Comes before a solve for one.
  void change_kernel(std::int64_t solves_ahead);
  // Hands the solution of the system to the caller, and judges what the caller gets.
  void give(System& system, const SolveOptions& how, SolveReport& report);
  void take_set_up_seconds();  // of the search, into facts_
  void count(const SolveReport& report);
  // The columns first .. first + width - 1 together, by the active loop. Those that have not
  // converged keep the status not_converged.
  void solve_block(const Numbers& b, Vector& x, std::int64_t first, std::int64_t width,
                   const SolveOptions& how, std::vector<SolveReport>& reports);
  // What precondition() applies; null: it is no multigrid.
  // That of precondition(), made at the first use; null where the preconditioner is no operation.
  solvers::GivenPreconditioner* given_operation();

  std::shared_ptr<const Ranks> owned_ranks_;
  const Ranks& ranks_ = *owned_ranks_;
  Options options_;
  std::unique_ptr<Gpu> gpu_;
  std::shared_ptr<DistributedMatrix> matrix_;  // the caller's, but for scale_
  MatrixScale scale_;
  PreconditionerData data_;
  KernelChoice kernel_;
  std::unique_ptr<KernelSearch> kernel_search_;  // null: the options name a kernel
  std::shared_ptr<Operator> operator_;           // of matrix_; null: not needed yet
  std::vector<Rung> rungs_;
  std::size_t begins_at_ = 0;
  std::unique_ptr<Active> active_;
  GivenOperation given_;   // of precondition()
  Array<double> inverse_;  // likewise
  HostResidual residual_;  // of judge()
  SolverFacts facts_;
};

}  // namespace trireme::api
