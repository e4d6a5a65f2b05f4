// SPDX-License-Identifier: BSD-3-Clause
// What PETSc counts of the changes of an AIJ matrix: two states of one Mat tell whether its values
// or its nonzero pattern have changed in between.
#pragma once

#include "petsc/mat/aij_blocks.hpp"
#include "petsc/shim.hpp"

namespace trireme {

// The state of one Mat: which object it is, and its counters. PETSc may put a new object in the
// place of a block (MatSetPreallocationCOO does), whose counters begin anew, so that counters say
// nothing without the identity of their object.
class AijState {
 public:
  AijState() = default;  // equal to no state of a matrix
  // Of this rank. `blocks` are those of `aij`.
  AijState(Mat aij, const AijBlocks& blocks);

  bool operator==(const AijState&) const = default;
  bool same_pattern(const AijState& other) const;
  // Whether both are the same state of the whole matrix, which every rank sees alike.
  bool same_whole(const AijState& other) const { return whole_ == other.whole_; }

 private:
  struct Counters {
    PetscObjectId id = 0;
    PetscObjectState changes = -1, pattern_changes = -1;
    double nonzeros = 0;  // of this rank
    bool operator==(const Counters&) const = default;
    bool same_pattern(const Counters& other) const {
      return id == other.id && pattern_changes == other.pattern_changes &&
             nonzeros == other.nonzeros;
    }
  };
  static Counters counters_of(Mat mat);

  Counters whole_, diagonal_, off_diagonal_;
};

}  // namespace trireme
