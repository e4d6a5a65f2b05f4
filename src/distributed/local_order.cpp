// SPDX-License-Identifier: BSD-3-Clause
// Orders the pattern of the nodes, and writes the rows of each node in their place.
#include "distributed/local_order.hpp"

#include <algorithm>
#include <cstdlib>

#include "ordering/ordering.hpp"

namespace trireme {
namespace {

CsrMatrix<double> pattern_of_nodes(const CsrView<double>& a, std::int64_t rows_per_node) {
  CsrMatrix<double> nodes;
  nodes.rows = nodes.cols = (a.rows + rows_per_node - 1) / rows_per_node;
  nodes.row_ptr.resize(nodes.rows + 1);
  nodes.row_ptr[0] = 0;
  for (std::int64_t node = 0; node < nodes.rows; ++node) {
    const std::int64_t begin = node * rows_per_node;
    const std::int64_t end = std::min(begin + rows_per_node, a.rows);
    for (std::int32_t k = a.row_ptr[begin]; k < a.row_ptr[end]; ++k)
      nodes.col_idx.push_back(static_cast<std::int32_t>(a.col_idx[k] / rows_per_node));
    const auto first = nodes.col_idx.begin() + nodes.row_ptr[node];
    std::sort(first, nodes.col_idx.end());
    nodes.col_idx.erase(std::unique(first, nodes.col_idx.end()), nodes.col_idx.end());
    nodes.row_ptr[node + 1] = static_cast<std::int32_t>(nodes.col_idx.size());
  }
  return nodes;
}

}  // namespace

bool lacks_locality(MPI_Comm comm, const CsrView<double>& local) {
  double sums[2] = {0, 0};  // of the distances as parts of the rows, of the nonzeros
  if (local.rows > 0) {
    double distance = 0;
    for (std::int64_t row = 0; row < local.rows; ++row)
      for (std::int32_t k = local.row_ptr[row]; k < local.row_ptr[row + 1]; ++k)
        if (local.col_idx[k] != row) {
          distance += static_cast<double>(std::abs(local.col_idx[k] - row));
          ++sums[1];
        }
    sums[0] = distance / static_cast<double>(local.rows);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm);
  return 6 * sums[0] > sums[1];
}

Array<std::int32_t> order_of_nodes(const CsrView<double>& local, std::int64_t rows_per_node) {
  if (rows_per_node == 1) return make_order(Ordering::rcm, local);
  Array<std::int32_t> nodes =
      make_order(Ordering::rcm, pattern_of_nodes(local, rows_per_node).view());
  if (local.rows % rows_per_node != 0) {
    const auto last = std::ranges::find(nodes, static_cast<std::int32_t>(nodes.size()) - 1);
    std::rotate(last, last + 1, nodes.end());
  }
  Array<std::int32_t> order;
  order.reserve(local.rows);
  for (const std::int32_t node : nodes) {
    const std::int64_t begin = node * rows_per_node;
    for (std::int64_t row = begin; row < std::min(begin + rows_per_node, local.rows); ++row)
      order.push_back(static_cast<std::int32_t>(row));
  }
  return order;
}

}  // namespace trireme
