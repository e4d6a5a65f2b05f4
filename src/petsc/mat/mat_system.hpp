// SPDX-License-Identifier: BSD-3-Clause
// A PETSc Mat as a system for the resident engine on the host, and the data that preconditioners
// take from a Mat.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/array.hpp"
#include "distributed/host_operator.hpp"
#include "petsc/shim.hpp"
#include "solvers/host_solver.hpp"

namespace trireme {

// Multiplies by MatMult, so that any Mat and -log_view work; or by the operator of the Mat, where
// that works in an order of its own. Collective over the Mat's communicator.
class MatSystem : public solvers::HostSystem {
 public:
  // `op` is the operator of the Mat, or null. A Mat that is neither one of Trireme nor an assembled
  // one of PETSc is handed duplicates of `like`, which may be null, because its product may ask for
  // the vectors' type or DM.
  MatSystem(Mat mat, std::shared_ptr<Operator> op, Vec like);
  std::int64_t rows() const override { return rows_; }
  std::span<const std::int32_t> order() const override;
  bool in_order() const { return ordered_ != nullptr; }
  void multiply(std::span<const double> x, std::span<double> y) override;
  bool inexact() const override;
  std::span<const float> row_defect() const override;
  void multiply_exactly(std::span<const double> x, std::span<double> y) override;
  // An operator of Trireme multiplies all vectors at once, with one exchange between processes. Any
  // other Mat multiplies them one by one.
  void multi_multiply(MultiVector<const double> x, MultiVector<double> y) override;
  void multi_multiply_exactly(MultiVector<const double> x, MultiVector<double> y) override;
  bool multiply_and_dot(MultiVector<const double> x, MultiVector<double> y, std::int64_t chunk_rows,
                        double* dots) override;
  void sum(std::span<double> values) override;
  void start_sum(std::span<double> values) override;
  void finish_sum() override;
  int processes() const override { return processes_; }

 private:
  // The operator that the Mat has at this moment, where its kernels run on the host; else null.
  std::shared_ptr<HostOperator> host_operator() const;

  Mat mat_;
  std::shared_ptr<Operator> operator_;     // null: the Mat is not one of Trireme
  std::shared_ptr<HostOperator> ordered_;  // the operator, where its order is not the caller's
  MPI_Comm comm_;
  int processes_;
  MPI_Request sum_ = MPI_REQUEST_NULL;  // of start_sum()
  std::int64_t rows_;
  bool copies_ = false;  // multiply() copies into x_ and out of y_
  VecHandle x_, y_;      // otherwise they have no arrays: multiply() places its arrays into them
};

// The inverse diagonal that a PCJACOBI applies, for this rank's rows: the PC's product with a
// vector of ones. The PC must be set up. `mat` gives the shape of the vectors.
Array<double> inverse_diagonal_of(PC pc, Mat mat);
// The main diagonal of a Mat, for this rank's rows.
Array<double> diagonal_of(Mat mat);
// The diagonal blocks of this rank's rows, in the layout of PreconditionerSpec::blocks. `mat` is a
// Trireme shell or a Mat that has MatGetRow; throws Error{usage} for any other.
Array<double> diagonal_blocks_of(Mat mat, const solvers::BlockRows& blocks);

}  // namespace trireme
