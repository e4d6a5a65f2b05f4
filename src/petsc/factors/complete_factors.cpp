// SPDX-License-Identifier: BSD-3-Clause
// The order of calls: MatGetFactor, the analysis, and then KSPSetUp, which finds the analysis done
// and makes the factors.
#include "petsc/factors/complete_factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "config/case.hpp"
#include "device/device.hpp"
#include "distributed/matrix_look.hpp"
#include "parallel/collective.hpp"
#include "parallel/node_memory.hpp"
#include "petsc/factors/cudss/package.hpp"
#include "petsc/factors/package.hpp"
#include "petsc/mat/operator_of.hpp"
#include "petsc/pc/pc_needs.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

// Per cent, after MUMPS's 20.
constexpr std::array<PetscInt, 5> kMoreRooms = {100, 300, 1000, 3000, 10000};
constexpr const char* kPackageOption = "-pc_factor_mat_solver_type";

bool is_given(KSP ksp, const char* option) {
  const char* prefix = nullptr;
  PetscBool given = PETSC_FALSE;
  petsc_check(KSPGetOptionsPrefix(ksp, &prefix));
  petsc_check(PetscOptionsHasName(nullptr, prefix, option, &given));
  return given == PETSC_TRUE;
}

Mat assembled_mat_of(KSP ksp) {
  Mat pmat = nullptr;
  petsc_check(KSPGetOperators(ksp, nullptr, &pmat));
  return pmat;
}

// PCReset also gives up the operators.
void reset_pc(KSP ksp) {
  Mat amat = nullptr, pmat = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, &pmat));
  petsc_check(PetscObjectReference(object_of(amat)));
  petsc_check(PetscObjectReference(object_of(pmat)));
  const MatHandle keeps_amat(amat), keeps_pmat(pmat);
  petsc_check(PCReset(pc_of(ksp)));
  petsc_check(KSPSetOperators(ksp, amat, pmat));
}

// Products are made there.
bool is_on_gpu(Mat amat) {
  MatType type = nullptr;
  petsc_check(MatGetType(amat, &type));
  return would_loop_on_gpu(amat) || (type && std::string_view(type).ends_with("cusparse"));
}

double gib(double bytes) { return bytes / (1 << 30); }

}  // namespace

CompleteFactors::CompleteFactors(KSP ksp, const DistributedMatrix& matrix, bool by_symmetry,
                                 bool refined, std::shared_ptr<FactorAnalysis> analysis)
    : ksp_(ksp), matrix_(matrix), by_symmetry_(by_symmetry), analysis_(std::move(analysis)) {
  Mat amat = nullptr;
  petsc_check(KSPGetOperators(ksp, &amat, nullptr));
  wants_cudss_ = refined && is_on_gpu(amat) && !is_given(ksp, kPackageOption);
  if (wants_cudss_)
    why_no_cudss_ = size_of(matrix.comm) > 1 ? "cuDSS serves one rank only" : cudss::why_missing();
  choose();
}

void CompleteFactors::choose() {
  const PC pc = pc_of(ksp_);
  const Mat pmat = assembled_mat_of(ksp_);
  const bool package_is_named = is_given(ksp_, kPackageOption);
  const bool asks_for_symmetric =
      by_symmetry_ ? !exchanges_rows_ && look_at(matrix_).symmetric() : type_of(pc) == PCCHOLESKY;
  if (package_is_named) {
    MatSolverType package = nullptr;
    petsc_check(PCFactorGetMatSolverType(pc, &package));
    by_mumps_ = mumps::has_mumps() && package && std::string_view(package) == MATSOLVERMUMPS;
    by_cudss_ = package && std::string_view(package) == cudss::kPackage;
    if (by_cudss_) cudss::open_library();
    symmetric_ = asks_for_symmetric && (!by_symmetry_ || by_mumps_ || by_cudss_);
  }
  FactorChoice chosen;
  if (!package_is_named) {
    FactorPackages packages = packages_for(pmat);
    packages.cudss = wants_cudss_ && why_no_cudss_.empty();
    chosen = choose_factors(packages, asks_for_symmetric, size_of(matrix_.comm));
    note_ = chosen.note;
    by_cudss_ = chosen.package == cudss::kPackage;
    by_mumps_ = chosen.package == MATSOLVERMUMPS;
    symmetric_ = chosen.symmetric || (!by_symmetry_ && asks_for_symmetric);
  }
  positive_ = by_cudss_ && symmetric_ && !not_positive_ && look_at(matrix_).all_positive();
  if (!by_symmetry_ && symmetric_ && !look_at(matrix_).symmetric())
    fail(ExitCode::usage, "preconditioner {} needs a symmetric matrix, and this one is not; use {}",
         kCholesky, kLu);
  // A PC that has read its options may have begun factors by another package.
  petsc_check(PCSetType(pc, PCNONE));
  petsc_check(PCSetType(pc, symmetric_ ? PCCHOLESKY : PCLU));
  if (!package_is_named) petsc_check(PCFactorSetMatSolverType(pc, chosen.package.c_str()));
  petsc_check(PCSetFromOptions(pc), ExitCode::usage);
}

Mat CompleteFactors::factors() const {
  Mat factors = nullptr;
  petsc_check(PCFactorGetMatrix(pc_of(ksp_), &factors));
  return factors;
}

bool CompleteFactors::has_others() const {
  return by_cudss_ && (positive_ || !is_given(ksp_, kPackageOption));
}

void CompleteFactors::take_others(const std::string& why) {
  reset_pc(ksp_);
  is_set_up_ = false;
  if (positive_) {
    not_positive_ = true;
  } else {
    if (exchanges_rows_ || (!by_symmetry_ && symmetric_)) why_no_cudss_ = why;
    exchanges_rows_ = why_no_cudss_.empty();
  }
  choose();
}

bool CompleteFactors::solve_block(Mat b, Mat x) const {
  if (none_) return false;
  const PetscErrorCode error = MatMatSolve(factors(), b, x);
  return !any_rank(matrix_.comm, error != kPetscSuccess);
}

void CompleteFactors::set_up_by_cudss() {
  const bool loses_symmetry =
      is_set_up_ && symmetric_ && by_symmetry_ && !look_at(matrix_).symmetric();
  if (loses_symmetry || (is_set_up_ && positive_ && !look_at(matrix_).all_positive())) {
    reset_pc(ksp_);
    is_set_up_ = false;
    choose();
  }
  if (!is_set_up_) analyse_by_cudss();
  petsc_check(KSPSetUp(ksp_));
  is_set_up_ = true;
  if (cudss::facts_of(factors()).failed) fail(ExitCode::breakdown, "cuDSS made no factors");
}

void CompleteFactors::analyse_by_cudss() {
  const Mat pmat = assembled_mat_of(ksp_);
  petsc_check(PCFactorSetUpMatSolverType(pc_of(ksp_)), ExitCode::usage);
  const Mat f = factors();
  if (exchanges_rows_) cudss::set_matching(f);
  if (positive_) cudss::set_positive(f);
  MatFactorInfo info;
  petsc_check(MatFactorInfoInitialize(&info));
  petsc_check(symmetric_ ? MatCholeskyFactorSymbolic(f, pmat, nullptr, &info)
                         : MatLUFactorSymbolic(f, pmat, nullptr, nullptr, &info));
  const auto needed = static_cast<double>(cudss::facts_of(f).estimate.device_bytes);
  const auto free = static_cast<double>(device_memory().free_bytes);
  if (needed > free)
    fail(ExitCode::resource,
         "the factors of {} rows may take {:.2f} GiB on the GPU, {:.2f} GiB are free{}",
         matrix_.global_rows(), gib(needed), gib(free),
         has_others()
             ? ""
             : "; petsc: {pc_factor_mat_solver_type: mumps} makes them on the host, or use "
               "an iterative method");
}

void CompleteFactors::set_up() {
  none_.reset();
  null_pivots_ = 0;
  while (by_cudss_) {
    try {
      set_up_by_cudss();
      return;
    } catch (const Error& error) {
      const bool of_memory = error.code() == ExitCode::resource;
      if (of_memory) positive_ = false;  // L D L^T takes as much
      if (!has_others()) throw;
      exchanges_rows_ = exchanges_rows_ || of_memory;
      take_others(error.what());
    }
  }
  const bool loses_symmetry =
      is_set_up_ && symmetric_ && by_symmetry_ && !look_at(matrix_).symmetric();
  // PETSc makes no factors by a MUMPS that has failed.
  if (loses_symmetry || (is_set_up_ && by_mumps_ && mumps::infog(factors(), 1) < 0)) {
    reset_pc(ksp_);
    is_set_up_ = false;
    if (loses_symmetry) choose();
  }
  if (by_mumps_ && !is_set_up_) analyse();
  petsc_check(KSPSetUp(ksp_), ExitCode::usage);
  is_set_up_ = true;
  if (!by_mumps_) return;
  while (asks_for_another_try()) {
    analyse();
    petsc_check(KSPSetUp(ksp_), ExitCode::usage);
  }
  if (mumps::infog(factors(), 1) < 0)
    explain_failure();
  else
    null_pivots_ = mumps::null_pivots(factors());
}

// The KSP gets the PC of the analysis.
void CompleteFactors::analyse() {
  const auto set_controls = [&](Mat f) {
    if (room_ > 0) mumps::set(f, mumps::kMoreRoom, room_);
    if (leaves_out_null_pivots_) mumps::set(f, mumps::kNullPivots, 1);
    if (structural_rank_ >= 0) mumps::set(f, mumps::kPermutation, 0);
  };
  Mat amat = nullptr, pmat = nullptr;
  petsc_check(KSPGetOperators(ksp_, &amat, &pmat));
  const auto given = std::exchange(analysis_, nullptr);
  std::unique_ptr<MumpsAnalysis> found;
  if (given && given->by_minimum_fill->is_symmetric() == symmetric_)
    found = std::move(given->by_minimum_fill);
  else
    found = std::make_unique<MumpsAnalysis>(pmat, symmetric_, MumpsAnalysis::Order::minimum_fill,
                                            set_controls);
  found = with_better_order(std::move(found), pmat, set_controls);
  petsc_check(PCSetOperators(found->pc(), amat, pmat));
  petsc_check(KSPSetPC(ksp_, found->pc()));
  petsc_check(KSPSetOperators(ksp_, amat, pmat));
  petsc_check(PCSetFromOptions(found->pc()), ExitCode::usage);
  analysed_room_ = found->room();
  if (found->has_failed()) return;
  estimate_ = found->estimate();
  require_memory();
}

// The estimate has analysed_room_ within.
void CompleteFactors::require_memory() const {
  const double more = static_cast<double>(100 + std::max(room_, analysed_room_)) /
                      static_cast<double>(100 + analysed_room_);
  const auto mine = static_cast<std::int64_t>(more * estimate_.bytes_here);
  const NodeMemory memory = node_memory(matrix_.comm, mine);
  const auto in_gib = [](std::int64_t bytes) { return gib(static_cast<double>(bytes)); };
  collectively(matrix_.comm, [&] {
    if (mine > memory.own)
      fail(ExitCode::resource,
           "the factors of {} rows may take {:.2f} GiB on this rank, {:.2f} GiB of address space "
           "are left; use more ranks, or raise the limit (ulimit -v), or use an iterative method",
           matrix_.global_rows(), in_gib(mine), in_gib(memory.own));
    if (memory.needed > memory.shared)
      fail(ExitCode::resource,
           "the factors of {} rows may take {:.2f} GiB on this node, {:.2f} GiB are available; use "
           "more nodes, or an iterative method",
           matrix_.global_rows(), in_gib(memory.needed), in_gib(memory.shared));
  });
}

// Changes what the next analysis does where that may help after a failure.
bool CompleteFactors::asks_for_another_try() {
  const Mat f = factors();
  const PetscInt code = mumps::infog(f, 1);
  if (code == mumps::kStructurallySingular && structural_rank_ < 0) {
    // Without the permutation that finds it, the rows of zeros become null pivots: b may be in the
    // range of the matrix.
    structural_rank_ = mumps::infog(f, 2);
    return leaves_out_null_pivots_ = true;
  }
  if (code == mumps::kSingular && !leaves_out_null_pivots_) return leaves_out_null_pivots_ = true;
  if (!mumps::needs_more_room(code)) return false;
  const PetscInt now = std::max(room_, analysed_room_);
  const auto* const more = std::ranges::upper_bound(kMoreRooms, now);
  if (more == kMoreRooms.end()) return false;
  // Pivots that are delayed again and again may be null ones.
  leaves_out_null_pivots_ |= room_ > 0;
  room_ = *more;
  return true;
}

void CompleteFactors::explain_failure() {
  const Mat f = factors();
  const PetscInt code = mumps::infog(f, 1), detail = mumps::infog(f, 2);
  const PetscInt now = std::max(room_, analysed_room_);
  if (code == mumps::kStructurallySingular)
    none_ = {ExitCode::breakdown,
             fmt::format("the matrix is singular: its pattern allows a rank of "
                         "{} of {}",
                         detail, matrix_.global_rows())};
  else if (code == mumps::kSingular)
    none_ = {ExitCode::breakdown, fmt::format("the matrix is singular: after {} of {} pivots only "
                                              "zeros were left",
                                              detail, matrix_.global_rows())};
  else if (code == mumps::kOutOfMemory)
    none_ = {ExitCode::resource,
             fmt::format("MUMPS did not get the memory for the factors ({:.2f} GiB expected on all "
                         "ranks); use more ranks or nodes, or an iterative method",
                         gib(estimate_.bytes))};
  else if (mumps::needs_more_room(code))
    none_ = {
        ExitCode::resource,
        fmt::format("so many pivots are delayed that the factors outgrow the {:.2f} GiB that MUMPS "
                    "had with {} % of room; petsc: {{mat_mumps_icntl_14: {}}} gives more, or use "
                    "an iterative method",
                    gib(estimate_.bytes), now, 2 * now)};
  else
    none_ = {ExitCode::breakdown,
             fmt::format("MUMPS ended with INFOG(1) = {}, INFOG(2) = {}", code, detail)};
}

std::vector<std::string> CompleteFactors::notes() const {
  std::vector<std::string> notes;
  if (!note_.empty()) notes.push_back(note_);
  if (!why_no_cudss_.empty())
    notes.push_back(fmt::format("the factors are made and applied by the CPU: {}", why_no_cudss_));
  const double nnz = static_cast<double>(matrix_.global_nnz);
  if (by_cudss_) {
    const cudss::Facts by = cudss::facts_of(factors());
    const auto entries = static_cast<double>(by.nonzeros);
    notes.push_back(fmt::format(
        "cuDSS {} made {} on the GPU with {:.3g} nonzeros, {:.2g} times those of the matrix: "
        "analysis {:.2g} s, factors {:.2g} s{}{}",
        by.version,
        positive_    ? "L L^T"
        : symmetric_ ? "L D L^T"
                     : "L U",
        entries, nnz > 0 ? entries / nnz : 0, by.analysis_seconds, by.factor_seconds,
        exchanges_rows_ ? ", with rows exchanged ahead, because refinement by others failed" : "",
        by.small_pivots > 0 ? fmt::format(", {} small pivots were replaced", by.small_pivots)
                            : ""));
  }
  if (!by_mumps_ || none_) return notes;
  const double entries = mumps::count(factors(), 29);
  notes.push_back(fmt::format(
      "MUMPS made {} with {:.3g} nonzeros, {:.2g} times those of the matrix, by {:.2g} operations",
      symmetric_ ? "L D L^T" : "L U", entries, nnz > 0 ? entries / nnz : 0,
      mumps::rinfog(factors(), 3)));
  if (room_ > 0)
    notes.push_back(
        fmt::format("pivots were delayed, so that MUMPS needed more room than it had expected; "
                    "petsc: {{mat_mumps_icntl_14: {}}} saves the attempts with less",
                    room_));
  if (null_pivots_ > 0)
    notes.push_back(
        fmt::format("the matrix is singular: its rank is {} of {}", rank(), matrix_.global_rows()));
  return notes;
}

}  // namespace trireme
