// SPDX-License-Identifier: BSD-3-Clause
// MatPartitioning on an adjacency matrix.
#include "petsc/graph_partition.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>

#include "base/free_memory.hpp"
#include "parallel/collective.hpp"
#include "parallel/node_memory.hpp"
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

// Whether PT-Scotch's integers are as wide as PETSc's, which hands them over as they are. Debian has
// PT-Scotch with 32 bits only, and its PETSc of 64-bit indices would hang or crash there.
bool scotch_counts_as_petsc() {
#if defined(PETSC_HAVE_PTSCOTCH)
  using SizeOfInteger = int (*)();
  const auto size = reinterpret_cast<SizeOfInteger>(::dlsym(RTLD_DEFAULT, "SCOTCH_numSizeof"));
  return size ? size() == static_cast<int>(sizeof(PetscInt)) : sizeof(PetscInt) == 4;
#else
  return true;
#endif
}

// A copy that PETSc may free.
PetscInt* in_petsc_memory(std::span<const std::int32_t> numbers) {
  PetscInt* copy = nullptr;
  petsc_check(PetscMalloc((numbers.size() + 1) * sizeof(PetscInt), &copy));
  std::ranges::copy(numbers, copy);
  return copy;
}

// The libraries hang or crash where memory is missing while they work. What PT-Scotch was seen to need
// beside the graph: docs/decisions/20-rows-move-before-all-else.md. Collective.
void require_memory(MPI_Comm comm, const RowGraph& graph) {
  const auto mine =
      static_cast<std::int64_t>(32 * graph.neighbours.size() + 40 * graph.weights.size());
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

// PT-Scotch 7 starts threads that call MPI at the same time, and hangs where MPI does not allow that.
void keep_scotch_to_one_thread() {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread of the program works in the meantime.
  if (provided < MPI_THREAD_MULTIPLE) ::setenv("SCOTCH_PTHREAD_NUMBER", "1", 1);
}

// The libraries add the weights of all vertices in their own integers, which may have 32 bits.
// Collective.
std::int64_t unit_of_weights(MPI_Comm comm, const RowGraph& graph) {
  std::int64_t all = 0;
  for (const std::int32_t weight : graph.weights) all += weight;
  constexpr std::int64_t kMaxSum = std::numeric_limits<std::int32_t>::max() / 4;
  return sum_over_ranks(comm, all) / kMaxSum + 1;
}

// Of a graph with at most as many vertices as parts: each has a part of its own. PT-Scotch 7 waits for
// ever on some graphs without vertices. Collective.
Array<std::int32_t> one_part_per_vertex(MPI_Comm comm, const RowGraph& graph) {
  Array<std::int32_t> owners;
  collectively(comm, [&] {
    owners.resize(graph.vertices());
    const auto first = static_cast<std::int32_t>(graph.vertex_starts[rank_of(comm)]);
    std::iota(owners.begin(), owners.end(), first);
  });
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
  require_memory(comm, graph);
  const std::int64_t unit = unit_of_weights(comm, graph);
  const auto vertices = static_cast<PetscInt>(graph.vertices());
  PetscInt *offsets = nullptr, *neighbours = nullptr, *weights = nullptr;
  collectively(comm, [&] {
    for (std::int32_t& weight : graph.weights)
      weight = static_cast<std::int32_t>(std::max<std::int64_t>(1, weight / unit));
    offsets = in_petsc_memory(graph.offsets);
    let_go(graph.offsets);
    neighbours = in_petsc_memory(graph.neighbours);
    let_go(graph.neighbours);
    weights = in_petsc_memory(graph.weights);
    let_go(graph.weights);
  });
  keep_scotch_to_one_thread();
  Array<std::int32_t> owners;
  MatHandle adjacency;
  petsc_check(MatCreateMPIAdj(comm, vertices, static_cast<PetscInt>(graph.vertex_starts.back()),
                              offsets, neighbours, nullptr, adjacency.put()));
  PartitioningHandle partitioning;
  petsc_check(MatPartitioningCreate(comm, partitioning.put()));
  petsc_check(MatPartitioningSetType(partitioning, kType));
  petsc_check(MatPartitioningSetAdjacency(partitioning, adjacency));
  petsc_check(MatPartitioningSetVertexWeights(partitioning, weights));
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

}  // namespace trireme
