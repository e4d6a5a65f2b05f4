// SPDX-License-Identifier: BSD-3-Clause
// The complete factors of a KSP whose PC is lu or cholesky. cuDSS makes them on a GPU, where it is
// there and they fit; it replaces small pivots, so that refinement may fail. Else MUMPS makes them
// where PETSc has it: the analysis comes first and says how much memory the factors will take;
// where delayed pivots need more than that, the factorisation is repeated with more room; where
// pivots are zero, they are left out and counted.
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "distributed/distributed_matrix.hpp"
#include "petsc/factors/direct_forecast.hpp"
#include "petsc/factors/mumps.hpp"

namespace trireme {

// Why there are no factors.
struct NoFactors {
  ExitCode code;
  std::string why;  // a clause without a subject for "breakdown: "
};

class CompleteFactors {
 public:
  // The PC has its operators and is not set up. It becomes lu or cholesky by `by_symmetry`: the
  // latter where the matrix looks symmetric and the package can use that. `refined`: a loop of
  // refinement follows, so that cuDSS may serve. A package that an option names is left alone.
  // `analysis`: of this matrix, which then need not be made; may be null. Throws Error{usage} where
  // no package serves. `ksp` and `matrix` must outlive this. Collective, as all members are.
  CompleteFactors(KSP ksp, const DistributedMatrix& matrix, bool by_symmetry, bool refined,
                  std::shared_ptr<FactorAnalysis> analysis = {});

  // Sets the KSP up, for the first time or with new values. Throws Error{resource} where the
  // estimate of the memory exceeds what the machine has left, and Error{usage} for options that the
  // package does not support.
  void set_up();
  // Whether other factors can be tried where refinement by these fails, and the choice of them:
  // after cuDSS's L L^T its L D L^T, then its L U with rows exchanged ahead, then those of another
  // package. set_up() makes them.
  bool has_others() const;
  void take_others(const std::string& why);

  // X = F^-1 B of dense matrices with this rank's rows, by one call; false: it failed. After
  // set_up().
  bool solve_block(Mat b, Mat x) const;
  const std::optional<NoFactors>& none() const { return none_; }
  PetscInt null_pivots() const { return null_pivots_; }
  // What the report says of the factors.
  std::vector<std::string> notes() const;
  // For a solve that has failed: that the matrix is singular, its rank where pivots were left out,
  // and where, in words. Empty where it does not look singular.
  std::string about_singularity() const;

 private:
  std::int64_t rank() const { return matrix_.global_rows() - null_pivots_; }
  void choose();
  void set_up_by_cudss();
  void analyse_by_cudss();
  void analyse();
  void require_memory() const;
  bool asks_for_another_try();
  void explain_failure();
  bool make_null_vector(Vec v, Vec work) const;
  // The row of the largest entry, as the caller counts; empty where no vector is found.
  std::optional<std::int64_t> unknown_of_null_vector() const;
  Mat factors() const;

  KSP ksp_;
  const DistributedMatrix& matrix_;
  bool by_symmetry_;
  bool wants_cudss_ = false, by_cudss_ = false;
  bool positive_ = false;        // cuDSS makes L L^T
  bool not_positive_ = false;    // and has failed with it
  bool exchanges_rows_ = false;  // cuDSS does, ahead of its factorisation
  std::string why_no_cudss_;     // where wants_cudss_
  bool symmetric_ = false, by_mumps_ = false, is_set_up_ = false;
  bool leaves_out_null_pivots_ = false;
  PetscInt room_ = 0;           // ICNTL(14) after failures with less; 0: none was asked for
  PetscInt analysed_room_ = 0;  // in the analysis
  mumps::Estimate estimate_;
  std::optional<NoFactors> none_;
  PetscInt null_pivots_ = 0;
  PetscInt structural_rank_ = -1;  // negative: full
  std::string note_;
  std::shared_ptr<FactorAnalysis> analysis_;  // null: none is left to be taken
};

}  // namespace trireme
