// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on the host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "solvers/solver.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

// A square matrix, distributed by rows over processes.
class HostSystem {
 public:
  virtual ~HostSystem() = default;
  // The number of rows that this process holds.
  virtual std::int64_t rows() const = 0;
  // The order of the rows in which the products below work: the caller's row of each position.
  // Empty: the caller's order. A solver brings b, x and the preconditioner into this order, and x
  // back.
  virtual std::span<const std::int32_t> order() const { return {}; }
  // y = A x. x and y are this process's parts, rows() long. Collective.
  virtual void multiply(std::span<const double> x, std::span<double> y) = 0;
  // Whether multiply() uses an approximation of A, such as A with its values in FP32.
  virtual bool inexact() const { return false; }
  // If inexact(): what rounding took from the sum of each row, A 1 - A32 1, rows() long.
  virtual std::span<const float> row_defect() const { return {}; }
  // y = A x with the exact values of A. Residuals are corrected by this product. Collective.
  virtual void multiply_exactly(std::span<const double> x, std::span<double> y) { multiply(x, y); }
  // Whether multiply_floats() exists: see CudaSystem. On the host no operator has it: it is there
  // for tests of such loops, which need no GPU.
  virtual bool takes_floats() const { return false; }
  virtual void multiply_floats(std::span<const float> /*x*/, std::span<float> /*y*/) {}
  // Y = A X by the product of multiply(), for vectors side by side (vector_stride 1) of any width.
  // The width is the same on every process. A system overrides this function where one walk through
  // the matrix, or one exchange between processes, serves several vectors. Collective.
  virtual void multi_multiply(MultiVector<const double> x, MultiVector<double> y);
  // Y = A X by the product of multiply_exactly(), for the same vectors. Collective.
  virtual void multi_multiply_exactly(MultiVector<const double> x, MultiVector<double> y);
  // The product of multi_multiply_exactly() with the dot products of each chunk, as by
  // MultiProduct::multiply_and_dot(). Returns false, and does nothing, where the system has no such
  // product. The answer is the same on every process.
  virtual bool multiply_and_dot(MultiVector<const double> /*x*/, MultiVector<double> /*y*/,
                                std::int64_t /*chunk_rows*/, double* /*dots*/) {
    return false;
  }
  // Adds each value over the processes. The result is the same on every process. Collective.
  virtual void sum(std::span<double> /*values*/) {}
  // Begins sum(values), which finish_sum() completes; products may run in between. The values must
  // stay where they are. One sum at a time. Collective.
  virtual void start_sum(std::span<double> values) { sum(values); }
  virtual void finish_sum() {}
  virtual int processes() const { return 1; }

 private:
  template <class Product>
  void multiply_one_by_one(MultiVector<const double> x, MultiVector<double> y,
                           const Product& product);
  Array<double> one_x_, one_y_;  // of multiply_one_by_one()
};

class HostSolver : public Solver {
 public:
  // Throws Error{input} for a block that cannot be inverted, Error{usage} for a preconditioner that
  // the method does not allow. Collective over the system's processes. `system` must outlive the
  // solver.
  HostSolver(HostSystem& system, Method method, Variant variant, const PreconditionerSpec& spec,
             const MethodOptions& options = {});
  ~HostSolver() override;
  SolveResult solve(const SolveVectors& vectors, const Tolerances& rule,
                    const IterationObserver& observer = {}) override;
  void renew(const PreconditionerSpec& spec) override;
  StoppedSolve stopped() const override;
  bool vectors_in_fp32() const override;
  void go_on(const StoppedSolve& stopped) override;
  Variant variant() const override;
  const PreparedPreconditioner& preconditioner() const override;
  void weigh_rows(const RowScale& scale) override;
  const RowWeights& row_weights() const override;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace trireme::solvers
