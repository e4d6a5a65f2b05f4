// SPDX-License-Identifier: BSD-3-Clause
// The set-up on the GPUs of several ranks makes the levels of the host, to the bit, and takes new
// values. Skips without a GPU. Run on 2 and 3 ranks, which may share a GPU.
#include "multigrid/cuda/rank_set_up.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "distributed/gpu_exchange.hpp"
#include "multigrid/cuda/rank_hierarchy.hpp"
#include "multigrid/on_gpu.hpp"
#include "multigrid/on_ranks.hpp"
#include "parallel/nodes.hpp"

namespace trireme::multigrid {
namespace {

using test::applied;
using test::generated;
using test::random_rows;
using test::small_levels;
using test::values_of;

class SetUpOnGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device(rank_on_node(MPI_COMM_WORLD));
  }
};

void expect_bits(const DeviceCsr<double>& made, const CsrView<double>& expected) {
  const Stream stream;
  EXPECT_EQ(made.rows, expected.rows);
  const auto same = [&](const auto& there, const auto& here) {
    const auto copy = to_host(there, stream);
    ASSERT_EQ(copy.size(), here.size());
    for (std::size_t k = 0; k < copy.size(); ++k) ASSERT_EQ(copy[k], here[k]) << "number " << k;
  };
  same(made.row_ptr, expected.row_ptr);
  same(made.col_idx, expected.col_idx);
  same(made.values, expected.values);
}

void expect_border(const BorderRows& made, const BorderRows& expected) {
  EXPECT_EQ(made.rows, expected.rows);
  EXPECT_EQ(made.row_ptr, expected.row_ptr);
  EXPECT_EQ(made.columns, expected.columns);
  EXPECT_EQ(made.values, expected.values);
}

void expect_parts(const DeviceLevelParts& made, const HostLevelParts& expected) {
  EXPECT_EQ(made.kind, expected.kind);
  EXPECT_EQ(made.rows, expected.rows);
  if (expected.kind == CycleLevel::Kind::solved) return;
  EXPECT_EQ(made.precision, expected.precision);
  expect_bits(made.a, expected.a);
  expect_bits(made.p, expected.p);
  expect_bits(made.restriction, expected.restriction);
}

void expect_levels(const RankSetUp& there, const Hierarchy& here) {
  const HostRankParts parts = here.rank_parts();
  const std::vector<RankLevel> expected = rank_levels(parts);
  const RankSetUp::ForCycle made = there.for_cycle();
  ASSERT_EQ(made.borders.size(), expected.size());
  ASSERT_EQ(made.levels.size(), expected.size() + parts.whole.size());
  for (std::size_t l = 0; l < made.levels.size(); ++l) {
    SCOPED_TRACE(testing::Message() << "level " << l);
    expect_parts(made.levels[l],
                 l < expected.size() ? expected[l].parts : parts.whole[l - expected.size()]);
    if (l >= expected.size()) continue;
    expect_border(made.borders[l].a, expected[l].a);
    expect_border(made.borders[l].p, expected[l].p);
    expect_border(made.borders[l].others, expected[l].others);
    expect_border(made.borders[l].received, expected[l].received);
    EXPECT_EQ(made.borders[l].to_whole, expected[l].to_whole);
    EXPECT_EQ(made.borders[l].gathering.sources, expected[l].gathering.sources);
  }
  const HierarchyFacts facts = there.facts();
  ASSERT_EQ(facts.levels.size(), here.levels().size());
  for (std::size_t l = 0; l < facts.levels.size(); ++l) {
    const LevelFacts &fact = facts.levels[l], &of_host = here.levels()[l];
    EXPECT_EQ(fact.rows, of_host.rows);
    EXPECT_EQ(fact.nnz, of_host.nnz);
    EXPECT_EQ(fact.replicated, of_host.replicated);
    EXPECT_EQ(fact.prolongator, of_host.prolongator);
    EXPECT_NEAR(fact.spectral_radius, of_host.spectral_radius, 1e-6 * of_host.spectral_radius);
  }
  EXPECT_EQ(facts.remark, here.remark());
  EXPECT_EQ(facts.smoother, here.smoother());
}

Array<double> applied_there(RankHierarchy& m, const Array<double>& r) {
  const Stream stream;
  const auto here = to_device(std::span<const double>(r), stream);
  const DeviceBuffer<double> z(r.size(), stream);
  fill_nan(z.span(), stream);
  m.enqueue(here.view(), z.span(), stream);
  Array<double> result = to_host(z.view(), stream);
  m.check();
  return result;
}

RankHierarchy built_there(const std::shared_ptr<DistributedMatrix>& a, const NearNullspace& modes,
                          const Options& options) {
  return {a, modes, options, [](MPI_Comm comm, const HaloPlan& halo) {
            return make_gpu_exchange(comm, halo, {.way = "mpi"});
          }};
}

// Levels and cycles, before and after new values.
void expect_host(const std::shared_ptr<DistributedMatrix>& a, const Options& options,
                 const NearNullspace& modes = {}) {
  Hierarchy here(a, modes, options);
  RankSetUp there(a, modes, options);
  expect_levels(there, here);
  RankHierarchy cycle = built_there(a, modes, options);
  const Array<double> r = random_rows(*a, 3);
  const auto expect_cycle = [&] {
    const Array<double> expected = applied(here, r), z = applied_there(cycle, r);
    double largest = 0;
    for (const double number : expected) largest = std::max(largest, std::abs(number));
    largest = max_over_ranks(a->comm, largest);
    for (std::size_t i = 0; i < z.size(); ++i)
      ASSERT_NEAR(z[i], expected[i], test::tolerance_of(here) * largest) << "row " << i;
  };
  expect_cycle();
  const Array<double> first = values_of(*a);
  Array<double> values = first;
  for (double& value : values) value *= value > 0 ? 2.0 : 1.9;
  a->replace_values(values);
  here.renew();
  there.renew();
  cycle.renew();
  {
    SCOPED_TRACE("new values");
    expect_levels(there, here);
    expect_cycle();
  }
  a->replace_values(first);
}

TEST_F(SetUpOnGpus, IsThatOfTheHost) {
  for (const auto& [kind, n] : {std::pair("poisson3d", 12), std::pair("convection3d", 9),
                                std::pair("mesh2d", 40), std::pair("diffusion3d", 10)}) {
    SCOPED_TRACE(kind);
    expect_host(generated(MPI_COMM_WORLD, kind, n), small_levels());
  }
}

TEST_F(SetUpOnGpus, IsThatOfTheHostForBlocksAndModes) {
  const auto a = generated(MPI_COMM_WORLD, "elasticity3d", 8, 3);
  Options options = small_levels();
  options.block_size = 3;
  expect_host(a, options);
  options.smoother = Smoother::block_jacobi;
  expect_host(a, options);
  NearNullspace modes{.values = Array<double>(static_cast<std::size_t>(a->local_rows()) * 4),
                      .width = 4};
  for (std::int64_t i = 0; i < a->local_rows(); ++i)
    for (int j = 0; j < 4; ++j)
      modes.values[static_cast<std::size_t>(i * 4 + j)] =
          j < 3 ? (a->first_row() + i) % 3 == j
                : std::sin(0.1 * static_cast<double>(a->first_row() + i));
  expect_host(a, options, modes);
  options.counts_unknowns = true;
  expect_host(a, options, modes);
}

TEST_F(SetUpOnGpus, IsThatOfTheHostForEveryOption) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 12);
  for (int option = 0; option < 8; ++option) {
    SCOPED_TRACE(option);
    Options options = small_levels();
    if (option == 0) options.smoothed_prolongator = false;
    if (option == 1) options.aggressive_levels = 1;
    if (option == 2) options.threshold = 0;
    if (option == 3) options.fill = 0.3;
    if (option == 4) options.fill = 0.05;
    if (option == 5) options.max_levels = 2;
    if (option == 6) options.replicated_rows = 5000;
    if (option == 7) options.precision = Precision::full;
    expect_host(a, options);
  }
}

// Where strength is not mutual, edges are added on both sides of the border.
TEST_F(SetUpOnGpus, IsThatOfTheHostForEdgesWithoutOneBack) {
  Options options = small_levels();
  options.threshold = 0.6;
  expect_host(generated(MPI_COMM_WORLD, "graph", 3000), options);
}

TEST_F(SetUpOnGpus, IsThatOfTheHostForRelaxedConstants) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 12);
  Array<double> values = values_of(*a);
  for (double& value : values) value = std::abs(value);  // rows whose sums are large
  a->replace_values(values);
  expect_host(a, small_levels());
}

TEST_F(SetUpOnGpus, ServesRanksWithoutRows) {
  const int ranks = size_of(MPI_COMM_WORLD);
  const std::int64_t rows = 12 * 12 * 12;
  for (int empty = 0; empty < ranks; ++empty) {
    SCOPED_TRACE(empty);
    std::vector<std::int64_t> starts{0};
    for (int r = 0; r < ranks; ++r)
      starts.push_back(r == empty ? starts.back()
                                  : (r + 1 == ranks || (r + 2 == ranks && empty == r + 1)
                                         ? rows
                                         : starts.back() + rows / ranks));
    const GenerateSpec spec{.kind = "poisson3d", .n = 12};
    const auto rank = static_cast<std::size_t>(rank_of(MPI_COMM_WORLD));
    RowSlab slab = generate(spec, starts[rank], starts[rank + 1]);
    slab.global_nnz = sum_over_ranks(MPI_COMM_WORLD, slab.local.nnz());
    const auto a = distribute(MPI_COMM_WORLD, std::move(slab), starts);
    expect_host(a, small_levels());
    // With modes, constants are not relaxed, on any rank.
    NearNullspace modes{.values = Array<double>(static_cast<std::size_t>(a->local_rows()), 1.0),
                        .width = 1};
    expect_host(a, small_levels(), modes);
  }
}

TEST_F(SetUpOnGpus, NamesTheRowThatItRefuses) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 12);
  Array<double> values = values_of(*a);
  if (rank_of(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1) values.back() = NAN;
  a->replace_values(values);
  const auto message = [&](const auto& build) {
    try {
      build();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const std::string expected = message([&] { Hierarchy here(a, {}, small_levels()); });
  EXPECT_EQ(message([&] { RankSetUp there(a, {}, small_levels()); }), expected);
  EXPECT_NE(expected, "nothing");
}

}  // namespace
}  // namespace trireme::multigrid
