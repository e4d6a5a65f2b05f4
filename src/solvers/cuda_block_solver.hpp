// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on a GPU for many right-hand sides at once. This header compiles without
// CUDA; in such a build CudaBlockSolver's constructor throws Error{resource}.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/multi_vector.hpp"
#include "device/stream.hpp"
#include "solvers/block_solver.hpp"
#include "solvers/cuda_solver.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

// The columns work in lockstep: each has its own scalars on the GPU, and its iteration is that of
// CudaSolver. More than 64 columns are solved 64 at a time. Every run has the same bits. The bits
// of a column depend on the number of columns beside it, because the terms of its sums are grouped
// by the width of the block.
//
// The host looks at the columns every few iterations, so that observers hear of iterations later,
// and a column that is asked to stop does some more iterations. Verdicts of observers are not used.
//
// Values moved per iteration beside the product and per column (n: rows), for CG with Jacobi: 10n,
// and 8n with a constant diagonal, as in methods/cg.hpp, without the diagonal, which is read once
// for all columns; and 2n for p.q.
class CudaBlockSolver final : public BlockSolver {
 public:
  // Works in a stream of its own on the current device. Throws what the constructor of CudaSolver
  // throws. Where the system does not multiply several vectors at once, or its product is inexact,
  // columns are copied out of the block and multiplied one by one. `system` must outlive the
  // solver.
  CudaBlockSolver(CudaSystem& system, Method method, Variant variant,
                  const PreconditionerSpec& spec, const MethodOptions& options = {});
  ~CudaBlockSolver() override;

  // Throws also Error{usage} for a rule that is judged by the caller.
  std::vector<SolveResult> solve(MultiVector<const double> b, MultiVector<double> x,
                                 bool zero_guess, const Tolerances& rule,
                                 std::span<const IterationObserver> observers = {},
                                 std::span<const double> atol = {}) override;
  // The same for columns in the memory of this GPU, each of which is contiguous (row_stride 1). The
  // solve begins after the work that is queued
  // in `producer`; X is complete on return.
  std::vector<SolveResult> solve(DeviceMultiVector<const double> b, DeviceMultiVector<double> x,
                                 bool zero_guess, StreamRef producer, const Tolerances& rule,
                                 std::span<const IterationObserver> observers = {},
                                 std::span<const double> atol = {});
  std::int64_t bytes(std::int64_t width) const override;
  void renew(const PreconditionerSpec& spec) override;
  void weigh_rows(const RowScale& scale) override;
  Variant variant() const override;
  const PreparedPreconditioner& preconditioner() const override;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace trireme::solvers
