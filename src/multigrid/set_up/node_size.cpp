// SPDX-License-Identifier: BSD-3-Clause
// A sample of the rows suffices, so that this takes no time beside a set-up on a GPU.
#include "multigrid/set_up/node_size.hpp"

#include <algorithm>
#include <vector>

#include "parallel/collective.hpp"
#include "sparse/csr.hpp"

namespace trireme::multigrid {
namespace {

constexpr std::int64_t kSampled = 1024;  // nodes
constexpr double kNearly = 0.95;
// Neighbours of a node, itself among them. Fewer are no mesh; and where rows have a large part of
// all columns, blocks of any size are full.
constexpr double kLeastNeighbours = 2, kLargestPart = 0.25;

// What a sample of nodes of b rows has, added up.
struct Sample {
  double entries = 0;        // of their rows
  double blocks = 0;         // that these entries touch
  double nodes_of_rows = 0;  // the same, counted row by row
  double nodes = 0;
  bool diagonal = true;  // no entry is off the diagonal of its block
};

class Sampler {
 public:
  explicit Sampler(const CsrMatrix<double>& a) : a_(a) {}

  Sample sample(std::int32_t b) {
    Sample found;
    const std::int64_t nodes = a_.rows / b, step = std::max<std::int64_t>(1, nodes / kSampled);
    for (std::int64_t node = 0; node < nodes; node += step) add(found, node, b);
    return found;
  }

 private:
  // Keeps one of each, and says how many.
  static double distinct(std::vector<std::int64_t>& columns) {
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return static_cast<double>(columns.size());
  }

  void add(Sample& found, std::int64_t node, std::int32_t b) {
    of_node_.clear();
    for (std::int64_t row = node * b; row < (node + 1) * b; ++row) {
      of_row_.clear();
      for (std::int64_t k = a_.row_begin(row); k < a_.row_begin(row + 1); ++k) {
        const std::int64_t column = a_.col_idx[k];
        of_row_.push_back(column / b);
        found.diagonal = found.diagonal && column % b == row % b;
      }
      found.entries += static_cast<double>(of_row_.size());
      found.nodes_of_rows += distinct(of_row_);
      of_node_.insert(of_node_.end(), of_row_.begin(), of_row_.end());
    }
    found.blocks += distinct(of_node_);
    found.nodes += 1;
  }

  const CsrMatrix<double>& a_;
  std::vector<std::int64_t> of_row_, of_node_;  // numbers of nodes
};

bool has_nodes(const CsrMatrix<double>& a, std::int32_t b) {
  if (a.rows % b != 0 || a.rows == 0) return false;
  const Sample s = Sampler(a).sample(b);
  const double neighbours = s.blocks / s.nodes;
  if (neighbours < kLeastNeighbours || neighbours * b > kLargestPart * static_cast<double>(a.rows))
    return false;
  const bool full = s.entries >= kNearly * s.blocks * b * b;
  return full || (s.diagonal && s.nodes_of_rows >= kNearly * s.blocks * b);
}

}  // namespace

std::int32_t find_node_size(const DistributedMatrix& matrix) {
  const CsrMatrix<double>& a = matrix.blocks.local;
  if (matrix.global_rows() == 0) return 1;
  for (std::int32_t b = kLargestNode; b > 1; --b) {
    if (matrix.global_rows() % b != 0) continue;
    const bool fits = matrix.first_row() % b == 0 && (a.rows == 0 || has_nodes(a, b));
    if (!any_rank(matrix.comm, !fits)) return b;
  }
  return 1;
}

}  // namespace trireme::multigrid
