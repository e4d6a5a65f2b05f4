// SPDX-License-Identifier: BSD-3-Clause
// The numbers that control MUMPS, and those that it gives back, by the names of its users' guide.
// In a PETSc without MUMPS every function but has_mumps() throws Error{internal}.
#pragma once

#include <petscksp.h>

namespace trireme::mumps {

// Whether PETSc was built with MUMPS.
bool has_mumps();

// INFOG(1) of an analysis or a factorisation.
enum Code : PetscInt {
  kWorkArrayTooSmall = -8,  // of integers
  kWorkspaceTooSmall = -9,  // of reals
  kBufferTooSmall = -11,    // for the solution
  kSendBufferTooSmall = -17,
  kReceiveBufferTooSmall = -20,
  kStructurallySingular = -6,  // INFOG(2) is the structural rank
  kSingular = -10,             // INFOG(2) is the number of pivots before it
  kOutOfMemory = -13
};
// Whether a larger ICNTL(14) helps.
bool needs_more_room(PetscInt code);

// ICNTL(number).
enum Control : PetscInt {
  kPermutation = 6,  // to large entries on the diagonal; 0: none
  kMoreRoom = 14,    // per cent beyond the estimate of the analysis
  kNullPivots = 24,  // 1: pivots that are zero are left out
  kNullSpace = 25    // n > 0: a solve gives vector n of the null space
};
void set(Mat factors, Control control, PetscInt value);
PetscInt get(Mat factors, Control control);

PetscInt infog(Mat factors, PetscInt number);
PetscInt info(Mat factors, PetscInt number);  // of this rank
double rinfog(Mat factors, PetscInt number);
// An INFOG that counts, which is in millions where it is negative.
double count(Mat factors, PetscInt number);

// Of the analysis.
struct Estimate {
  double nonzeros = 0;  // of the factors
  double operations = 0;
  double bytes = 0;       // of all ranks
  double bytes_here = 0;  // of this rank
};
Estimate estimate_of(Mat factors);
// How many pivots were zero and left out.
PetscInt null_pivots(Mat factors);

}  // namespace trireme::mumps
