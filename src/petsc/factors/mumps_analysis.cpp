// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/factors/mumps_analysis.hpp"

#include <string>
#include <utility>

namespace trireme {
namespace {

// Processor time of MUMPS 5.5 with OpenBLAS on one core of an x86 server, fitted to nine
// factorisations of seven matrices (west2021, cage10, bcsstk38, TSOPF_RS_b39_c30, wathen100,
// delaunay_n16, wang4; 1.5e8 to 8e9 operations): they took 0.6 to 1.3 times what this says.
constexpr double kOperationsPerSecond = 5e9;
constexpr double kSecondsPerNonzero = 1e-8, kSecondsPerRow = 1e-6;
// Likewise of a solve, which took 0.6 to 1.3 times this.
constexpr double kSolveSecondsPerNonzero = 1.5e-9, kSolveSecondsPerRow = 2.5e-7;

// Of 26 matrices of 10,000 to 115,000 rows, which took 0.4 to 2 times this.
double expected_seconds_of_dissection(Mat matrix) {
  constexpr double kPerRow = 5e-6, kPerNonzero = 2.5e-7;
  PetscInt rows = 0;
  MatInfo info;
  petsc_check(MatGetSize(matrix, &rows, nullptr));
  petsc_check(MatGetInfo(matrix, MAT_GLOBAL_SUM, &info));
  return kPerRow * static_cast<double>(rows) + kPerNonzero * info.nz_used;
}

// Sets an option for as long as this lives, unless it is set already. MatMumpsSetIcntl does not
// serve for what PETSc overrules at the beginning of an analysis.
class PassingOption {
 public:
  PassingOption(const char* name, int value) : name_(name) {
    PetscBool given = PETSC_FALSE;
    petsc_check(PetscOptionsHasName(nullptr, nullptr, name, &given));
    is_given_ = given == PETSC_TRUE;
    if (!is_given_) petsc_check(PetscOptionsSetValue(nullptr, name, std::to_string(value).c_str()));
  }
  ~PassingOption() {
    if (!is_given_) PetscOptionsClearValue(nullptr, name_);
  }
  PassingOption(const PassingOption&) = delete;
  PassingOption& operator=(const PassingOption&) = delete;

  bool is_given() const { return is_given_; }

 private:
  const char* name_;
  bool is_given_ = false;
};

// ICNTL(7). Nested dissection is what MUMPS takes by itself for large matrices, by the library that
// it was built with.
int order_number(MumpsAnalysis::Order order) {
  constexpr int kMinimumFill = 2, kAutomatic = 7;
  return order == MumpsAnalysis::Order::minimum_fill ? kMinimumFill : kAutomatic;
}

}  // namespace

MumpsAnalysis::MumpsAnalysis(Mat matrix, bool symmetric, Order order,
                             const SetControls& set_controls)
    : symmetric_(symmetric) {
  petsc_check(PCCreate(comm_of(matrix), pc_.put()));
  petsc_check(PCSetType(pc_, symmetric ? PCCHOLESKY : PCLU));
  petsc_check(PCSetOperators(pc_, matrix, matrix));
  petsc_check(PCFactorSetMatSolverType(pc_, MATSOLVERMUMPS));
  petsc_check(PCFactorSetUpMatSolverType(pc_), ExitCode::usage);
  const Mat f = factors();
  const PassingOption option("-mat_mumps_icntl_7", order_number(order));
  by_option_ = option.is_given();
  if (set_controls) set_controls(f);
  MatFactorInfo info;
  petsc_check(MatFactorInfoInitialize(&info));
  petsc_check(symmetric ? MatCholeskyFactorSymbolic(f, matrix, nullptr, &info)
                        : MatLUFactorSymbolic(f, matrix, nullptr, nullptr, &info));
  room_ = mumps::get(f, mumps::kMoreRoom);
  if (set_controls) set_controls(f);
  if (has_failed()) return;
  PetscInt rows = 0;
  petsc_check(MatGetSize(matrix, &rows, nullptr));
  rows_ = static_cast<double>(rows);
  estimate_ = mumps::estimate_of(f);
}

Mat MumpsAnalysis::factors() const {
  Mat factors = nullptr;
  petsc_check(PCFactorGetMatrix(pc_, &factors));
  return factors;
}

double MumpsAnalysis::factor_seconds() const {
  return estimate_.operations / kOperationsPerSecond + estimate_.nonzeros * kSecondsPerNonzero +
         rows_ * kSecondsPerRow;
}

double MumpsAnalysis::solve_seconds() const {
  return estimate_.nonzeros * kSolveSecondsPerNonzero + rows_ * kSolveSecondsPerRow;
}

// Dissection saves about half of the factorisation at best.
std::unique_ptr<MumpsAnalysis> with_better_order(std::unique_ptr<MumpsAnalysis> first, Mat matrix,
                                                 const MumpsAnalysis::SetControls& set_controls) {
  if (first->has_failed() || first->is_ordered_by_option() ||
      first->factor_seconds() < 2 * expected_seconds_of_dissection(matrix))
    return first;
  auto second = std::make_unique<MumpsAnalysis>(matrix, first->is_symmetric(),
                                                MumpsAnalysis::Order::dissection, set_controls);
  const bool serves = !second->has_failed() && second->factor_seconds() < first->factor_seconds();
  return serves ? std::move(second) : std::move(first);
}

}  // namespace trireme
