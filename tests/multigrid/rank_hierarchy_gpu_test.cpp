// SPDX-License-Identifier: BSD-3-Clause
// The cycle on the GPUs of several ranks is the cycle of the host on the same ranks, by every
// exchange. Skips without a GPU. Run on 2 and 3 ranks, which may share a GPU.
#include "multigrid/cuda/rank_hierarchy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/graph.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "distributed/exchanges.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "multigrid/cycle_settings.hpp"
#include "multigrid/on_gpu.hpp"
#include "multigrid/on_ranks.hpp"
#include "parallel/nodes.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme::multigrid {
namespace {

using test::applied;
using test::generated;
using test::random_rows;
using test::small_levels;
using test::tolerance_of;
using trireme::test::Cut;

class CycleOnGpus : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device(rank_on_node(MPI_COMM_WORLD));
    if (!is_possible()) GTEST_SKIP() << "not possible here";
  }

  // NCCL needs a GPU per rank.
  bool is_possible() {
    try {
      first_ = make()(MPI_COMM_WORLD, none_);
      return true;
    } catch (const Error& error) {
      if (error.code() != ExitCode::resource) throw;
      std::printf("%s: %s\n", GetParam().c_str(), error.what());
      return false;
    }
  }
  // Ranks that share a GPU may write into each other's memory as well. All exchanges of a test
  // share one communicator.
  MakeExchange make() const {
    return [way = GetParam(), first = first_](MPI_Comm comm, const HaloPlan& halo) {
      if (way == "peer") return make_peer_exchange(comm, halo, kPeerTimeout, first.get());
      ExchangeRequest request = trireme::test::exchange_request(way);
      request.beside = first;
      if (way == "peer+mpi") return trireme::test::exchange_of_pairs(comm, halo, request);
      return make_gpu_exchange(comm, halo, request);
    };
  }

  // By the exchange of the test, or by MPI where ranks share a GPU.
  std::shared_ptr<CudaOperator> operator_on(const std::shared_ptr<DistributedMatrix>& a) const {
    try {
      return std::make_shared<CudaOperator>(a, "csr-vector", Precision::full,
                                            trireme::test::exchange_request(GetParam()));
    } catch (const Error& error) {
      if (error.code() != ExitCode::resource) throw;
      return std::make_shared<CudaOperator>(a, "csr-vector");
    }
  }

  // The cycle twice, with the same bits, by launches and, where the exchange allows it, recorded.
  Array<double> applied_there(RankHierarchy& m, const Array<double>& r) const {
    const Stream stream;
    const auto here = to_device(std::span<const double>(r), stream);
    const DeviceBuffer<double> z(r.size(), stream);
    const auto queue = [&] { m.enqueue(here.view(), z.span(), stream); };
    const auto once = [&](bool recorded) {
      fill_nan(z.span(), stream);
      if (recorded)
        GraphExec(capture_graph(stream, queue)).launch(stream);
      else
        queue();
      return to_host(z.view(), stream);
    };
    Array<double> first = once(false);
    EXPECT_EQ(once(false), first) << "another run gives other bits";
    if (first_->recording() != Recording::none) {
      EXPECT_EQ(once(true), first) << "the recorded cycle gives other bits";
    }
    m.check();
    return first;
  }

  static void expect_near(MPI_Comm comm, const Array<double>& z, const Array<double>& expected,
                          double tolerance) {
    double largest = 0;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    largest = max_over_ranks(comm, largest);
    ASSERT_EQ(z.size(), expected.size());
    for (std::size_t i = 0; i < z.size(); ++i)
      ASSERT_NEAR(z[i], expected[i], tolerance * largest) << "row " << i;
  }

  // Also for an r beyond the range of FP32, and for one that is 0 on a rank.
  void expect_same(const DistributedMatrix& a, Hierarchy& m) const {
    Array<double> r = random_rows(a, 3);
    RankHierarchy there(m, make());
    for (const double scale : {1.0, 1e-200, 1e200}) {
      SCOPED_TRACE(scale);
      Array<double> scaled = r;
      for (double& value : scaled) value *= scale;
      expect_near(a.comm, applied_there(there, scaled), applied(m, scaled), tolerance_of(m));
    }
    if (rank_of(a.comm) == 0) r.assign(r.size(), 0.0);
    const Array<double> expected = applied(m, r);
    expect_near(a.comm, applied_there(there, r), expected, tolerance_of(m));
  }

 private:
  HaloPlan none_;
  std::shared_ptr<GpuExchange> first_;
};

TEST_P(CycleOnGpus, IsThatOfTheHostForEverySmootherDegreeAndCycle) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 10);
  test::for_smoothers_degrees_and_cycles(
      {Smoother::chebyshev, Smoother::jacobi, Smoother::l1_jacobi}, 3, {Precision::mixed},
      [&](const Options& options) {
        Hierarchy m(a, {}, options);
        EXPECT_GE(m.levels().size(), 3u);
        EXPECT_FALSE(m.levels().front().replicated);
        expect_same(*a, m);
      });
}

TEST_P(CycleOnGpus, IsThatOfTheHostForBlocksAndPrecisions) {
  const auto a = generated(MPI_COMM_WORLD, "elasticity3d", 6, 3);
  test::for_blocks_and_precisions([&](const Options& options) {
    Hierarchy m(a, {}, options);
    expect_same(*a, m);
  });
}

// A graph has no geometry, so that most rows are at a border.
TEST_P(CycleOnGpus, IsThatOfTheHostWithSeveralDistributedLevels) {
  for (const char* kind : {"poisson3d", "convection3d", "graph"}) {
    SCOPED_TRACE(kind);
    const auto a = generated(MPI_COMM_WORLD, kind, *kind == 'g' ? 3000 : 22);
    Options options = small_levels();
    options.replicated_rows = 40;
    Hierarchy m(a, {}, options);
    expect_same(*a, m);
  }
}

TEST_P(CycleOnGpus, ServesRanksWithoutRows) {
  const auto whole = generated(MPI_COMM_SELF, "poisson3d", 12);
  for (const Cut cut : {Cut::first_rank_empty, Cut::all_on_last_rank}) {
    const auto a = trireme::test::matrix_on_ranks(MPI_COMM_WORLD, whole->blocks.local, cut);
    Hierarchy m(a, {}, small_levels());
    expect_same(*a, m);
  }
}

TEST_P(CycleOnGpus, ServesHierarchiesThatEndEarlyOrLieWholeOnEveryRank) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 14);
  for (const int max_levels : {1, 2}) {
    Options options = small_levels();
    options.max_levels = max_levels;
    options.replicated_rows = options.coarsest_rows;
    Hierarchy m(a, {}, options);
    EXPECT_FALSE(m.levels().back().replicated);
    expect_same(*a, m);
  }
  for (const std::int64_t whole_rows : {3000, 10'000}) {
    Options options = small_levels();
    options.replicated_rows = whole_rows;
    Hierarchy m(a, {}, options);
    EXPECT_TRUE(m.levels()[1].replicated);
    expect_same(*a, m);
  }
}

TEST_P(CycleOnGpus, FollowsNewValues) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 14);
  Hierarchy m(a, {}, small_levels());
  const Array<double> r = random_rows(*a, 3);
  RankHierarchy there(m, make());
  const Array<double> before = applied_there(there, r);
  Array<double> values = test::values_of(*a);
  for (double& value : values)
    if (value > 0) value += 0.3;
  a->replace_values(values);
  m.renew();
  there.renew(m);
  const Array<double> after = applied_there(there, r);
  EXPECT_NE(after, before);
  expect_near(a->comm, after, applied(m, r), tolerance_of(m));
}

// The preconditioner of a loop on the ranks' GPUs.
class GivenOnGpus : public solvers::GivenPreconditioner {
 public:
  GivenOnGpus(Hierarchy& m, const MakeExchange& make) : m_(m), there_(m, make) {}
  void apply(std::span<const double> r, std::span<double> z) override { m_.apply(r, z); }
  bool prepare_on_device() override { return true; }
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override {
    there_.enqueue(r, z, stream);
  }
  void enqueue_in_loop(DeviceSpan<const double> r, DeviceSpan<double> z,
                       const solvers::LoopHints& hints, StreamRef stream) override {
    there_.enqueue(r, z, stream, hints);
  }
  void check_device() const override { there_.check(); }

 private:
  Hierarchy& m_;
  RankHierarchy there_;
};

TEST_P(CycleOnGpus, PreconditionsTheLoopThereAsOnTheHost) {
  for (const auto& [kind, n, block] :
       {std::tuple{"poisson3d", 24, 1}, std::tuple{"elasticity3d", 9, 3}}) {
    SCOPED_TRACE(kind);
    const auto a = generated(MPI_COMM_WORLD, kind, n, block);
    const auto op = operator_on(a);
    Options options = small_levels();
    options.block_size = block;
    Hierarchy m(a, {}, options);
    const Array<double> b = random_rows(*a, 4);
    const test::CgResult expected = test::solve_by_cg(a, m, b);
    ASSERT_TRUE(expected.converged);

    GivenOnGpus given(m, make());
    solvers::PreconditionerSpec spec;
    spec.kind = solvers::PreconditionerSpec::Kind::given;
    spec.given = &given;
    CudaOperatorSystem system(op);
    for (const solvers::Variant variant :
         {solvers::Variant::classic, solvers::Variant::single_reduction}) {
      solvers::CudaSolver solver(system, solvers::Method::cg, variant, spec);
      Array<double> x(b.size()), again(b.size());
      const auto result = solver.solve({b, x, true}, solvers::Tolerances{.rtol = 1e-8});
      EXPECT_EQ(result.reason, solvers::Reason::rtol);
      EXPECT_NEAR(result.iterations, expected.iterations, 1);
      solver.solve({b, again, true}, solvers::Tolerances{.rtol = 1e-8});
      EXPECT_EQ(again, x) << "another run gives other bits";
      HostOperator host(a, "csr");
      Array<double> q(b.size());
      host.multiply(x, q);
      for (std::size_t i = 0; i < q.size(); ++i) q[i] = b[i] - q[i];
      EXPECT_LE(test::dot(a->comm, q, q), 1.01e-16 * test::dot(a->comm, b, b));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CycleOnGpus, testing::ValuesIn(trireme::test::kExchanges),
                         [](const auto& exchange) {
                           return trireme::test::name_in_tests(exchange.param);
                         });

}  // namespace
}  // namespace trireme::multigrid
