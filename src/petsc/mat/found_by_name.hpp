// SPDX-License-Identifier: BSD-3-Clause
// Functions of AIJ that PETSc finds by a name with the types of matrices in it, for a type whose
// matrices are AIJ under another name: MatConvert_seqaij_seqdense_C serves
// MatConvert_seqaijtrireme_seqdense_C.
#pragma once

#include <string>
#include <vector>

#include "petsc/shim.hpp"

namespace trireme {

struct NamedFunction {
  std::string name;
  PetscOperation function;
};

// The conversions from AIJ that are composed with `mat`, under the names for its type. Those to
// kinds of AIJ are left out, because they work on a matrix whose functions are AIJ's own: PETSc
// copies the entries instead.
std::vector<NamedFunction> conversions_of(Mat mat, const std::string& aij, const std::string& type);

// PETSc calls the function of this name where no function is for the types of the factors of a
// product. With this one, the product is that of AIJ: it calls what is composed with one of the
// factors for AIJ in place of the type, and else what another factor does for any type.
inline constexpr const char* kProductOfAnyType = "MatProductSetFromOptions_anytype_C";
PetscErrorCode prepare_product(Mat product);

}  // namespace trireme
