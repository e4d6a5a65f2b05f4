// SPDX-License-Identifier: BSD-3-Clause
// What happens around the loops of a lockstep solve on a GPU: memory, preconditioner, and the exact
// product for columns for which an inexact one does not do.
// MultiVector<const double> has a conversion to itself, which nobody calls.
#pragma nv_diag_suppress 554

#include "solvers/cuda_block_solver.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "device/device.hpp"
#include "device/stream.hpp"
#include "solvers/cuda_fp32_diagonal.hpp"
#include "solvers/cuda_process_sum.hpp"
#include "solvers/executors/cuda_lockstep_executor.cuh"
#include "solvers/memory_agreement.hpp"

namespace trireme::solvers {
namespace {

constexpr int kCallersVectors = CudaLockstepBlock::callers_vectors;
constexpr int kBlocksPerMultiprocessor = 4;

void set_zero(MultiVector<double> x, std::int64_t column, StreamRef) {
  for (std::int64_t i = 0; i < x.rows; ++i) x(i, column) = 0;
}
void set_zero(DeviceMultiVector<double> x, std::int64_t column, StreamRef stream) {
  fill_zero(DeviceSpan<double>(x.data + column * x.vector_stride, static_cast<std::size_t>(x.rows)),
            stream);
}

}  // namespace

CudaLockstepExecutor::Sums::Sums(std::int64_t rows, StreamRef stream)
    : blocks_(static_cast<int>(
          std::clamp<std::int64_t>((rows * kMaxColumns + kPassThreads - 1) / kPassThreads, 1,
                                   std::int64_t{multiprocessors()} * kBlocksPerMultiprocessor))),
      stride_(std::int64_t{blocks_} * kMaxSums * kMaxColumns),
      partials_(static_cast<std::size_t>(stride_ * kMaxPending), stream),
      totals_(kMaxColumns * (kMaxSums * kMaxPending + 1), stream) {}

struct CudaBlockSolver::Work {
  CudaSystem& system;
  Method method;
  MethodOptions options;
  CudaSolver of_one_vector;  // owns the preconditioner
  Stream stream;
  Event ready{Timing::no};
  CudaLockstepBlock block;
  CudaLockstepExecutor::Sums sums;
  DeviceBuffer<double> arrays;  // of a method that restarts
  bool floats = false;          // loops have FP32 vectors unless they run exactly
  CudaFp32Diagonal diagonal_in_fp32;

  Work(CudaSystem& of, Method by, Variant variant, const PreconditionerSpec& spec,
       const MethodOptions& chosen)
      : system(of),
        method(by),
        options(chosen),
        of_one_vector(of, by, variant, spec, {.mode = CudaMode::graph}, chosen),
        block(of.rows(), of.order(), stream),
        sums(of.rows(), stream) {
    bool wanted = false;
    visit_solve([&](auto entry, const auto& m) {
      wanted = kBlockHasFloats<typename decltype(entry)::type, std::decay_t<decltype(m)>>;
    });
    if (!wanted || !system.takes_floats()) return;
    system.prepare_floats();
    floats = system.takes_floats() && system.multiplies_float_vectors();
  }

  // Whether loops that do not run exactly differ from those that do.
  bool inexact() const { return floats || system.inexact(); }

  // Calls visit(algorithm, m) with the entry of the method and the preconditioner.
  template <class Visit>
  void visit_solve(const Visit& visit) const {
    std::visit(
        [&](const auto& m) {
          using M = std::decay_t<decltype(m)>;
          if constexpr (!std::is_same_v<M, std::monostate>)
            visit_method(method, of_one_vector.variant(), [&](auto entry) { visit(entry, m); });
        },
        of_one_vector.preconditioner());
  }

  // The vectors of the method and of the preconditioner.
  std::pair<int, int> work_vectors(bool exactly) const {
    std::pair<int, int> count;
    visit_solve([&](auto entry, const auto& m) {
      using Algorithm = typename decltype(entry)::type;
      using M = std::decay_t<decltype(m)>;
      count = {solvers::work_vectors<Algorithm>(
                   options,
                   {.pointwise = M::pointwise, .inexact = !exactly, .floats = floats && !exactly}),
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
  std::int64_t bytes(std::int64_t width, bool exactly) const {
    return (CudaLockstepBlock::columns_of_memory(width, vectors(exactly)) * system.rows() +
            small_elements() * width) *
           static_cast<std::int64_t>(sizeof(double));
  }

  // Allocates the block; the processes agree on an error.
  void reserve(std::int64_t width, bool exactly) {
    const auto allocate = [&] {
      block.reserve(width, vectors(exactly));
      const auto small = static_cast<std::size_t>(small_elements() * width);
      if (arrays.size() < small) arrays = DeviceBuffer<double>(small, stream);
    };
    const double failures = processes_without_memory(
        allocate, [&](double mine) { return process_sum(system, mine, sums.totals(), stream); });
    if (failures > 0)
      throw Error(ExitCode::resource, "a GPU has not enough memory for " + std::to_string(width) +
                                          " right-hand sides at once, which need " +
                                          std::to_string(bytes(width, exactly) / 1'000'000) +
                                          " MB on this one; solve fewer of them at once");
    if (!system.multiplies_vectors()) return;
    block.each_stride([&](std::int64_t stride) { system.prepare_multi_product(stride, stride); });
  }

  // Runs the method's algorithm for `columns`, and returns them with their last states.
  template <template <class> class View>
  std::vector<LockstepColumn> run(std::vector<LockstepColumn> columns, View<const double> b,
                                  View<double> x, bool zero_guess, bool exactly) {
    const NormTerm norm = norm_term(columns.front().state.rule, of_one_vector.row_weights());
    for (std::size_t k = 0; k < columns.size(); ++k)
      columns[k].state.column = static_cast<std::int32_t>(k);
    const bool in_fp32 = floats && !exactly;
    block.bring(std::move(columns), b, x, zero_guess, in_fp32);
    const int of_method = work_vectors(exactly).first;
    const WorkMemory work{block.vector(kCallersVectors), block.elements(), of_method};
    CudaLockstepExecutor executor(system, block, sums, stream, inexact() && !exactly);
    const SystemVectors callers{block.vector(0),
                                block.vector(1),
                                zero_guess,
                                norm,
                                {options.restart, arrays.data(), !exactly}};
    visit_solve([&](auto entry, const auto& prepared) {
      using Algorithm = typename decltype(entry)::type;
      if constexpr (kBlockHasFloats<Algorithm, std::decay_t<decltype(prepared)>>) {
        if (in_fp32)
          return run_solve(executor, Algorithm::Narrow::with(callers, work),
                           diagonal_in_fp32.with_it(prepared, system.rows(), stream));
      }
      const auto m = on_block(prepared, of_method);
      if constexpr (std::is_same_v<std::decay_t<decltype(m)>, Given>)
        require_on_device(*m.operation);
      run_solve(executor, Algorithm::with(callers, work), m);
      if constexpr (std::is_same_v<std::decay_t<decltype(m)>, Given>) m.operation->check_device();
    });
    block.give_back(x);
    system.check();
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

  // View: MultiVector or DeviceMultiVector.
  template <template <class> class View>
  std::vector<SolveResult> solve(View<const double> b, View<double> x, bool zero_guess,
                                 const Tolerances& rule,
                                 std::span<const IterationObserver> observers,
                                 std::span<const double> atol);
  // At most kMaxColumns at once.
  template <template <class> class View>
  std::vector<SolveResult> solve_all(View<const double> b, View<double> x, bool zero_guess,
                                     const Tolerances& rule,
                                     std::span<const IterationObserver> observers,
                                     std::span<const double> atol);
};

template <template <class> class View>
std::vector<SolveResult> CudaBlockSolver::Work::solve(View<const double> b, View<double> x,
                                                      bool zero_guess, const Tolerances& rule,
                                                      std::span<const IterationObserver> observers,
                                                      std::span<const double> atol) {
  const bool exactly = !inexact();
  reserve(b.width, exactly);
  std::vector<SolveResult> results(static_cast<std::size_t>(b.width));
  std::vector<LockstepColumn> columns(results.size());
  for (std::size_t j = 0; j < columns.size(); ++j) {
    columns[j].number = static_cast<std::int64_t>(j);
    columns[j].observer = observers.empty() ? nullptr : &observers[j];
    columns[j].state.rule = rule;
    choose_norm_parts(columns[j].state);
    if (!atol.empty()) columns[j].state.rule.atol = atol[j];
    if (!exactly) columns[j].state.correct_below = kCorrectBelow;
  }
  std::vector<LockstepColumn> once_more;
  for (const LockstepColumn& column : run(std::move(columns), b, x, zero_guess, exactly))
    if (!exactly && gave_up(column.state))
      once_more.push_back(column);
    else
      results[column.number] = result_of(column.state, -1, of_one_vector.variant());
  if (once_more.empty()) return results;

  // These columns go on with the exact product: from their x, or from 0.
  std::vector<std::int64_t> exact_from(results.size(), -1);
  for (LockstepColumn& column : once_more) {
    exact_from[column.number] = column.state.iterations;
    if (!go_on_exactly(column.state)) continue;
    set_zero(x, column.number, stream);
  }
  reserve(std::ssize(once_more), true);
  for (const LockstepColumn& column : run(std::move(once_more), b, x, false, true))
    results[column.number] =
        result_of(column.state, exact_from[column.number], of_one_vector.variant());
  return results;
}

template <template <class> class View>
std::vector<SolveResult> CudaBlockSolver::Work::solve_all(
    View<const double> b, View<double> x, bool zero_guess, const Tolerances& rule,
    std::span<const IterationObserver> observers, std::span<const double> atol) {
  if (inexact()) require_norm(rule);
  if (rule.judged_by_caller)
    throw Error(ExitCode::usage,
                "many right-hand sides at once on a GPU cannot be judged by the caller; solve one "
                "after another");
  std::vector<SolveResult> results;
  for (std::int64_t first = 0; first < b.width; first += kMaxColumns) {
    const std::int64_t count = std::min<std::int64_t>(kMaxColumns, b.width - first);
    const auto part = [&](auto of_columns) {
      return of_columns.empty() ? of_columns
                                : of_columns.subspan(static_cast<std::size_t>(first),
                                                     static_cast<std::size_t>(count));
    };
    const std::vector<SolveResult> some = solve(b.vectors(first, count), x.vectors(first, count),
                                                zero_guess, rule, part(observers), part(atol));
    results.insert(results.end(), some.begin(), some.end());
  }
  return results;
}

CudaBlockSolver::CudaBlockSolver(CudaSystem& system, Method method, Variant variant,
                                 const PreconditionerSpec& spec, const MethodOptions& options)
    : work_(std::make_unique<Work>(system, method, variant, spec, options)) {}
CudaBlockSolver::~CudaBlockSolver() = default;

std::vector<SolveResult> CudaBlockSolver::solve(MultiVector<const double> b, MultiVector<double> x,
                                                bool zero_guess, const Tolerances& rule,
                                                std::span<const IterationObserver> observers,
                                                std::span<const double> atol) {
  require_block(work_->system.rows(), b, x, observers.size(), atol.size());
  return work_->solve_all(b, x, zero_guess, rule, observers, atol);
}

std::vector<SolveResult> CudaBlockSolver::solve(DeviceMultiVector<const double> b,
                                                DeviceMultiVector<double> x, bool zero_guess,
                                                StreamRef producer, const Tolerances& rule,
                                                std::span<const IterationObserver> observers,
                                                std::span<const double> atol) {
  const auto shape = [](const auto& columns) {
    return MultiVector<const double>{nullptr, columns.rows, columns.width};
  };
  require_block(work_->system.rows(), shape(b), shape(x), observers.size(), atol.size());
  work_->ready.record(producer);
  work_->stream.wait(work_->ready);
  return work_->solve_all(b, x, zero_guess, rule, observers, atol);
}

std::int64_t CudaBlockSolver::bytes(std::int64_t width) const {
  return work_->bytes(std::min<std::int64_t>(width, kMaxColumns), !work_->inexact());
}
void CudaBlockSolver::renew(const PreconditionerSpec& spec) { work_->of_one_vector.renew(spec); }
void CudaBlockSolver::weigh_rows(const RowScale& scale) { work_->of_one_vector.weigh_rows(scale); }
Variant CudaBlockSolver::variant() const { return work_->of_one_vector.variant(); }
const PreparedPreconditioner& CudaBlockSolver::preconditioner() const {
  return work_->of_one_vector.preconditioner();
}

}  // namespace trireme::solvers
