// SPDX-License-Identifier: BSD-3-Clause
// PETSc's AIJ matrix as a distributed matrix: the diagonal block of a rank is the local block, the
// off-diagonal block is the ghost block, and PETSc's column map lists the ghosts.
#pragma once

#include <memory>

#include "distributed/distributed_matrix.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// The sequential matrices that an AIJ matrix consists of on this rank. Borrowed from the Mat, and
// valid until its nonzero pattern changes.
struct AijBlocks {
  Mat diagonal = nullptr;                   // the matrix itself where its type is sequential
  Mat off_diagonal = nullptr;               // null where the type is sequential
  const PetscInt* ghost_columns = nullptr;  // ascending; as many as off_diagonal has columns
};
AijBlocks blocks_of(Mat aij);

// Whether the type of a Mat is AIJ or a kind of it.
bool is_aij(Mat mat);

// True where the matrix is square and its rows and columns are split alike over the ranks, as
// DistributedMatrix wants it. The same on every rank, without communication.
bool split_alike(Mat aij);

// Whether two AIJ matrices of the same sizes and layouts have their entries at the same places on
// this rank.
bool same_places(const AijBlocks& a, const AijBlocks& b);

// Copies the assembled matrix. Throws Error{resource} on every rank where 32-bit column ids or
// offsets do not suffice. Collective.
std::shared_ptr<DistributedMatrix> distributed_matrix_of(Mat aij);

// Copies the values alone into a matrix that distributed_matrix_of() made when `aij` had the same
// pattern. Throws Error{internal} where this rank has another number of nonzeros.
void copy_values(const AijBlocks& from, SplitRows& to);

}  // namespace trireme
