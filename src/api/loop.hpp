// SPDX-License-Identifier: BSD-3-Clause
// A Krylov loop of one method for one matrix, with a preconditioner that may be exchanged between
// two solves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/given_operation.hpp"
#include "api/numbers.hpp"
#include "api/words.hpp"
#include "base/array.hpp"
#include "distributed/operator.hpp"
#include "solvers/block_solver.hpp"
#include "solvers/cuda_block_solver.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/host_solver.hpp"

namespace trireme::api {

class Loop {
 public:
  // `op` multiplies by `matrix`. `data` must outlive this, as must `stream`, where a GPU works.
  // Throws Error: usage for a preconditioner that the method does not allow, input for a matrix
  // that has none such, resource.
  Loop(std::shared_ptr<DistributedMatrix> matrix, std::shared_ptr<Operator> op,
       const solvers::NamedMethod& method, std::int32_t restart, const PreconditionerData& data,
       AnyPreconditioner preconditioner, StreamRef stream);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // b and x are where the loop is: on_gpu().
  solvers::SolveResult solve(const Numbers& b, Vector& x, bool zero_guess,
                             const solvers::Tolerances& rule,
                             const solvers::IterationObserver& observer);
  // The same for `width` columns, one after another.
  std::vector<solvers::SolveResult> solve_columns(
      const Numbers& b, Vector& x, std::int64_t width, bool zero_guess,
      const solvers::Tolerances& rule, std::span<const solvers::IterationObserver> observers,
      std::span<const double> atol);
  // Whether so many columns are expected to take less time together than one after another, by what
  // is on this rank.
  bool together_pays(std::int64_t width);
  // Throws what the constructor throws, and then has none that serves until the next change.
  void change_preconditioner(const AnyPreconditioner& preconditioner);
  // Multiplies by another operator of the same matrix and device.
  void change_operator(std::shared_ptr<Operator> op);
  Operator& op() { return *operator_; }
  // Whether a kernel multiplies: the persistent kernel of small systems has a product of its own.
  bool uses_kernel() const;
  // Takes the present values of the matrix, whose operator has them.
  void renew();

  const AnyPreconditioner& preconditioner() const { return preconditioner_; }
  bool on_gpu() const { return cuda_system_ != nullptr; }
  double product_microseconds() const;  // median of the products so far; 0: none
  std::optional<multigrid::HierarchyFacts> hierarchy() const { return given_.hierarchy(); }
  // What the loop tests beside ||r||, by the sizes of rows.
  solvers::RowTest row_test() const {
    return weighs_ ? solvers::RowTest::both : solvers::RowTest::none;
  }

 private:
  solvers::PreconditionerSpec spec();
  void make_system();
  void make_preconditioner();
  void drop_solver();
  void make_solver();
  void make_block_solver();
  void weigh_rows();

  std::shared_ptr<DistributedMatrix> matrix_;
  std::shared_ptr<Operator> operator_;
  solvers::NamedMethod method_;
  solvers::MethodOptions method_options_;
  const PreconditionerData& data_;
  AnyPreconditioner preconditioner_;
  StreamRef stream_;
  Array<double> entries_;  // of the spec: a diagonal or blocks
  GivenOperation given_;
  // One of the two is set, depending on where the operator is.
  std::unique_ptr<solvers::HostSystem> host_system_;
  std::unique_ptr<solvers::CudaSystem> cuda_system_;
  std::unique_ptr<solvers::Solver> solver_;
  solvers::CudaSolver* cuda_solver_ = nullptr;             // solver_, on a GPU
  std::unique_ptr<solvers::BlockSolver> block_solver_;     // made at the first use
  solvers::CudaBlockSolver* cuda_block_solver_ = nullptr;  // block_solver_, on a GPU
  bool weighs_ = false;
};

}  // namespace trireme::api
