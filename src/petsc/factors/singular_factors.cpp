// SPDX-License-Identifier: BSD-3-Clause
// What complete factors tell of a singular matrix after a solve that has failed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "parallel/collective.hpp"
#include "petsc/factors/complete_factors.hpp"
#include "petsc/vectors.hpp"

namespace trireme {

// A vector that the matrix may map to zero: MUMPS gives it in place of a solution where it has left
// pivots out; else the factors make it of any vector, because they divide by a pivot that is almost
// zero. False: there is none. Collective.
bool CompleteFactors::make_null_vector(Vec v, Vec work) const {
  const Mat f = factors();
  petsc_check(VecSetRandom(work, nullptr));
  PetscErrorCode error = kPetscSuccess;
  if (null_pivots_ > 0) {
    mumps::set(f, mumps::kNullSpace, 1);
    error = MatSolve(f, work, v);
    mumps::set(f, mumps::kNullSpace, 0);
  } else {
    error = MatSolve(f, work, v);
  }
  return !any_rank(matrix_.comm, error != kPetscSuccess);
}

std::optional<std::int64_t> CompleteFactors::unknown_of_null_vector() const {
  constexpr double kRounding = 1e-12;
  Mat pmat = nullptr;
  petsc_check(KSPGetOperators(ksp_, nullptr, &pmat));
  VecHandle v, image, sizes;
  petsc_check(MatCreateVecs(pmat, v.put(), image.put()));
  petsc_check(VecDuplicate(image, sizes.put()));
  if (!make_null_vector(v, image)) return std::nullopt;
  PetscReal largest = 0;
  petsc_check(MatMult(pmat, v, image));
  petsc_check(MatGetRowMaxAbs(pmat, sizes, nullptr));
  petsc_check(VecNorm(v, NORM_INFINITY, &largest));
  const Array<double> of_v = local_values(v), of_image = local_values(image),
                      of_rows = local_values(sizes);
  bool is_zero = largest > 0 && std::isfinite(largest);
  std::int64_t row = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < of_v.size(); ++i) {
    is_zero = is_zero && std::abs(of_image[i]) <= kRounding * of_rows[i] * largest;
    if (std::abs(of_v[i]) == largest)
      row = std::min(row, matrix_.callers_row(static_cast<std::int64_t>(i)));
  }
  MPI_Allreduce(MPI_IN_PLACE, &row, 1, MPI_INT64_T, MPI_MIN, matrix_.comm);
  if (any_rank(matrix_.comm, !is_zero)) return std::nullopt;
  return row;
}

std::string CompleteFactors::about_singularity() const {
  if (!by_mumps_ || none_) return "";
  const std::optional<std::int64_t> unknown = unknown_of_null_vector();
  if (null_pivots_ == 0 && !unknown) return "";
  std::string text = "the matrix is singular";
  if (null_pivots_ > 0)
    text += fmt::format(": its rank is {} of {}", rank(), matrix_.global_rows());
  if (unknown)
    text += fmt::format("{} it maps a vector to zero that is largest in unknown {} (from 0)",
                        null_pivots_ > 0 ? ", and" : " up to rounding:", *unknown);
  return text;
}

}  // namespace trireme
