// SPDX-License-Identifier: BSD-3-Clause
// The Mat type "trireme": an AIJ matrix whose products are Trireme's. include/trireme/petsc.h says
// what its users see.
//
//   +--------------------- Mat of type seqaijtrireme or mpiaijtrireme ---------------------+
//   | data and functions of AIJ                  | composed object: TriremeData            |
//   |   MatSetValues, MatGetDiagonal, PCs, ...   |   AijProducts: settings, operator       |
//   |   MatMult, MatMultAdd, MatDestroy, ...  <--+-- the functions of AIJ that ours replace|
//   +--------------------------------------------------------------------------------------+
//
// The names of the types begin with those of AIJ, because PETSc takes a type for a kind of AIJ by
// the beginning of its name (PetscObjectBaseTypeCompare).
#pragma once

#include <memory>

#include "petsc/mat/aij_products.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// After PetscInitialize; further calls in the same PETSc session do nothing.
void register_mat_types();

bool is_trireme(Mat mat);

// What the type keeps; `mat` is of the type.
AijProducts& products_of(Mat mat);

// Changes what is asked of the products. The Mat counts as changed where that differs from before.
void set_products(Mat mat, const ProductSettings& settings);

// The operator for `caller`. Null for a Mat of another type, and for a matrix that AIJ multiplies
// by. Collective.
std::shared_ptr<Operator> trireme_operator(Mat mat, AijProducts::Caller caller);

// The matrix that the products of the type share, without a move to a GPU; null where
// trireme_operator() is null. Collective.
std::shared_ptr<DistributedMatrix> trireme_matrix(Mat mat);

}  // namespace trireme
