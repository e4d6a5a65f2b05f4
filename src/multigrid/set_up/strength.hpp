// SPDX-License-Identifier: BSD-3-Clause
// Which entries of a level are strong, and the graph of its nodes that they make.
//
// A node is block_size consecutive rows. With |.| the modulus of a number or the Frobenius norm of
// a block, nodes I and J are strongly connected where
//
//   s_IJ > threshold * min(m_I, m_J),   s_IJ = |A_IJ| / sqrt(|A_II| |A_JJ|),   m_I = max s_IK
//                                                                                   K != I
// s is the measure of Vanek, Mandel and Brezina (Computing 56, 1996, section 4.1). The threshold is
// relative, because the s of long rows are small; with it below 1, the largest entry of a row is
// always strong. Entries of a strong block count as strong, entries of the diagonal block too.
#pragma once

#include <cstdint>

#include "base/array.hpp"
#include "multigrid/ranks/extended_rows.hpp"
#include "multigrid/set_up/node_graph.hpp"

namespace trireme::multigrid {

struct Strength {
  NodeGraph graph;  // symmetric
  // By entry of the rows: 1 where it is strong. Empty where all entries are, on this rank.
  Array<std::uint8_t> strong;
};

// Throws Error{input} on every rank for a row whose diagonal entry is 0 or missing, and for a value
// that is not finite. Collective.
Strength find_strength(const ExtendedRows& a, std::int32_t block_size, double threshold);

}  // namespace trireme::multigrid
