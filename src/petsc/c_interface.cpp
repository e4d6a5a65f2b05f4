// SPDX-License-Identifier: BSD-3-Clause
// The functions of include/trireme/petsc.h. They are together in one file, so that the shared
// library, which needs one of them, takes all of them.
#include <fmt/format.h>
#include <trireme/petsc.h>

#include <cstdio>
#include <string>

#include "parallel/collective.hpp"
#include "petsc/ksp/ksp_types.hpp"
#include "petsc/ksp/petsc_kind.hpp"
#include "petsc/mat/aij_blocks.hpp"
#include "petsc/mat/mat_trireme.hpp"

namespace trireme {
namespace {

// Changes the settings of a Mat of type trireme by change(settings); any other Mat is left alone.
template <class Change>
PetscErrorCode change_settings(Mat mat, Change&& change) {
  return petsc_guard(comm_of(mat), [&] {
    if (!is_trireme(mat)) return;
    ProductSettings settings = products_of(mat).settings();
    change(settings);
    set_products(mat, settings);
  });
}

// MatCopy compares no more than the numbers of nonzeros. A type other than AIJ is copied by way of
// MatSetValues.
void require_same_places(Mat from, Mat to) {
  if (!is_aij(from)) return;
  PetscInt sizes[2][2] = {};
  for (int k = 0; k < 2; ++k)
    petsc_check(MatGetLocalSize(k == 0 ? from : to, &sizes[k][0], &sizes[k][1]));
  const bool same = sizes[0][0] == sizes[1][0] && sizes[0][1] == sizes[1][1] &&
                    same_places(blocks_of(from), blocks_of(to));
  if (any_rank(comm_of(to), !same))
    fail(ExitCode::usage,
         "MatTriremeUpdateValues: the two matrices have their nonzeros at different places; make a "
         "new matrix by MatCreateTrireme");
}

// Refuses a PETSc of another kind than that of the headers. Returns success where there is nothing
// to refuse.
PetscErrorCode require_own_petsc() {
  const PetscKind running = kind_of_running_petsc();
  const std::string why = why_petsc_is_refused(kind_of_compiled_petsc(), running);
  if (why.empty()) return kPetscSuccess;
  if (running.initialized) fail(ExitCode::usage, "{}", why);
  fmt::print(stderr, "{}\n", why);  // PETSc's handlers of errors need a PETSc that is initialized
  return PETSC_ERR_ORDER;
}

}  // namespace
}  // namespace trireme

PetscErrorCode TriremeInitializePackage() {
  PetscErrorCode refusal = trireme::kPetscSuccess;
  const PetscErrorCode error =
      trireme::petsc_guard(PETSC_COMM_SELF, [&] { refusal = trireme::require_own_petsc(); });
  if (error != trireme::kPetscSuccess) return error;
  if (refusal != trireme::kPetscSuccess) return refusal;
  return trireme::petsc_guard(PETSC_COMM_SELF, [] {
    trireme::register_mat_types();
    trireme::register_resident_types();
  });
}

PetscErrorCode MatCreateTrireme(Mat assembled, const char kernel[], const char device[],
                                const char precision[], Mat* trireme) {
  using namespace trireme;
  return petsc_guard(comm_of(assembled), [&] {
    petsc_check(TriremeInitializePackage());
    ProductSettings settings;
    if (kernel) settings.kernel = kernel_of_word(kernel);
    if (device) settings.device = device_of_word(device);
    if (precision) settings.precision = precision_of_word(precision);
    MatHandle made;
    petsc_check(MatConvert(assembled, MATTRIREME, MAT_INITIAL_MATRIX, made.put()));
    set_products(made, settings);
    *trireme = made.release();
  });
}

PetscErrorCode MatTriremeUpdateValues(Mat trireme, Mat assembled) {
  return trireme::petsc_guard(trireme::comm_of(assembled), [&] {
    if (!trireme::is_trireme(trireme))
      trireme::fail(trireme::ExitCode::usage,
                    "MatTriremeUpdateValues: the first matrix is not of type trireme");
    trireme::require_same_places(assembled, trireme);
    trireme::petsc_check(MatCopy(assembled, trireme, SAME_NONZERO_PATTERN));
  });
}

PetscErrorCode MatTriremeSetKernel(Mat mat, const char kernel[]) {
  return trireme::change_settings(
      mat, [&](auto& settings) { settings.kernel = trireme::kernel_of_word(kernel); });
}

PetscErrorCode MatTriremeSetDevice(Mat mat, const char device[]) {
  return trireme::change_settings(
      mat, [&](auto& settings) { settings.device = trireme::device_of_word(device); });
}

PetscErrorCode MatTriremeSetPrecision(Mat mat, const char precision[]) {
  return trireme::change_settings(
      mat, [&](auto& settings) { settings.precision = trireme::precision_of_word(precision); });
}
