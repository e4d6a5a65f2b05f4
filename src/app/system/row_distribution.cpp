// SPDX-License-Identifier: BSD-3-Clause
// The rule of auto, the cache, and the partitioner.
#include "app/system/row_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "app/system/halo_figures.hpp"
#include "base/split_mix.hpp"
#include "base/stopwatch.hpp"
#include "distributed/local_order.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// The ghosts of a part that is a cube of a grid in three dimensions, times this, are not too many.
constexpr double kSurfaces = 3;
// Seconds that partitioning and moving take per row and nonzero of a rank, and once.
constexpr double kSecondsPerEntry = 1e-6, kSecondsOnce = 0.1;
// The same where the parts are in the cache.
constexpr double kSecondsPerCachedEntry = 0.1e-6;

// The ghosts of a rank whose part is a cube of grid points with neighbours on six sides.
double surface(std::int64_t rows, int ranks) {
  return 6 * std::pow(static_cast<double>(rows) / ranks, 2.0 / 3);
}

double enough_ghosts(const RowSlab& slab, int ranks) {
  return kSurfaces * surface(slab.global_rows, ranks);
}

bool has_many_ghosts(const HaloOutcome& now, const RowSlab& slab, int ranks) {
  return static_cast<double>(now.ghosts) > enough_ghosts(slab, ranks);
}

struct Decision {
  Distribution distribution;
  std::string reason;
};

// Of auto.
Decision decide(const DistributionRequest& request, const RowSlab& slab, int ranks,
                const HaloOutcome& now, bool cached, bool cache_used) {
  const auto rows = [](std::string reason) {
    return Decision{Distribution::rows, std::move(reason)};
  };
  if (!has_many_ghosts(now, slab, ranks))
    return rows(fmt::format("a rank has at most {} ghosts, and more than {:.0f} would be many",
                            now.ghosts, enough_ghosts(slab, ranks)));
  const double entries = static_cast<double>(slab.global_rows + slab.global_nnz) / ranks;
  const double cost = entries * (cached ? kSecondsPerCachedEntry : kSecondsPerEntry) + kSecondsOnce;
  const double saved = 1e-6 * *now.exchange_us * static_cast<double>(request.expected_products) *
                       (1 - surface(slab.global_rows, ranks) / static_cast<double>(now.ghosts));
  const std::string figures = fmt::format(
      "a rank has up to {} ghosts, whose exchange takes {:.3g} us; over {} expected products ({}), "
      "graph partitioning would save about {:.2g} s and take about {:.2g} s",
      now.ghosts, *now.exchange_us, request.expected_products, request.why_so_many, saved, cost);
  if (saved <= cost) return rows(figures);
  if (request.partitioner.empty())
    return rows(figures + ", but this PETSc was built without PT-Scotch and ParMETIS");
  if (request.reproducible && !cached && !cache_used)
    return rows(figures +
                ", but its parts differ from run to run where no cache keeps them "
                "(reproducible: false allows that)");
  return {Distribution::graph, figures};
}

// Machine and threads are no part of it.
CacheKey key_of(const RowSlab& slab, const std::vector<std::int64_t>& row_starts,
                const DistributionRequest& request) {
  std::uint64_t cuts = 0;
  for (const std::int64_t start : row_starts)
    cuts = mix_bits(cuts + kSplitMixStep + static_cast<std::uint64_t>(start));
  CacheKey key(kPlacementKind);
  key.add("pattern", fmt::format("{:016x}", request.pattern))
      .add("rows", slab.global_rows)
      .add("nonzeros", slab.global_nnz)
      .add("ranks", std::ssize(row_starts) - 1)
      .add("row distribution", fmt::format("{:016x}", cuts))
      .add("rows together", request.rows_together)
      .add("partitioner", request.partitioner)
      .add("options", request.options);
  return key;
}

// Rows of a rank keep their order where that has locality. Collective.
Redistribution partitioned(MPI_Comm comm, const RowSlab& slab,
                           const std::vector<std::int64_t>& row_starts,
                           std::int64_t rows_together) {
  Array<std::int32_t> owners =
      partition_graph(comm, row_graph(comm, slab, row_starts, rows_together), size_of(comm));
  Redistribution moved = redistribution_of(comm, row_starts, rows_together, owners);
  const CsrMatrix<double> local = moved.local_pattern(slab);
  if (!lacks_locality(comm, local.view())) return moved;
  Array<std::int32_t> order;
  collectively(comm, [&] { order = order_of_nodes(local.view(), rows_together); });
  return moved.reordered(order);
}

// What an earlier run has kept; null where there is nothing that can be used. Collective.
std::shared_ptr<Redistribution> kept_redistribution(MPI_Comm comm,
                                                    const std::vector<std::int64_t>& row_starts,
                                                    const CacheKey& key, SharedCache& cache) {
  std::optional<CachedPlacement> kept = cache.find_placement(key, row_starts);
  if (!kept) return nullptr;
  try {
    return std::make_shared<Redistribution>(comm, row_starts, std::move(kept->row_starts),
                                            std::move(kept->new_rows));
  } catch (const AgreedError& error) {
    if (error.code() != ExitCode::internal) throw;
    cache.reject_part(key, "does not give each row a place of its own");
    return nullptr;
  }
}

// The rows of all ranks with their new numbers, as one number. Collective.
std::string hash_of(MPI_Comm comm, const Redistribution& moved) {
  std::uint64_t sum = 0;
  auto row = static_cast<std::uint64_t>(moved.from()[rank_of(comm)]);
  for (const std::int32_t number : moved.new_rows())
    sum += mix_bits((row++ << 32 | static_cast<std::uint64_t>(number)) + kSplitMixStep);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  return fmt::format("{:016x}", sum);
}

}  // namespace

RowDistribution choose_distribution(MPI_Comm comm, const RowSlab& slab,
                                    const std::vector<std::int64_t>& row_starts,
                                    const DistributionRequest& request, SharedCache& cache) {
  collectively(comm, [&] {
    if (slab.global_rows != slab.global_cols)
      fail(ExitCode::usage, "only the rows of a square matrix can be partitioned as a graph");
  });
  RowDistribution result;
  DistributionOutcome& o = result.outcome;
  const int ranks = size_of(comm);
  if (ranks == 1) {
    o.reason = "there is one rank";
    return result;
  }
  const bool asked = request.distribution.has_value();
  const bool beyond_32_bits =
      slab.is_wide() || max_over_ranks(comm, slab.local.cuts.empty() ? 0 : 1) > 0;
  if (beyond_32_bits && request.distribution == Distribution::graph)
    collectively(comm, [&] {
      fail(ExitCode::resource,
           "graph partitioning takes at most 2^31-1 rows, and as many nonzeros per rank; use more "
           "ranks, or distribution: rows");
    });
  o.rows = halo_figures(comm, slab, row_starts, request.distribution != Distribution::rows);
  if (request.distribution == Distribution::rows) {
    o.reason = "the case asks for it";
    return result;
  }
  if (asked && request.partitioner.empty()) {
    o.reason =
        "graph partitioning needs a PETSc that was built with PT-Scotch or ParMETIS of integers as "
        "wide as its own, and this one has neither";
    return result;
  }
  if (beyond_32_bits) {
    o.reason = "graph partitioning takes at most 2^31-1 rows, and as many nonzeros per rank";
    return result;
  }
  const CacheKey key = key_of(slab, row_starts, request);
  const Stopwatch watch;
  result.moved = kept_redistribution(comm, row_starts, key, cache);
  o.from_cache = result.moved != nullptr;
  if (!asked) {
    o.expected_products = request.expected_products;
    const Decision decision = decide(request, slab, ranks, o.rows, o.from_cache, cache.used());
    result.products_decided = has_many_ghosts(o.rows, slab, ranks);
    o.reason = decision.reason;
    int graph = decision.distribution == Distribution::graph ? 1 : 0;
    MPI_Bcast(&graph, 1, MPI_INT, 0, comm);
    if (graph == 0) {
      result.moved.reset();
      o.from_cache = false;
      return result;
    }
  } else {
    o.reason = "the case asks for it";
  }
  o.distribution = Distribution::graph;
  o.partitioner = request.partitioner;
  if (!o.from_cache)
    result.moved = std::make_shared<Redistribution>(
        partitioned(comm, slab, row_starts, request.rows_together));
  o.partition_seconds = max_over_ranks(comm, watch.seconds());
  if (!o.from_cache)
    cache.keep_placement(
        key,
        {result.moved->to(), {result.moved->new_rows().begin(), result.moved->new_rows().end()}},
        o.partition_seconds);
  o.placement_hash = hash_of(comm, *result.moved);
  return result;
}

std::shared_ptr<DistributedMatrix> place_rows(MPI_Comm comm, Problem& problem,
                                              RowDistribution& distribution, bool keep_entries) {
  if (!distribution.moved) return distribute(comm, std::move(problem.matrix), problem.row_starts);
  const Stopwatch watch;
  Redistribution& moved = *distribution.moved;
  RowSlab slab = moved.matrix(std::move(problem.matrix), keep_entries);
  for (Array<double>& b : problem.rhs) b = moved.there(b);
  for (Array<double>& x : problem.x_exact) x = moved.there(x);
  if (problem.x0) problem.x0 = moved.there(*problem.x0);
  distribution.outcome.move_seconds = max_over_ranks(comm, watch.seconds());
  const std::int64_t nnz = slab.local.nnz();
  auto matrix = distribute(comm, std::move(slab), moved.to());
  matrix->callers_rows = callers_rows(comm, moved);
  distribution.outcome.graph = halo_figures(comm, matrix->halo, nnz, true);
  return matrix;
}

Array<std::int32_t> callers_rows(MPI_Comm comm, const Redistribution& moved) {
  Array<double> numbers;
  collectively(comm, [&] {
    numbers.resize(moved.rows_before());
    auto row = static_cast<double>(moved.from()[rank_of(comm)]);
    for (double& number : numbers) number = row++;
  });
  const Array<double> there = moved.there(numbers);
  Array<std::int32_t> rows;
  collectively(comm, [&] {
    rows.resize(there.size());
    std::ranges::transform(there, rows.begin(),
                           [](double number) { return static_cast<std::int32_t>(number); });
  });
  return rows;
}

}  // namespace trireme
