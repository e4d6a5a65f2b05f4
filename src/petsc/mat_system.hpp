// SPDX-License-Identifier: BSD-3-Clause
// A PETSc Mat as the resident engine sees it on the host, and the data of its preconditioners.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/array.hpp"
#include "distributed/operator.hpp"
#include "petsc/shim.hpp"
#include "solvers/host_solver.hpp"

namespace trireme {

// Multiplies by MatMult, so that -log_view and any Mat work. Collective over the Mat's
// communicator.
class MatSystem : public solvers::HostSystem {
 public:
  explicit MatSystem(Mat mat);
  std::int64_t rows() const override { return rows_; }
  void multiply(std::span<const double> x, std::span<double> y) override;
  bool inexact() const override;
  std::span<const float> row_defect() const override;
  void multiply_exactly(std::span<const double> x, std::span<double> y) override;
  void sum(std::span<double> values) override;
  int processes() const override { return processes_; }

 private:
  Mat mat_;
  std::shared_ptr<Operator> operator_;  // null: the Mat is not a Trireme shell
  MPI_Comm comm_;
  int processes_;
  std::int64_t rows_;
  VecHandle x_, y_;  // without arrays of their own
};

// 1 / d_i as the PC applies it: what PCJACOBI makes of ones. The PC must be set up.
Array<double> inverse_diagonal_of(PC pc, Mat mat);
// The main diagonal of a Mat.
Array<double> diagonal_of(Mat mat);
// The diagonal blocks of this rank's rows, as PreconditionerSpec::blocks wants them; from a Trireme
// operator or a Mat that has MatGetRow.
Array<double> diagonal_blocks_of(Mat mat, const solvers::BlockRows& blocks);

}  // namespace trireme
