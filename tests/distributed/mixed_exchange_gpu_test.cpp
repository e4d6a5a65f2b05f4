// SPDX-License-Identifier: BSD-3-Clause
// The mixed exchange brings the bits of the exchange by MPI, for every grouping of ranks. Skips
// without a GPU. The ranks may share a GPU; NCCL then skips, and an exchange takes some
// milliseconds, because the kernels of several processes take turns.
#include "distributed/mixed_exchange.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/graph.hpp"
#include "distributed/exchange_trial.hpp"
#include "distributed/gpus_of_ranks.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/nodes.hpp"
#include "solvers/systems.hpp"
#include "support/random.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using test::Cut;
using test::matrix_on_ranks;

constexpr int kRounds = 4;  // more than the parities of a peer's inbox

// In pairs, in turns, all alone, all together.
std::array<std::vector<int>, 4> groupings() {
  std::array<std::vector<int>, 4> all;
  for (int rank = 0; rank < size_of(MPI_COMM_WORLD); ++rank) {
    const std::array<int, 4> groups = {rank / 2 * 2, rank % 2, rank, 0};
    for (std::size_t k = 0; k < all.size(); ++k) all[k].push_back(groups[k]);
  }
  return all;
}

// Some ranks only send, some have no neighbours, and some none in their group.
std::vector<std::shared_ptr<DistributedMatrix>> matrices() {
  CsrMatrix<double> upper = test::contract_shape<double>("SomeRowsEmpty");
  for (std::int64_t row = 0; row < upper.rows; ++row)
    for (std::int32_t k = upper.row_ptr[row]; k < upper.row_ptr[row + 1]; ++k)
      upper.col_idx[k] = std::max(upper.col_idx[k], static_cast<std::int32_t>(row));
  std::vector<std::shared_ptr<DistributedMatrix>> all;
  for (const CsrMatrix<double>& shape :
       {test::contract_shape<double>("EveryLengthTo600"), std::move(upper), test::grid_matrix(30)})
    for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty})
      all.push_back(matrix_on_ranks(MPI_COMM_WORLD, shape, cut));
  return all;
}

class Mixed : public testing::TestWithParam<ExchangeWay> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU here";
    if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank exchanges nothing";
    select_device(rank_on_node(MPI_COMM_WORLD));
    if (GetParam() == ExchangeWay::nccl && !gpus_that_are_shared(MPI_COMM_WORLD).empty())
      GTEST_SKIP() << "ranks share a GPU, on which their kernels of NCCL wait for each other";
    try {
      const HaloPlan none;
      for (const std::vector<int>& groups : groupings())
        first_.push_back(std::make_shared<MixedExchange>(MPI_COMM_WORLD, none, groups, GetParam()));
    } catch (const Error& error) {
      if (error.code() != ExitCode::resource) throw;
      GTEST_SKIP() << "not possible here: " << error.what();
    }
  }

  // Calls check(exchange) for an exchange of the plan for each grouping.
  template <class Check>
  void for_each_grouping(const HaloPlan& plan, const Check& check) {
    const auto all = groupings();
    for (std::size_t k = 0; k < all.size(); ++k) {
      SCOPED_TRACE("grouping " + std::to_string(k));
      MixedExchange mixed(MPI_COMM_WORLD, plan, all[k], GetParam(), {.beside = first_[k]});
      check(mixed, all[k]);
      mixed.check();
    }
  }

 private:
  std::vector<std::shared_ptr<const GpuExchange>>
      first_;  // of each grouping, for its communicators
};

template <class Number>
Array<double> ghosts_of(GpuExchange& exchange, const HaloPlan& plan, const Array<Number>& numbers) {
  const Stream stream;
  const DeviceBuffer<Number> x = to_device(std::span<const Number>(numbers), stream);
  exchange.send(x.view(), stream);
  const DeviceSpan<const double> ghosts = exchange.receive(stream);
  EXPECT_EQ(std::ssize(ghosts), plan.ghosts);
  if (plan.ghosts == 0) {
    stream.synchronize();
    return {};
  }
  return to_host(ghosts, stream);
}

template <class Number>
void expect_the_ghosts_of_mpi(GpuExchange& mixed, const HaloPlan& plan, std::int64_t numbers) {
  const auto mpi = make_mpi_exchange(MPI_COMM_WORLD, plan);
  for (int round = 0; round < kRounds; ++round) {
    const Array<Number> x = test::random_vector<Number>(
        numbers, 100 * static_cast<std::uint64_t>(round) + rank_of(MPI_COMM_WORLD));
    const Array<double> expected = ghosts_of(*mpi, plan, x);
    EXPECT_EQ(ghosts_of(mixed, plan, x), expected) << "round " << round;
  }
}

TEST_P(Mixed, BringsTheBitsOfMpi) {
  for (const auto& matrix : matrices())
    for_each_grouping(matrix->halo, [&](MixedExchange& mixed, const std::vector<int>&) {
      expect_the_ghosts_of_mpi<double>(mixed, matrix->halo, matrix->local_rows());
      expect_the_ghosts_of_mpi<float>(mixed, matrix->halo, matrix->local_rows());
    });
}

TEST_P(Mixed, BringsSeveralVectors) {
  constexpr std::int64_t kStride = 5, kWidth = 3;
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(20), Cut::by_nonzeros);
  const HaloPlan plan = widened(matrix->halo, matrix->local_rows(), kStride, kWidth);
  for_each_grouping(plan, [&](MixedExchange& mixed, const std::vector<int>&) {
    expect_the_ghosts_of_mpi<double>(mixed, plan, matrix->local_rows() * kStride);
  });
}

TEST_P(Mixed, CanBeRecordedBetweenNodesByNccl) {
  if (GetParam() == ExchangeWay::mpi) GTEST_SKIP() << "the host takes part in an exchange by MPI";
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(20), Cut::by_nonzeros);
  const HaloPlan& plan = matrix->halo;
  for_each_grouping(plan, [&](MixedExchange& mixed, const std::vector<int>&) {
    ASSERT_EQ(mixed.recording(), Recording::replay);
    const Array<double> numbers = test::random_vector<double>(matrix->local_rows(), 3);
    const Array<double> expected = ghosts_of(mixed, plan, numbers);
    const Stream stream;
    const DeviceBuffer<double> x = to_device(std::span<const double>(numbers), stream);
    const DeviceBuffer<double> ghosts(plan.ghosts, stream);
    const GraphExec graph(capture_graph(stream, [&] {
      mixed.send(x.view(), stream);
      copy_on_device(mixed.receive(stream), ghosts.span(), stream);
    }));
    for (int round = 0; round < kRounds; ++round) {
      fill_nan(ghosts.span(), stream);
      graph.launch(stream);
      EXPECT_EQ(to_host(ghosts.view(), stream), expected) << "round " << round;
    }
  });
}

TEST_P(Mixed, SumsToTheSameBitsOnEveryRank) {
  constexpr std::size_t kNumbers = 600;  // more than MPI sums at once
  for_each_grouping({}, [&](MixedExchange& mixed, const std::vector<int>&) {
    const Stream stream;
    const Array<double> mine =
        test::random_vector<double>(kNumbers, static_cast<std::uint64_t>(rank_of(MPI_COMM_WORLD)));
    Array<double> expected(mine.size());
    MPI_Allreduce(mine.data(), expected.data(), kNumbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const DeviceBuffer<double> values = to_device(std::span<const double>(mine), stream);
    mixed.sum(values.span(), stream);
    const Array<double> sums = to_host(values.view(), stream);
    Array<double> of_first = sums;
    MPI_Bcast(of_first.data(), kNumbers, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    EXPECT_EQ(std::memcmp(sums.data(), of_first.data(), kNumbers * sizeof(double)), 0);
    for (std::size_t k = 0; k < kNumbers; ++k) EXPECT_NEAR(sums[k], expected[k], 1e-14 * 10);
  });
}

// Kernels may send and receive by themselves only where peer memory reaches all neighbours.
TEST_P(Mixed, GivesItsPeersToKernelsWhereItHasNoOtherNeighbours) {
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(20), Cut::by_nonzeros);
  for_each_grouping(matrix->halo, [&](MixedExchange& mixed, const std::vector<int>& groups) {
    const int own = groups[rank_of(MPI_COMM_WORLD)];
    bool all_near = !matrix->halo.empty();
    for (const auto* neighbours : {&matrix->halo.sends, &matrix->halo.receives})
      for (const auto& neighbour : *neighbours)
        all_near = all_near && groups[neighbour.rank] == own;
    EXPECT_EQ(mixed.peer_halo() != nullptr, all_near);
    EXPECT_EQ(mixed.peer_sums(), nullptr);
  });
}

TEST_P(Mixed, GoesOnAfterATrial) {
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(20), Cut::by_nonzeros);
  for_each_grouping(matrix->halo, [&](MixedExchange& mixed, const std::vector<int>&) {
    const double us = halo_us(MPI_COMM_WORLD, matrix->halo, mixed);
    EXPECT_GT(us, 0);
    EXPECT_EQ(us, max_over_ranks(MPI_COMM_WORLD, us)) << "the ranks may choose differently";
    expect_the_ghosts_of_mpi<double>(mixed, matrix->halo, matrix->local_rows());
  });
}

INSTANTIATE_TEST_SUITE_P(BetweenGroups, Mixed, testing::Values(ExchangeWay::nccl, ExchangeWay::mpi),
                         [](const auto& way) { return std::string(name_of(way.param)); });

TEST(MixedChoice, OnNodesThatAreDeclaredIsMeasuredOrRefused) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU here";
  if (size_of(MPI_COMM_WORLD) < 3) GTEST_SKIP() << "two nodes, one of them with two GPUs";
  select_device(rank_on_node(MPI_COMM_WORLD));
  const auto matrix = matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(30), Cut::by_nonzeros);
  const auto exchange = make_gpu_exchange(MPI_COMM_WORLD, matrix->halo, {.ranks_per_node = 2});
  if (exchange->name() == "mpi" && exchange->why.empty()) {
    EXPECT_THROW(
        make_gpu_exchange(MPI_COMM_WORLD, matrix->halo, {.way = "mixed", .ranks_per_node = 2}),
        Error);
    GTEST_SKIP() << "the GPUs are shared: mixed is refused";
  }
  EXPECT_NE(exchange->why.find("a halo takes"), std::string::npos) << exchange->why;
  expect_the_ghosts_of_mpi<double>(*exchange, matrix->halo, matrix->local_rows());
  const auto asked =
      make_gpu_exchange(MPI_COMM_WORLD, matrix->halo, {.way = "mixed", .ranks_per_node = 2});
  EXPECT_EQ(asked->name().substr(0, 5), "peer+");
  EXPECT_TRUE(asked->why.empty());
  expect_the_ghosts_of_mpi<double>(*asked, matrix->halo, matrix->local_rows());
}

}  // namespace
}  // namespace trireme
