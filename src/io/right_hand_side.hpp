// SPDX-License-Identifier: BSD-3-Clause
// Which right-hand side and which initial guess a problem has: those of its file, unless the case
// names others (docs/file-formats.md, "The right-hand side").
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "config/case.hpp"
#include "io/system_source.hpp"

namespace trireme {

inline constexpr const char* kUsualB = "/b";
inline constexpr const char* kUsualX0 = "/x0";

struct ChosenVectors {
  RightHandSide rhs = MadeRhs::from_ones;
  std::string b;       // for reports: "/b", "can_b.mtx", "other.h5:/c", "from-ones"
  std::string b_note;  // why, in words: "of the file", "the file has no /b"; or empty
  std::string x0;      // the dataset or the file of the initial guess; empty: zero
};

// Looks at the names in the source, and reads no vector. Collective.
ChosenVectors choose_vectors(MPI_Comm comm, const SystemSource& source, const ProblemSpec& spec);

// These rows of right-hand sides that are read. Throws Error{input} for missing data, other
// lengths, and NaN or infinity. Expects `chosen.rhs` to be a dataset or a file. Collective.
std::vector<Array<double>> read_right_hand_sides(MPI_Comm comm, SystemSource& source,
                                                 const ProblemSpec& spec,
                                                 const ChosenVectors& chosen, const RowRange& rows);

// These rows of the initial guess that `chosen.x0` names. Errors as above. Collective.
Array<double> read_initial_guess(MPI_Comm comm, SystemSource& source, const ProblemSpec& spec,
                                 const ChosenVectors& chosen, const RowRange& rows);

}  // namespace trireme
