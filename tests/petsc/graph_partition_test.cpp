// SPDX-License-Identifier: BSD-3-Clause
// Parts of the graph of a matrix, and the memory of the graph; run on 1, 2, 3 and 5 ranks.
#include "petsc/graph_partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distributed/matrix_on_ranks.hpp"
#include "distributed/row_graph.hpp"
#include "parallel/collective.hpp"
#include "sparse/generators.hpp"
#include "support/limited_memory.hpp"
#include "support/petsc_environment.hpp"

namespace trireme {
namespace {

using namespace test;

class GraphPartition : public testing::Test {
 protected:
  void SetUp() override {
    if (graph_partitioner().empty()) GTEST_SKIP() << "this PETSc has no library for it";
  }

  // The graph of a generated matrix, whose rows lie on the ranks as a file's do.
  RowGraph graph_of(const GenerateSpec& spec) const {
    const std::int64_t rows = generator_shape(spec).rows;
    const CsrMatrix<double> a = generate(spec, 0, rows).local;
    const std::vector<std::int64_t> starts = row_starts(a, ranks_, Cut::by_nonzeros);
    const int rank = rank_of(MPI_COMM_WORLD);
    return row_graph(MPI_COMM_WORLD, slab_of(a, starts[rank], starts[rank + 1]), starts);
  }

  const int ranks_ = size_of(MPI_COMM_WORLD);
};

// An assignment of {} would leave a second copy of the graph to each rank while the library works.
TEST_F(GraphPartition, LetsGoOfTheCallersGraph) {
  RowGraph graph = graph_of({.kind = "mesh2d", .n = 40});
  ASSERT_GT(graph.neighbours.capacity(), 0u);
  static_cast<void>(partition_graph(MPI_COMM_WORLD, std::move(graph), ranks_));
  // NOLINTBEGIN(bugprone-use-after-move): what is left of it is the question.
  EXPECT_EQ(graph.neighbours.capacity(), 0u);
  EXPECT_EQ(graph.offsets.capacity(), 0u);
  EXPECT_EQ(graph.weights.capacity(), 0u);
  // NOLINTEND(bugprone-use-after-move)
}

TEST_F(GraphPartition, PartsHaveAboutTheSameWeight) {
  for (const int parts : {2, 7}) {
    RowGraph graph = graph_of({.kind = "denserows", .n = 20000});
    const Array<std::int32_t> weights = graph.weights;
    const Array<std::int32_t> owners = partition_graph(MPI_COMM_WORLD, std::move(graph), parts);
    ASSERT_EQ(owners.size(), weights.size());
    std::vector<std::int64_t> sums(parts, 0);
    for (std::size_t v = 0; v < owners.size(); ++v) sums.at(owners[v]) += weights[v];
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), parts, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    std::int64_t all = 0;
    for (const std::int64_t sum : sums) all += sum;
    EXPECT_LE(static_cast<double>(*std::ranges::max_element(sums)),
              1.1 * static_cast<double>(all) / parts);
  }
}

// Edges between parts, from lists that know the parts of all vertices.
std::int64_t edges_cut(const RowGraph& graph, const Array<std::int32_t>& owners) {
  const int ranks = size_of(MPI_COMM_WORLD);
  std::vector<int> counts(ranks), starts(ranks);
  for (int r = 0; r < ranks; ++r) {
    starts[r] = static_cast<int>(graph.vertex_starts[r]);
    counts[r] = static_cast<int>(graph.vertex_starts[r + 1] - graph.vertex_starts[r]);
  }
  std::vector<std::int32_t> all(graph.vertex_starts.back());
  MPI_Allgatherv(owners.data(), static_cast<int>(owners.size()), MPI_INT32_T, all.data(),
                 counts.data(), starts.data(), MPI_INT32_T, MPI_COMM_WORLD);
  std::int64_t cut = 0;
  for (std::int64_t v = 0; v < graph.vertices(); ++v)
    for (std::int32_t k = graph.offsets[v]; k < graph.offsets[v + 1]; ++k)
      cut += all[graph.neighbours[k]] != owners[v] ? 1 : 0;
  return sum_over_ranks(MPI_COMM_WORLD, cut) / 2;
}

// Meshes that are large enough for pairs before the library; the vertices of the first one are
// numbered at random. Straight cuts through both would cut about 1600 and 3200 edges.
TEST_F(GraphPartition, CutsFewEdgesOfMeshes) {
  constexpr int kParts = 4;
  for (const auto& [spec, most] :
       {std::pair{GenerateSpec{.kind = "mesh2d", .n = 200}, std::int64_t{1950}},
        std::pair{GenerateSpec{.kind = "poisson3d", .n = 40}, std::int64_t{5200}}}) {
    RowGraph graph = graph_of(spec), copy = graph;
    const Array<std::int32_t> owners = partition_graph(MPI_COMM_WORLD, std::move(copy), kParts);
    ASSERT_EQ(std::ssize(owners), graph.vertices());
    EXPECT_LE(edges_cut(graph, owners), most) << spec.kind;
    std::vector<std::int64_t> sums(kParts, 0);
    for (std::size_t v = 0; v < owners.size(); ++v) sums.at(owners[v]) += graph.weights[v];
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), kParts, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    const auto mean = static_cast<double>(std::reduce(sums.begin(), sums.end())) / kParts;
    EXPECT_LE(static_cast<double>(*std::ranges::max_element(sums)), 1.03 * mean) << spec.kind;
  }
}

// With no vertex at all, too.
TEST_F(GraphPartition, TakesAtLeastAsManyPartsAsVertices) {
  for (const std::int64_t n : {0, 1, 2}) {
    const std::int64_t vertices = n * n;
    RowGraph graph;
    if (n > 0) {
      graph = graph_of({.kind = "poisson2d", .n = n});
    } else {
      graph.vertex_starts.assign(ranks_ + 1, 0);
      graph.offsets.assign(1, 0);
    }
    for (const int parts : {4, 9}) {
      RowGraph copy = graph;
      Array<std::int32_t> owners = partition_graph(MPI_COMM_WORLD, std::move(copy), parts);
      std::vector<std::int32_t> count(parts, 0);
      for (const std::int32_t owner : owners) ++count.at(owner);
      MPI_Allreduce(MPI_IN_PLACE, count.data(), parts, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
      EXPECT_EQ(std::ranges::count(count, 1), vertices);
      EXPECT_EQ(std::ranges::count(count, 0), parts - vertices);
    }
  }
}

TEST_F(GraphPartition, EveryRankThrowsWhereOneHasNoMemoryForIt) {
  RowGraph graph = graph_of({.kind = "poisson2d", .n = 400});
  std::optional<LimitedMemory> limit;
  if (rank_of(MPI_COMM_WORLD) == ranks_ - 1) limit.emplace(std::size_t{2} << 20);
  try {
    static_cast<void>(partition_graph(MPI_COMM_WORLD, std::move(graph), ranks_ + 1));
    ADD_FAILURE() << "accepted";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_NE(std::string(error.what()).find("distribution: rows"), std::string::npos);
  }
}

}  // namespace
}  // namespace trireme
