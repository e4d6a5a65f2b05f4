// SPDX-License-Identifier: BSD-3-Clause
// What happens around the loops of a lockstep solve: memory, preconditioner, and the exact product
// for columns for which an inexact one does not do.
#include "solvers/host_block_solver.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "solvers/executors/lockstep_block.hpp"
#include "solvers/executors/lockstep_executor.hpp"
#include "solvers/executors/tall_vectors.hpp"
#include "solvers/memory_agreement.hpp"
#include "solvers/methods/block_cg.hpp"

namespace trireme::solvers {
namespace {

constexpr int kCallersVectors = 2;  // b and x, which come before the work vectors

// Calls visit(m), where m is the prepared preconditioner.
template <class Visit>
void visit_prepared(const PreparedPreconditioner& prepared, const Visit& visit) {
  std::visit(
      [&](const auto& m) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(m)>, std::monostate>) visit(m);
      },
      prepared);
}

}  // namespace

struct HostBlockSolver::Work {
  HostSystem& system;
  Method method;
  BlockForm form;
  MethodOptions options;
  HostSolver of_one_vector;  // owns the preconditioner
  LockstepBlock block;
  Array<double> directions;  // of block CG
  Array<double> arrays;      // of a method that restarts

  Work(HostSystem& of, Method by, Variant variant, const PreconditionerSpec& spec, BlockForm how,
       const MethodOptions& chosen)
      : system(of),
        method(by),
        form(how),
        options(chosen),
        of_one_vector(of, by, how == BlockForm::block_cg ? Variant::classic : variant, spec,
                      chosen),
        block(of.rows(), of.order()) {
    if (form != BlockForm::block_cg) return;
    if (method != Method::cg)
      fail(ExitCode::usage, "block CG is a form of cg, not of {}; use cg, or lockstep",
           info_of(method).name);
    if (system.inexact())
      fail(ExitCode::usage,
           "block CG has no mixed precision; use full precision, or cg without block CG");
  }

  // Calls visit(algorithm, m) with the entry of the method and the preconditioner.
  template <class Visit>
  void visit_solve(const Visit& visit) const {
    visit_prepared(of_one_vector.preconditioner(), [&](const auto& m) {
      visit_method(method, of_one_vector.variant(), [&](auto entry) { visit(entry, m); });
    });
  }

  // The vectors of the method and of the preconditioner.
  std::pair<int, int> work_vectors(bool exactly) const {
    std::pair<int, int> count;
    visit_solve([&](auto entry, const auto& m) {
      using Algorithm = typename decltype(entry)::type;
      using M = std::decay_t<decltype(m)>;
      if (form == BlockForm::block_cg)
        count = {BlockCg::vectors, M::work_vectors};
      else
        count = {solvers::work_vectors<Algorithm>(options,
                                                  {.pointwise = M::pointwise, .inexact = !exactly}),
                 M::work_vectors};
    });
    return count;
  }
  std::int64_t small_elements() const {  // per column
    std::int64_t count = 0;
    visit_solve([&](auto entry, const auto&) {
      count = solvers::small_elements<typename decltype(entry)::type>(options);
    });
    return count;
  }
  int vectors(bool exactly) const {
    const auto [of_method, of_preconditioner] = work_vectors(exactly);
    return kCallersVectors + of_method + of_preconditioner;
  }

  // Allocates the block; the processes agree on an error.
  void reserve(std::int64_t width, bool exactly) {
    const auto allocate = [&] {
      block.reserve(width, vectors(exactly));
      if (form == BlockForm::block_cg)
        directions.resize(static_cast<std::size_t>(BlockCg::basis_vectors * width * block.rows()));
      arrays.resize(static_cast<std::size_t>(small_elements() * width));
    };
    const double failures = processes_without_memory(allocate, [&](double mine) {
      system.sum({&mine, 1});
      return mine;
    });
    if (failures > 0)
      fail(ExitCode::resource,
           "{} of {} processes have not enough memory for {} right-hand sides at once ({} vectors "
           "of {} rows each on this process); solve fewer of them at once",
           failures, system.processes(), width, vectors(exactly), block.rows());
  }

  // Runs the method's algorithm for `columns`, and returns them with their last states.
  std::vector<LockstepColumn> run(std::vector<LockstepColumn> columns, MultiVector<const double> b,
                                  MultiVector<double> x, bool zero_guess, bool exactly) {
    const NormTerm norm = norm_term(columns.front().state.rule, of_one_vector.row_weights());
    for (std::size_t k = 0; k < columns.size(); ++k)
      columns[k].state.column = static_cast<std::int32_t>(k);
    block.bring(std::move(columns), b, x, zero_guess);
    const int of_method = work_vectors(exactly).first;
    const auto vector = [&](int k) {  // null where the algorithm does not use it
      return k < of_method ? block.vector(kCallersVectors + k) : nullptr;
    };
    LockstepExecutor executor(system, block, exactly);
    const SystemVectors callers{block.vector(0),
                                block.vector(1),
                                zero_guess,
                                norm,
                                {options.restart, arrays.data(), !exactly}};
    visit_solve([&](auto entry, const auto& prepared) {
      const auto m = on_block(prepared, of_method);
      if (form == BlockForm::lockstep)
        run_solve(executor, decltype(entry)::type::with(callers, vector), m);
      else
        run_block_cg(executor, callers, m);
    });
    return block.ended();
  }

  // The preconditioner with work vectors of the block, which come after those of the method.
  template <class M>
  M on_block(const M& m, int of_method) {
    if constexpr (M::work_vectors > 0)
      return m.with([&](int k) { return block.vector(kCallersVectors + of_method + k); });
    else
      return m;
  }

  template <class M>
  void run_block_cg(LockstepExecutor& executor, const SystemVectors& callers, const M& m) {
    TallVectors tall(system);
    double* const q = directions.data() + block.rows() * block.width();
    BlockCg{callers, block.vector(2), block.vector(3), block.vector(4), directions.data(), q}.run(
        executor, tall, m);
  }
};

HostBlockSolver::HostBlockSolver(HostSystem& system, Method method, Variant variant,
                                 const PreconditionerSpec& spec, BlockForm form,
                                 const MethodOptions& options)
    : work_(std::make_unique<Work>(system, method, variant, spec, form, options)) {}
HostBlockSolver::~HostBlockSolver() = default;

std::vector<SolveResult> HostBlockSolver::solve(MultiVector<const double> b, MultiVector<double> x,
                                                bool zero_guess, const Tolerances& rule,
                                                std::span<const IterationObserver> observers,
                                                std::span<const double> atol) {
  const std::int64_t rows = work_->system.rows(), width = b.width;
  require_block(rows, b, x, observers.size(), atol.size());
  std::vector<SolveResult> results(static_cast<std::size_t>(width));
  if (width == 0) return results;
  const bool exactly = !work_->system.inexact();
  if (!exactly) require_norm(rule);
  work_->reserve(width, exactly);

  std::vector<LockstepColumn> columns(results.size());
  for (std::int64_t j = 0; j < width; ++j) {
    columns[j].number = j;
    columns[j].observer = observers.empty() ? nullptr : &observers[j];
    columns[j].state.rule = rule;
    choose_norm_parts(columns[j].state);
    if (!atol.empty()) columns[j].state.rule.atol = atol[j];
    if (!exactly) columns[j].state.correct_below = kCorrectBelow;
  }
  std::vector<LockstepColumn> once_more;
  for (LockstepColumn& column : work_->run(std::move(columns), b, x, zero_guess, exactly))
    if (!exactly && gave_up(column.state))
      once_more.push_back(column);
    else
      results[column.number] = result_of(column.state, -1, variant());
  if (once_more.empty()) return results;

  // These columns go on with the exact product: from their x, or from 0.
  std::vector<std::int64_t> exact_from(results.size(), -1);
  for (LockstepColumn& column : once_more) {
    exact_from[column.number] = column.state.iterations;
    if (!go_on_exactly(column.state)) continue;
    for (std::int64_t i = 0; i < rows; ++i) x(i, column.number) = 0;
  }
  work_->reserve(std::ssize(once_more), true);
  for (const LockstepColumn& column : work_->run(std::move(once_more), b, x, false, true))
    results[column.number] = result_of(column.state, exact_from[column.number], variant());
  return results;
}

std::int64_t HostBlockSolver::bytes(std::int64_t width) const {
  const bool exactly = !work_->system.inexact();
  const int of_preconditioner = work_->work_vectors(exactly).second;
  bool pointwise = false;
  work_->visit_solve(
      [&](auto, const auto& m) { pointwise = std::decay_t<decltype(m)>::pointwise; });
  int of_one = 0;  // the work vectors of a HostSolver, which owns the preconditioner
  for_each_algorithm([&](auto entry) {
    using Algorithm = typename decltype(entry)::type;
    if (entry.method == work_->method)
      of_one = std::max(of_one, work_vectors<Algorithm>(
                                    work_->options, {.pointwise = pointwise, .inexact = !exactly}));
  });
  if (of_preconditioner > 0) of_one = std::max(of_one, Cg::vectors);
  const std::int64_t columns = width * work_->vectors(exactly) +
                               LockstepExecutor::extra_columns(width) + of_one + of_preconditioner;
  return (columns * work_->system.rows() + width * work_->small_elements()) *
         static_cast<std::int64_t>(sizeof(double));
}

void HostBlockSolver::renew(const PreconditionerSpec& spec) { work_->of_one_vector.renew(spec); }
void HostBlockSolver::weigh_rows(const RowScale& scale) { work_->of_one_vector.weigh_rows(scale); }
Variant HostBlockSolver::variant() const { return work_->of_one_vector.variant(); }
const PreparedPreconditioner& HostBlockSolver::preconditioner() const {
  return work_->of_one_vector.preconditioner();
}

}  // namespace trireme::solvers
