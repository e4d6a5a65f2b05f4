// SPDX-License-Identifier: BSD-3-Clause
// A multilevel method whose first levels are Trireme's: PT-Scotch alone takes several times the
// memory of the matrix. The coarsest graph goes to MatPartitioning as an adjacency matrix.
#include "petsc/graph_partition.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/free_memory.hpp"
#include "parallel/collective.hpp"
#include "parallel/node_memory.hpp"
#include "partitioning/coarse_graph.hpp"
#include "partitioning/matching.hpp"
#include "partitioning/refine_parts.hpp"
#include "petsc/shim.hpp"

namespace trireme {
namespace {

using PartitioningHandle = PetscHandle<MatPartitioning, MatPartitioningDestroy>;
using IndexSetHandle = PetscHandle<IS, ISDestroy>;

#if defined(PETSC_HAVE_PTSCOTCH)
constexpr std::string_view kPartitioner = "PT-Scotch";
constexpr const char* kType = MATPARTITIONINGPTSCOTCH;
#elif defined(PETSC_HAVE_PARMETIS)
constexpr std::string_view kPartitioner = "ParMETIS";
constexpr const char* kType = MATPARTITIONINGPARMETIS;
#else
constexpr std::string_view kPartitioner;
constexpr const char* kType = MATPARTITIONINGCURRENT;
#endif

// Graphs of pairs, of pairs of pairs, and so on before the library.
constexpr int kLevels = 3;
// Per part; the library gets smaller graphs as they are.
constexpr std::int64_t kFewVertices = 2000;
// A mesh has at most so many neighbours per vertex, and a vertex at most so many times the mean.
// Pairs of other graphs led to more edges between parts than the library finds alone.
constexpr double kMostNeighbours = 32, kMostTimesTheMean = 16;
// The heaviest pair has at most this share of the weight of a part, so that parts can be balanced.
constexpr std::int64_t kPairsPerPart = 200;
// The heaviest part that moves of single vertices may make, in mean weights of a part.
constexpr double kImbalance = 1.02;

// Whether PT-Scotch's integers are as wide as PETSc's, which hands them over as they are. Debian
// has PT-Scotch with 32 bits only, and its PETSc of 64-bit indices would hang or crash there.
bool scotch_counts_as_petsc() {
#if defined(PETSC_HAVE_PTSCOTCH)
  using SizeOfInteger = int (*)();
  const auto size = reinterpret_cast<SizeOfInteger>(::dlsym(RTLD_DEFAULT, "SCOTCH_numSizeof"));
  return size ? size() == static_cast<int>(sizeof(PetscInt)) : sizeof(PetscInt) == 4;
#else
  return true;
#endif
}

std::int64_t sum_of(std::span<const std::int32_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

// A copy that PETSc may free.
PetscInt* in_petsc_memory(std::span<const std::int32_t> numbers) {
  PetscInt* copy = nullptr;
  petsc_check(PetscMalloc((numbers.size() + 1) * sizeof(PetscInt), &copy));
  std::ranges::copy(numbers, copy);
  return copy;
}

// Whether pairs of vertices are to be made before the library works. Collective.
bool worth_pairing(MPI_Comm comm, const RowGraph& graph, int parts) {
  std::int64_t longest = 0;
  for (std::int64_t v = 0; v < graph.vertices(); ++v)
    longest = std::max<std::int64_t>(longest, graph.offsets[v + 1] - graph.offsets[v]);
  const double most = max_over_ranks(comm, static_cast<double>(longest));
  const auto vertices = graph.vertex_starts.back();
  const double mean = static_cast<double>(sum_over_ranks(comm, std::ssize(graph.neighbours))) /
                      static_cast<double>(vertices);
  return vertices >= kFewVertices * parts && mean <= kMostNeighbours &&
         most <= kMostTimesTheMean * mean;
}

// The libraries hang or crash where memory is missing while they work. What PT-Scotch was seen to
// need beside the graph: docs/decisions/20-rows-move-before-all-else.md. Collective.
void require_memory(MPI_Comm comm, const RowGraph& graph, bool by_pairs) {
  const auto edges = std::ssize(graph.neighbours), vertices = graph.vertices();
  const std::int64_t mine = by_pairs ? 20 * edges + 24 * vertices : 32 * edges + 40 * vertices;
  const NodeMemory memory = node_memory(comm, mine);
  collectively(comm, [&] {
    if (mine > memory.own || memory.needed > memory.shared)
      fail(ExitCode::resource,
           "partitioning the graph of the matrix takes about {:.3g} GB on this rank and {:.3g} GB "
           "on this node, of which {:.3g} and {:.3g} GB are available; use more nodes, or "
           "distribution: rows",
           1e-9 * static_cast<double>(mine), 1e-9 * static_cast<double>(memory.needed),
           1e-9 * static_cast<double>(memory.own), 1e-9 * static_cast<double>(memory.shared));
  });
}

// PT-Scotch 7 starts threads that call MPI at the same time, and hangs where MPI does not allow
// that.
void keep_scotch_to_one_thread() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread of the program works in the meantime.
  if (provided < MPI_THREAD_MULTIPLE) ::setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
}

// The libraries add all weights in their own integers, which may have 32 bits. Divides the weights,
// so that these sums fit. Collective.
void make_sum_small(MPI_Comm comm, Array<std::int32_t>& weights) {
  constexpr std::int64_t kMaxSum = std::numeric_limits<std::int32_t>::max() / 4;
  const std::int64_t unit = sum_over_ranks(comm, sum_of(weights)) / kMaxSum + 1;
  for (std::int32_t& weight : weights)
    weight = static_cast<std::int32_t>(std::max<std::int64_t>(1, weight / unit));
}

// Of a graph with at most as many vertices as parts: each has a part of its own. PT-Scotch 7 waits
// for ever on some graphs without vertices. Collective.
Array<std::int32_t> one_part_per_vertex(MPI_Comm comm, const RowGraph& graph) {
  Array<std::int32_t> owners;
  collectively(comm, [&] {
    owners.resize(graph.vertices());
    const auto first = static_cast<std::int32_t>(graph.vertex_starts[rank_of(comm)]);
    std::iota(owners.begin(), owners.end(), first);
  });
  return owners;
}

// Collective.
Array<std::int32_t> parts_by_library(MPI_Comm comm, RowGraph&& graph, int parts) {
  const bool weighted = graph.has_edge_weights;
  make_sum_small(comm, graph.weights);
  make_sum_small(comm, graph.edge_weights);
  const auto vertices = static_cast<PetscInt>(graph.vertices());
  PetscInt *offsets = nullptr, *neighbours = nullptr, *weights = nullptr, *edge_weights = nullptr;
  collectively(comm, [&] {
    offsets = in_petsc_memory(graph.offsets);
    let_go(graph.offsets);
    neighbours = in_petsc_memory(graph.neighbours);
    let_go(graph.neighbours);
    weights = in_petsc_memory(graph.weights);
    let_go(graph.weights);
    if (weighted) edge_weights = in_petsc_memory(graph.edge_weights);
    let_go(graph.edge_weights);
  });
  keep_scotch_to_one_thread();
  Array<std::int32_t> owners;
  MatHandle adjacency;
  petsc_check(MatCreateMPIAdj(comm, vertices, static_cast<PetscInt>(graph.vertex_starts.back()),
                              offsets, neighbours, edge_weights, adjacency.put()));
  PartitioningHandle partitioning;
  petsc_check(MatPartitioningCreate(comm, partitioning.put()));
  petsc_check(MatPartitioningSetType(partitioning, kType));
  petsc_check(MatPartitioningSetAdjacency(partitioning, adjacency));
  petsc_check(MatPartitioningSetVertexWeights(partitioning, weights));
  petsc_check(MatPartitioningSetUseEdgeWeights(partitioning, weighted ? PETSC_TRUE : PETSC_FALSE));
  petsc_check(MatPartitioningSetNParts(partitioning, parts));
  petsc_check(MatPartitioningSetFromOptions(partitioning));
  IndexSetHandle parts_of_vertices;
  petsc_check(MatPartitioningApply(partitioning, parts_of_vertices.put()));
  collectively(comm, [&] {
    const PetscInt* indices = nullptr;
    petsc_check(ISGetIndices(parts_of_vertices, &indices));
    owners.resize(vertices);
    std::transform(indices, indices + vertices, owners.begin(),
                   [](PetscInt part) { return static_cast<std::int32_t>(part); });
    petsc_check(ISRestoreIndices(parts_of_vertices, &indices));
  });
  parts_of_vertices.reset();
  partitioning.reset();
  adjacency.reset();
  return_free_memory();  // of the library, before the rows move
  return owners;
}

// A graph, and the pairs that are the vertices of the next one.
struct Level {
  partitioning::WeightedGraph graph;
  Array<std::int32_t> mate;
};

// Pairs vertices, then pairs, and so on; partitions the last graph; and improves the parts of the
// first one vertex by vertex. Of the graphs between them nothing but their halos is kept meanwhile.
// Collective.
Array<std::int32_t> parts_by_levels(MPI_Comm comm, RowGraph&& graph, int parts) {
  const std::int64_t all = sum_over_ranks(comm, sum_of(graph.weights));
  std::vector<Level> levels;
  while (std::ssize(levels) < kLevels) {
    Level& level = levels.emplace_back();
    level.graph = partitioning::in_local_numbers(comm, std::move(graph));
    level.mate = partitioning::heavy_edge_matching(level.graph, all / (kPairsPerPart * parts));
    graph = partitioning::coarse_graph(level.graph, level.mate);
    if (levels.size() > 1) partitioning::forget_edges(level.graph);
    return_free_memory();
  }
  Array<std::int32_t> owners = parts_by_library(comm, std::move(graph), parts);
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    owners = partitioning::parts_of_vertices(level->graph, level->mate, owners);
  const double mean = static_cast<double>(all) / parts;
  const partitioning::WeightedGraph& finest = levels.front().graph;
  partitioning::refine_parts(finest, parts, static_cast<std::int64_t>(kImbalance * mean), owners);
  owners.resize(finest.vertices());
  levels.clear();
  return_free_memory();
  return owners;
}

}  // namespace

std::string_view graph_partitioner() {
  return scotch_counts_as_petsc() ? kPartitioner : std::string_view();
}

Array<std::int32_t> partition_graph(MPI_Comm comm, RowGraph&& graph, int parts) {
  collectively(comm, [&] {
    if (graph_partitioner().empty())
      fail(ExitCode::usage,
           "this PETSc was built without PT-Scotch and ParMETIS of integers as wide as its own, by "
           "one of which a graph is partitioned; use distribution: rows");
  });
  if (graph.vertex_starts.back() <= parts) return one_part_per_vertex(comm, graph);
  const bool by_pairs = worth_pairing(comm, graph, parts);
  require_memory(comm, graph, by_pairs);
  return by_pairs ? parts_by_levels(comm, std::move(graph), parts)
                  : parts_by_library(comm, std::move(graph), parts);
}

}  // namespace trireme
