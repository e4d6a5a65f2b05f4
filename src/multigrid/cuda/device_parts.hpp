// SPDX-License-Identifier: BSD-3-Clause
// The parts of the set-up in GPU memory: what strength.hpp, aggregates.hpp, prolongator.hpp,
// diagonal_repair.hpp and smoother_numbers.hpp do on the host, by the same functors and with the
// same bits where nothing else is said. Every function works in `stream` and may wait for it. A
// build without CUDA has the same functions, which throw Error{resource}.
//
// A function with a RankOfRows is collective where that has other ranks. The columns of its matrix
// are then those of the rank and, behind them, those of the ghost nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"
#include "multigrid/cuda/device_csr_rows.hpp"
#include "multigrid/cuda/device_ghosts.hpp"
#include "multigrid/set_up/dense_inverse.hpp"

namespace trireme::multigrid {

// Throws Error{input} for a row whose diagonal entry is 0 or missing, and for values that are not
// finite.
ScratchBuffer<double> checked_diagonal(const DeviceCsr<double>& a, StreamRef stream,
                                       const RankOfRows& rank = {});

struct DeviceGraph {
  std::int32_t nodes = 0;
  ScratchBuffer<std::int32_t> row_ptr, neighbour;
};

struct DeviceStrength {
  DeviceGraph graph;
  ScratchBuffer<std::uint8_t> strong;  // by entry; empty where all entries are strong
  ScratchBuffer<double> diagonal;      // of the matrix
};
// On several ranks, the graph has the edges of this rank's rows, and is not made symmetric.
DeviceStrength find_strength(const DeviceCsr<double>& a, std::int32_t block_size, double threshold,
                             StreamRef stream, const RankOfRows& rank = {});
// Whether each edge of a graph of several ranks has one back; its neighbours become ascending.
// Ghost g, node graph.nodes + g, is node ghosts[g] of the whole graph, and `key` a number that all
// ranks share and nobody else knows. Collective.
bool is_symmetric_on_ranks(DeviceGraph& graph, std::span<const std::int32_t> ghosts,
                           std::int64_t first_node, std::uint64_t key, const DeviceGhosts& exchange,
                           StreamRef stream);

struct DeviceAggregates {
  ScratchBuffer<std::int32_t> of_node, roots;
  std::int32_t count() const { return static_cast<std::int32_t>(roots.size()); }
};
DeviceAggregates aggregate(const DeviceGraph& graph, bool keep_isolated, StreamRef stream);
DeviceAggregates aggregate_twice(const DeviceGraph& graph, StreamRef stream);
// On several ranks: of_node has global numbers, and `starts` are those of Aggregates. Collective.
DeviceAggregates aggregate_on_ranks(const DeviceGraph& graph, std::int64_t first_node,
                                    const DeviceGhosts& exchange, std::vector<std::int64_t>& starts,
                                    StreamRef stream);

// Row by row, `width` numbers each; width 0 stands for constants.
struct DeviceModes {
  ScratchBuffer<double> values;
  std::int32_t width = 0;
};

struct DeviceTentative {
  ScratchBuffer<double> values;  // empty for constants
  std::int32_t width = 1;
  std::int32_t block_size = 1;
  DeviceModes coarse_modes;
};
DeviceTentative make_tentative(const DeviceAggregates& aggregates, const DeviceModes& modes,
                               std::int32_t block_size, StreamRef stream);

struct DeviceFiltered {
  DeviceCsr<double> a;
  DeviceSpan<const std::uint8_t> strong;
  std::int32_t block_size = 1;
};
ScratchBuffer<double> filtered_diagonal(const DeviceFiltered& f, StreamRef stream);
double filtered_spectral_radius(const DeviceFiltered& f, DeviceSpan<const double> diagonal,
                                StreamRef stream, const RankOfRows& rank = {});

// What relaxed_constants.hpp has on the host; empty: constants stay.
ScratchBuffer<double> relaxed_constants(const DeviceCsr<double>& a, std::int32_t block_size,
                                        StreamRef stream, const RankOfRows& rank = {});
// The values of X A X.
ScratchBuffer<double> scaled_values(const DeviceCsr<double>& a, DeviceSpan<const double> x,
                                    StreamRef stream);
// p = X P
void scale_rows(DeviceSpan<const double> x, DeviceRows& p, StreamRef stream);

struct DeviceProlongatorRules {
  DeviceFiltered a;
  DeviceSpan<const double> diagonal;
  double weight = 0;
  DeviceSpan<const std::int32_t> aggregate_of_node;
  std::int32_t aggregates = 0;
  const DeviceTentative* tentative = nullptr;
};
DeviceRows make_prolongator(const DeviceProlongatorRules& rules, StreamRef stream);
void refill_prolongator(const DeviceProlongatorRules& rules, DeviceRows& p, StreamRef stream);

// Makes entries of `strong` weak that lead to small runs of P (thin_row.hpp; `strong` is made where
// it is empty). Returns how many.
std::int64_t thin(const DeviceCsr<double>& a, std::int32_t block_size,
                  DeviceSpan<const std::int32_t> aggregate_of_node, const DeviceCsr<double>& p,
                  std::int32_t run, double least, ScratchBuffer<std::uint8_t>& strong,
                  StreamRef stream);
// The number of terms of A P, in runs of `run` numbers.
double runs_of_terms(const DeviceCsr<double>& a, const DeviceCsr<double>& p, std::int32_t run,
                     StreamRef stream);

// By row of P^T the sum of p_ic^2 |a_ii|; `diagonal` is that of the fine matrix.
ScratchBuffer<double> column_weights(const DeviceCsr<double>& p_transposed,
                                     DeviceSpan<const double> diagonal, StreamRef stream);
// The largest number, or 0.
double largest_of(DeviceSpan<const double> numbers, StreamRef stream);
// Replaces diagonal entries that are rounding (triple_product.hpp) by these weights, of which
// `largest` is the largest one of all ranks; returns how many there were.
std::int64_t repair_diagonal(DeviceRows& coarse, DeviceSpan<const double> weights, double largest,
                             StreamRef stream);

// Whether FP32 has the range for the values: none is beyond its largest number and, with `rows`, no
// row other than zero has all of its values below its smallest normal one.
bool fits_fp32(const DeviceCsr<double>& a, bool rows, StreamRef stream);

// W of the smoothers. Throw Error{input} as smoother_numbers() does.
void invert_diagonal(const DeviceCsr<double>& a, int level, DeviceSpan<double> inverse,
                     StreamRef stream, const RankOfRows& rank = {});
void invert_l1_diagonal(const DeviceCsr<double>& a, DeviceSpan<double> inverse, StreamRef stream);
void invert_blocks(const DeviceCsr<double>& a, std::int64_t size, int level,
                   DeviceSpan<double> inverse, StreamRef stream, const RankOfRows& rank = {});
// The largest row sum of |a_ij| times the inverse of the diagonal.
double largest_row_sum(const DeviceCsr<double>& a, DeviceSpan<const double> inverse,
                       StreamRef stream);
// The largest eigenvalue of W A that a run of CG sees; 0 if it sees none. Sums and products have an
// order of their own, so that the last bits differ from those of the host.
double estimate_radius(const DeviceCsr<double>& a, DeviceSpan<const double> inverse,
                       std::int64_t block_size, StreamRef stream, const RankOfRows& rank = {},
                       std::int64_t node_size = 1);
// The random test of symmetry.hpp.
bool is_symmetric(const DeviceCsr<double>& a, StreamRef stream, const RankOfRows& rank = {},
                  std::int64_t node_size = 1);

// eliminate() of dense_inverse.hpp on the device, for a matrix in host memory: two short kernels
// per row, which move 16 bytes per entry of the matrix and row.
void eliminate_on_device(Elimination& elimination, StreamRef stream);

}  // namespace trireme::multigrid
