// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/factors/direct_forecast.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/stopwatch.hpp"
#include "device/device.hpp"
#include "parallel/collective.hpp"
#include "parallel/node_memory.hpp"
#include "petsc/factors/cudss/library.hpp"
#include "petsc/factors/cudss/package.hpp"
#include "petsc/factors/mumps.hpp"
#include "petsc/factors/package.hpp"
#include "petsc/mat/assembled_mat.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

// Whether the memory suffices on every node and rank. Collective.
bool fits(MPI_Comm comm, double bytes_here) {
  const NodeMemory memory = node_memory(comm, static_cast<std::int64_t>(bytes_here));
  return !any_rank(comm,
                   bytes_here > static_cast<double>(memory.own) || memory.needed > memory.shared);
}

// Where cuDSS would make the factors of method direct if it is there.
bool may_be_by_cudss(const DistributedMatrix& matrix, bool on_gpu) {
  PetscBool named = PETSC_FALSE;
  petsc_check(PetscOptionsHasName(nullptr, nullptr, "-pc_factor_mat_solver_type", &named));
  return on_gpu && named == PETSC_FALSE && size_of(matrix.comm) == 1;
}

// Empty where the analysis fails or the factors do not fit.
std::optional<DirectForecast> forecast_of_cudss(Mat mat, bool symmetric) {
  const Stopwatch watch;
  MatHandle factors;
  MatFactorInfo info;
  petsc_check(MatFactorInfoInitialize(&info));
  const bool analysed =
      MatGetFactor(mat, cudss::kPackage, symmetric ? MAT_FACTOR_CHOLESKY : MAT_FACTOR_LU,
                   factors.put()) == kPetscSuccess &&
      (symmetric ? MatCholeskyFactorSymbolic(factors, mat, nullptr, &info)
                 : MatLUFactorSymbolic(factors, mat, nullptr, nullptr, &info)) == kPetscSuccess;
  if (!analysed) return std::nullopt;
  const cudss::Facts of = cudss::facts_of(factors);
  const auto bytes = static_cast<double>(of.estimate.device_bytes);
  if (bytes > static_cast<double>(device_memory().free_bytes)) return std::nullopt;
  const double nonzeros =
      of.nonzeros > 0 ? static_cast<double>(of.nonzeros) : bytes / sizeof(double);
  const CudssSeconds seconds = expected_of_cudss(0, nonzeros, 1);
  return DirectForecast{.analysis_seconds = watch.seconds(),
                        .nonzeros = nonzeros,
                        .operations = 0,
                        .bytes = bytes,
                        .fits = true,
                        .factor_seconds = seconds.factors,
                        .solve_seconds = seconds.solve,
                        .by_cudss = true};
}

}  // namespace

// cuDSS 0.7.1 and 1.0.0 on an H100 (docs/performance/complete-factors.md): 42 M, 131 M and 358 M
// nonzeros were made in 0.07, 0.14 and 0.26 s, and applied for the first time in 0.038, 0.041 and
// 0.057 s. The analyses of eight matrices took 0.2 to 1.6 s with 16 threads and 0.3 to 8 s with
// one, 0.4 to 1.2 times what this says.
CudssSeconds expected_of_cudss(double nonzeros_of_matrix, double nonzeros_of_factors, int threads) {
  constexpr double kStart = 0.2, kPerEntry = 2e-6, kSerial = 0.12;
  constexpr double kFactors = 0.04, kPerNonzero = 6.5e-10;
  constexpr double kSolve = 0.01, kSolvePerNonzero = 1.2e-10;
  return {.analysis = kStart + kPerEntry * nonzeros_of_matrix * (kSerial + (1 - kSerial) / threads),
          .factors = kFactors + kPerNonzero * nonzeros_of_factors,
          .solve = kSolve + kSolvePerNonzero * nonzeros_of_factors};
}

// By minimum fill, the order of elimination is found in about linear time, but for graphs with many
// rows that are much longer than others. Rows beyond 10 sqrt(n) are set aside. Fitted to 76
// matrices of 180 to 115,000 rows: most took 0.4 to 2 times this.
double expected_forecast_seconds(const DistributedMatrix& matrix, bool on_gpu) {
  if (may_be_by_cudss(matrix, on_gpu) && cudss::seems_installed())
    return expected_of_cudss(static_cast<double>(matrix.global_nnz), 0, omp_get_max_threads())
        .analysis;
  constexpr double kAtLeast = 1e-3, kPerRow = 2.5e-7, kPerNonzero = 6e-8;
  constexpr double kPerPairOfALongRow = 4e-8;
  constexpr double kLong = 8, kSetAside = 10;  // times the mean, times sqrt(n)
  const auto rows = static_cast<double>(std::max<std::int64_t>(1, matrix.global_rows()));
  const double nnz = static_cast<double>(matrix.global_nnz), mean = nnz / rows;
  double pairs = 0;
  for (const SplitRows::Rows& part : matrix.blocks.rows_by_blocks())
    for (std::int64_t i = 0; i < part.local.rows; ++i) {
      double length = part.local.row_ptr[i + 1] - part.local.row_ptr[i];
      if (part.ghost.nnz() > 0) length += part.ghost.row_ptr[i + 1] - part.ghost.row_ptr[i];
      if (length > kLong * mean && length <= kSetAside * std::sqrt(rows)) pairs += length * length;
    }
  MPI_Allreduce(MPI_IN_PLACE, &pairs, 1, MPI_DOUBLE, MPI_SUM, matrix.comm);
  return kAtLeast + kPerRow * rows + kPerNonzero * nnz + kPerPairOfALongRow * pairs;
}

std::optional<DirectForecast> forecast_direct(
    const std::shared_ptr<const DistributedMatrix>& matrix, bool symmetric, bool on_gpu) {
  const Stopwatch watch;
  auto analysis = std::make_shared<FactorAnalysis>();
  analysis->entries = std::make_unique<AssembledMat>(matrix, AijUse::preconditioner);
  const Mat mat = analysis->entries->mat();
  if (may_be_by_cudss(*matrix, on_gpu) && cudss::why_missing().empty())
    if (auto forecast = forecast_of_cudss(mat, symmetric)) return forecast;
  const FactorPackages packages = packages_for(mat);
  const bool half = symmetric && packages.mumps_cholesky;
  if (!half && !packages.mumps_lu) return std::nullopt;
  auto first =
      std::make_unique<MumpsAnalysis>(mat, half, MumpsAnalysis::Order::minimum_fill, nullptr);
  if (first->has_failed()) return std::nullopt;
  if (!fits(matrix->comm, first->estimate().bytes_here))
    first = with_better_order(std::move(first), mat, nullptr);
  const mumps::Estimate& of = first->estimate();
  DirectForecast forecast{.nonzeros = of.nonzeros,
                          .operations = of.operations,
                          .bytes = of.bytes,
                          .fits = fits(matrix->comm, of.bytes_here),
                          .factor_seconds = first->factor_seconds(),
                          .solve_seconds = first->solve_seconds()};
  analysis->by_minimum_fill = std::move(first);
  forecast.analysis = std::move(analysis);
  forecast.analysis_seconds = max_over_ranks(matrix->comm, watch.seconds());
  return forecast;
}

}  // namespace trireme
