// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/factors/mumps.hpp"

#include "base/error.hpp"
#include "petsc/shim.hpp"

namespace trireme::mumps {

#ifdef PETSC_HAVE_MUMPS
bool has_mumps() { return true; }
void set(Mat factors, Control control, PetscInt value) {
  petsc_check(MatMumpsSetIcntl(factors, control, value));
}
PetscInt get(Mat factors, Control control) {
  PetscInt value = 0;
  petsc_check(MatMumpsGetIcntl(factors, control, &value));
  return value;
}
PetscInt infog(Mat factors, PetscInt number) {
  PetscInt value = 0;
  petsc_check(MatMumpsGetInfog(factors, number, &value));
  return value;
}
PetscInt info(Mat factors, PetscInt number) {
  PetscInt value = 0;
  petsc_check(MatMumpsGetInfo(factors, number, &value));
  return value;
}
double rinfog(Mat factors, PetscInt number) {
  PetscReal value = 0;
  petsc_check(MatMumpsGetRinfog(factors, number, &value));
  return value;
}
#else
namespace {
[[noreturn]] void fail_without_mumps() {
  fail(ExitCode::internal, "this PETSc was built without MUMPS");
}
}  // namespace
bool has_mumps() { return false; }
void set(Mat, Control, PetscInt) { fail_without_mumps(); }
PetscInt get(Mat, Control) { fail_without_mumps(); }
PetscInt infog(Mat, PetscInt) { fail_without_mumps(); }
PetscInt info(Mat, PetscInt) { fail_without_mumps(); }
double rinfog(Mat, PetscInt) { fail_without_mumps(); }
#endif

bool needs_more_room(PetscInt code) {
  switch (code) {
    case kWorkArrayTooSmall:
    case kWorkspaceTooSmall:
    case kBufferTooSmall:
    case -12:  // -12, -14, -15: sizes that follow from the other two
    case -14:
    case -15:
    case kSendBufferTooSmall:
    case kReceiveBufferTooSmall:
      return true;
    default:
      return false;
  }
}

double count(Mat factors, PetscInt number) {
  constexpr double kMillion = 1e6;
  const auto value = static_cast<double>(infog(factors, number));
  return value < 0 ? -kMillion * value : value;
}

Estimate estimate_of(Mat factors) {
  constexpr double kMegabyte = 1e6;
  return {.nonzeros = count(factors, 20),
          .operations = rinfog(factors, 1),
          .bytes = kMegabyte * static_cast<double>(infog(factors, 17)),
          .bytes_here = kMegabyte * static_cast<double>(info(factors, 15))};
}

PetscInt null_pivots(Mat factors) { return infog(factors, 28); }

}  // namespace trireme::mumps
