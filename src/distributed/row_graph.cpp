// SPDX-License-Identifier: BSD-3-Clause
// The lists of A, and those of A^T where A is not structurally symmetric.
#include "distributed/row_graph.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/split_mix.hpp"
#include "parallel/collective.hpp"
#include "parallel/secret_numbers.hpp"

namespace trireme {
namespace {

struct Edge {
  std::int32_t from, to;
};

// Calls visit(vertex of this rank, global vertex) for each entry outside the diagonal blocks.
template <class Visit>
void for_each_edge(const RowSlab& slab, std::int64_t rows_per_vertex, const Visit& visit) {
  const CsrView<double> a = slab.local.view();
  const std::int64_t first = slab.first_row / rows_per_vertex;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t vertex = row / rows_per_vertex;
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      if (const std::int64_t to = a.col_idx[k] / rows_per_vertex; to != first + vertex)
        visit(vertex, to);
  }
}

std::uint64_t hash_of(std::uint64_t from, std::uint64_t to, std::uint64_t key) {
  return mix_bits((from << 32 | to) + key);
}

// The hashes of all edges (i, j) less those of (j, i) add up to zero where each edge has its
// mirror.
bool has_symmetric_structure(MPI_Comm comm, const RowGraph& graph) {
  const std::uint64_t first = graph.vertex_starts[rank_of(comm)];
  const std::uint64_t key = secret_number(comm);
  std::uint64_t sum = 0;
  for (std::int64_t v = 0; v < graph.vertices(); ++v)
    for (std::int32_t k = graph.offsets[v]; k < graph.offsets[v + 1]; ++k) {
      const auto to = static_cast<std::uint64_t>(graph.neighbours[k]);
      sum += hash_of(first + v, to, key) - hash_of(to, first + v, key);
    }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  return sum == 0;
}

// The lists without repetitions. `for_each` calls the function that it is given with each edge, and
// is called twice.
template <class Edges>
void make_lists(RowGraph& graph, const Edges& for_each) {
  const std::int64_t vertices = graph.vertices();
  Array<std::int64_t> ends(vertices + 1, 0);
  for_each([&](std::int64_t vertex, std::int64_t) { ++ends[vertex + 1]; });
  for (std::int64_t v = 0; v < vertices; ++v) ends[v + 1] += ends[v];
  if (ends[vertices] > std::numeric_limits<std::int32_t>::max())
    fail(ExitCode::resource,
         "the graph of the matrix has {} edges on a rank, and 2^31-1 is the maximum; use more "
         "ranks, or distribution: rows",
         ends[vertices]);
  Array<std::int32_t> lists(ends[vertices]);
  for_each([&](std::int64_t vertex, std::int64_t to) {
    lists[ends[vertex]++] = static_cast<std::int32_t>(to);
  });
  graph.offsets.assign(vertices + 1, 0);
  std::int64_t begin = 0, kept = 0;
  for (std::int64_t v = 0; v < vertices; ++v) {
    const auto list = lists.begin() + begin, end = lists.begin() + ends[v];
    if (!std::is_sorted(list, end)) std::sort(list, end);
    const auto last = std::unique(list, end);
    kept = std::move(list, last, lists.begin() + kept) - lists.begin();
    graph.offsets[v + 1] = static_cast<std::int32_t>(kept);
    begin = ends[v];
  }
  lists.resize(kept);
  graph.neighbours = std::move(lists);
}

// The mirrors of all edges of all ranks that lead to this rank's vertices. Collective.
Array<Edge> mirrors(MPI_Comm comm, const RowGraph& graph) {
  const int ranks = size_of(comm);
  const auto& starts = graph.vertex_starts;
  const std::int64_t first = starts[rank_of(comm)];
  const auto owner = [&](std::int64_t vertex) {
    return std::upper_bound(starts.begin(), starts.end(), vertex) - starts.begin() - 1;
  };
  std::vector<int> send(ranks, 0), receive(ranks, 0), send_at(ranks, 0), receive_at(ranks, 0);
  Array<Edge> packed, arrived;
  collectively(comm, [&] {
    for (const std::int32_t to : graph.neighbours) ++send[owner(to)];
    for (int r = 1; r < ranks; ++r) send_at[r] = send_at[r - 1] + send[r - 1];
    packed.resize(graph.neighbours.size());
    std::vector<int> next = send_at;
    for (std::int64_t v = 0; v < graph.vertices(); ++v)
      for (std::int32_t k = graph.offsets[v]; k < graph.offsets[v + 1]; ++k) {
        const std::int32_t to = graph.neighbours[k];
        packed[next[owner(to)]++] = {.from = to, .to = static_cast<std::int32_t>(first + v)};
      }
  });
  MPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, comm);
  collectively(comm, [&] {
    std::int64_t all = 0;
    for (int r = 0; r < ranks; ++r) {
      receive_at[r] = static_cast<int>(all);
      all += receive[r];
    }
    if (all > std::numeric_limits<std::int32_t>::max())
      fail(ExitCode::resource,
           "a rank would get {} edges of the graph of the matrix, and 2^31-1 is the maximum; use "
           "more ranks, or distribution: rows",
           all);
    arrived.resize(all);
  });
  MPI_Alltoallv(packed.data(), send.data(), send_at.data(), MPI_2INT, arrived.data(),
                receive.data(), receive_at.data(), MPI_2INT, comm);
  return arrived;
}

}  // namespace

RowGraph row_graph(MPI_Comm comm, const RowSlab& slab, std::span<const std::int64_t> row_starts,
                   std::int64_t rows_per_vertex) {
  RowGraph graph;
  graph.rows_per_vertex = rows_per_vertex;
  collectively(comm, [&] {
    for (const std::int64_t start : row_starts)
      graph.vertex_starts.push_back((start + rows_per_vertex - 1) / rows_per_vertex);
    const int rank = rank_of(comm);
    const CsrView<double> a = slab.local.view();
    graph.weights.resize(graph.vertex_starts[rank + 1] - graph.vertex_starts[rank]);
    for (std::int64_t v = 0; v < graph.vertices(); ++v) {
      const std::int64_t begin = v * rows_per_vertex;
      const std::int64_t end = std::min(begin + rows_per_vertex, a.rows);
      graph.weights[v] = std::max(1, a.row_ptr[end] - a.row_ptr[begin]);
    }
    make_lists(graph, [&](const auto& visit) { for_each_edge(slab, rows_per_vertex, visit); });
  });
  if (has_symmetric_structure(comm, graph)) return graph;
  const Array<Edge> others = mirrors(comm, graph);
  collectively(comm, [&] {
    const std::int64_t first = graph.vertex_starts[rank_of(comm)];
    make_lists(graph, [&](const auto& visit) {
      for_each_edge(slab, rows_per_vertex, visit);
      for (const Edge& edge : others) visit(edge.from - first, edge.to);
    });
  });
  return graph;
}

}  // namespace trireme
