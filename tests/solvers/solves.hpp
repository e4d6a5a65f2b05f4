// SPDX-License-Identifier: BSD-3-Clause
// Functions that solve by the resident engine on the host and keep the history, for tests.
#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "solvers/host_kernel_system.hpp"
#include "solvers/systems.hpp"

namespace trireme::test {

// One thread, because the systems are so small that threads would only wait for each other.
[[maybe_unused]] inline const bool one_thread = [] {
  omp_set_num_threads(1);
  return true;
}();

struct Options {
  solvers::Method method = solvers::Method::cg;
  solvers::Variant variant = solvers::Variant::automatic;
  solvers::PreconditionerSpec preconditioner;
  solvers::Tolerances rule;
  solvers::IterationObserver observer;
  solvers::RowScale row_scale = {};
  Array<double> x0;  // the initial guess; empty: zero
  std::string kernel = "csr";
  solvers::MethodOptions of_method = {};
};

struct Solved {
  solvers::SolveResult outcome;
  Array<double> x;
  std::vector<double> history;
};

// The observer of `options`, which also writes the history and checks that it is complete.
inline solvers::IterationObserver recording(const Options& options, Solved& into) {
  solvers::IterationObserver observer = options.observer;
  observer.iteration = [&](const solvers::State& s, const solvers::Iterate& iterate) {
    EXPECT_EQ(s.iterations, static_cast<std::int64_t>(into.history.size()));
    into.history.push_back(s.norm);
    return options.observer.iteration ? options.observer.iteration(s, iterate)
                                      : solvers::Reason::running;
  };
  return observer;
}

// Solves by a HostSolver or a CudaSolver. Without a guess, x holds random numbers before the solve.
template <class Solver>
Solved solve_by(Solver& solver, std::span<const double> b, const Options& options) {
  solver.weigh_rows(options.row_scale);
  Solved result;
  result.x = options.x0.empty() ? random_vector<double>(static_cast<std::int64_t>(b.size()), 99)
                                : options.x0;
  result.outcome =
      solver.solve({b, result.x, options.x0.empty()}, options.rule, recording(options, result));
  return result;
}

inline Solved solve(solvers::HostSystem& system, std::span<const double> b,
                    const Options& options) {
  solvers::HostSolver solver(system, options.method, options.variant, options.preconditioner,
                             options.of_method);
  return solve_by(solver, b, options);
}

inline Solved solve(const CsrMatrix<double>& a, std::span<const double> b,
                    const Options& options = {}) {
  const auto kernel = build_host_kernel<double>(options.kernel, a.view());
  solvers::HostKernelSystem system(*kernel, a.rows);
  return solve(system, b, options);
}

inline solvers::PreconditionerSpec jacobi(std::span<const double> diagonal) {
  solvers::PreconditionerSpec spec;
  spec.kind = solvers::PreconditionerSpec::Kind::jacobi;
  spec.diagonal = diagonal;
  return spec;
}

// The spec of block Jacobi, with its entries: natural blocks of `size` rows, or the row groups that
// begin at `starts`.
struct BlocksOf {
  Array<double> entries;
  solvers::PreconditionerSpec spec;

  BlocksOf(const CsrMatrix<double>& a, std::int32_t size,
           std::span<const std::int32_t> starts = {}) {
    spec.kind = solvers::PreconditionerSpec::Kind::blocks;
    spec.block_size = size;
    spec.group_starts = starts;
    entries = blocks_of(a, solvers::block_rows(spec, a.rows));
    spec.blocks = entries;
  }
  BlocksOf(const BlocksOf&) = delete;
};

// The starts of row groups that have widths[0], widths[1], ... rows, in turn.
inline std::vector<std::int32_t> row_groups(std::int64_t rows,
                                            const std::vector<std::int32_t>& widths) {
  std::vector<std::int32_t> starts{0};
  while (starts.back() < rows)
    starts.push_back(static_cast<std::int32_t>(
        std::min<std::int64_t>(rows, starts.back() + widths[(starts.size() - 1) % widths.size()])));
  return starts;
}

}  // namespace trireme::test
