// SPDX-License-Identifier: BSD-3-Clause
// The set-up on a GPU, part by part and as a whole, has the bits of the host.
#include "multigrid/cuda/device_set_up.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "device/device.hpp"
#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/dense.hpp"
#include "multigrid/set_up/aggregates.hpp"
#include "multigrid/set_up/coarsen.hpp"
#include "multigrid/set_up/dense_inverse.hpp"
#include "multigrid/set_up/fill_guard.hpp"
#include "multigrid/set_up/relaxed_constants.hpp"
#include "multigrid/set_up/row_checks.hpp"
#include "multigrid/set_up/strength.hpp"
#include "multigrid/set_up/thinning.hpp"
#include "multigrid/set_up/triple_product.hpp"

namespace trireme::multigrid {
namespace {

using test::generated;
using test::without_ghosts;

NearNullspace rigid_body(std::int64_t n) {
  const std::vector<double> values = test::rigid_body_modes(n);
  return {.values = {values.begin(), values.end()}, .width = 6};
}

struct Problem {
  std::string name;
  CsrMatrix<double> a;
  std::int32_t block_size = 1;
  NearNullspace modes;
};

std::vector<Problem> problems() {
  std::vector<Problem> list;
  for (const auto& [kind, n] :
       {std::pair{"poisson2d", 40}, std::pair{"poisson3d", 14}, std::pair{"poisson27", 12},
        std::pair{"mesh2d", 40}, std::pair{"diffusion3d", 14}, std::pair{"convection3d", 12},
        std::pair{"lognormal", 4000}, std::pair{"graph", 3000}, std::pair{"highorder", 20},
        std::pair{"bands", 2000}, std::pair{"arrow", 3000}})
    list.push_back({kind, generated(kind, n), 1, {}});
  list.push_back({"elasticity3d, modes", generated("elasticity3d", 8), 3, rigid_body(8)});
  list.push_back({"elasticity3d, constants", generated("elasticity3d", 8), 3, {}});
  list.push_back({"blocks", generated("blocks", 6), 5, {}});
  list.push_back({"elasticity3d, nodes of 6", generated("elasticity3d", 6), 6, {}});
  list.push_back({"one row", test::matrix_of(1, 1, {{0, 0, 2.0}}), 1, {}});
  list.push_back({"empty", CsrMatrix<double>{}, 1, {}});
  list.push_back({"diagonal", test::matrix_of(3, 3, {{0, 0, 1.}, {1, 1, 2.}, {2, 2, 3.}}), 1, {}});
  // Stored in one direction, with an isolated node and columns that do not ascend.
  list.push_back(
      {"one direction",
       test::matrix_of(4, 4,
                       {{0, 3, -1.}, {0, 1, -1.}, {0, 0, 2.}, {1, 1, 2.}, {2, 2, 2.}, {3, 3, 2.}}),
       1,
       {}});
  return list;
}

class DeviceSetUpParts : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
    stream_.emplace();
  }
  StreamRef stream() const { return *stream_; }

  template <class T>
  Array<T> got(const ScratchBuffer<T>& buffer) const {
    return to_host(buffer.view(), stream());
  }
  template <class T>
  ScratchBuffer<T> sent(std::span<const T> values) const {
    ScratchBuffer<T> buffer(values.size(), stream());
    copy_to_device(values, buffer.span(), stream());
    return buffer;
  }
  void expect_equal(const DeviceCsr<double>& a, const CsrMatrix<double>& expected) const {
    EXPECT_EQ(a.rows, expected.rows);
    EXPECT_EQ(a.cols, expected.cols);
    EXPECT_TRUE(to_host(a.row_ptr, stream()) == expected.row_ptr);
    EXPECT_TRUE(to_host(a.col_idx, stream()) == expected.col_idx);
    EXPECT_TRUE(to_host(a.values, stream()) == expected.values);
  }

 private:
  std::optional<Stream> stream_;
};

TEST_F(DeviceSetUpParts, FindTheStrengthOfTheHost) {
  for (const Problem& p : problems())
    for (const double threshold : {0.0, 0.25}) {
      SCOPED_TRACE(testing::Message() << p.name << ", threshold " << threshold);
      const Strength expected = find_strength(without_ghosts(p.a), p.block_size, threshold);
      const auto a = to_device(p.a.view(), stream());
      const DeviceStrength s = find_strength(a.view(), p.block_size, threshold, stream());
      EXPECT_EQ(s.graph.nodes, expected.graph.nodes);
      EXPECT_TRUE(got(s.graph.row_ptr) == expected.graph.row_ptr);
      EXPECT_TRUE(got(s.graph.neighbour) == expected.graph.neighbour);
      EXPECT_TRUE(got(s.strong) == expected.strong);
    }
}

TEST_F(DeviceSetUpParts, FindTheAggregatesOfTheHost) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.name);
    const Strength host = find_strength(without_ghosts(p.a), p.block_size, 0.25);
    const DeviceGraph graph{host.graph.nodes,
                            sent(std::span<const std::int32_t>(host.graph.row_ptr)),
                            sent(std::span<const std::int32_t>(host.graph.neighbour))};
    const Aggregates once = aggregate(host.graph, {}), twice = aggregate_twice(host.graph);
    const DeviceAggregates d_once = aggregate(graph, false, stream()),
                           d_twice = aggregate_twice(graph, stream());
    EXPECT_TRUE(got(d_once.of_node) == once.of_node);
    EXPECT_TRUE(got(d_once.roots) == once.roots);
    EXPECT_TRUE(got(d_twice.of_node) == twice.of_node);
    EXPECT_TRUE(got(d_twice.roots) == twice.roots);
  }
}

TEST_F(DeviceSetUpParts, MakeTheProlongatorOfTheHost) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.name);
    const Coarsening host =
        coarsen(without_ghosts(p.a), p.modes, {.threshold = 0.25, .block_size = p.block_size});
    const auto a = to_device(p.a.view(), stream());
    const DeviceModes modes{sent(std::span<const double>(p.modes.values)), p.modes.width};
    const DeviceAggregates aggregates{sent(std::span<const std::int32_t>(host.aggregate_of_node)),
                                      ScratchBuffer<std::int32_t>(host.aggregates, stream())};
    const DeviceTentative t = make_tentative(aggregates, modes, p.block_size, stream());
    EXPECT_TRUE(got(t.values) == host.tentative.values);
    EXPECT_TRUE(got(t.coarse_modes.values) == host.coarse_modes.values);
    const auto strong = sent(std::span<const std::uint8_t>(host.strong));
    const DeviceFiltered filtered{a.view(), strong.view(), p.block_size};
    const auto diagonal = filtered_diagonal(filtered, stream());
    EXPECT_TRUE(got(diagonal) ==
                filtered_diagonal({without_ghosts(p.a), host.strong, p.block_size}));
    const double radius = filtered_spectral_radius(filtered, diagonal.view(), stream());
    EXPECT_EQ(radius, host.spectral_radius);
    const double weight = radius > 0 ? kProlongatorDamping / radius : 0;
    const DeviceProlongatorRules rules{
        filtered, diagonal.view(), weight, aggregates.of_node.view(), host.aggregates, &t};
    DeviceRows made = make_prolongator(rules, stream());
    expect_equal(made.view(), host.p);
    fill_nan(made.values.span(), stream());
    refill_prolongator(rules, made, stream());
    expect_equal(made.view(), host.p);
  }
}

TEST_F(DeviceSetUpParts, ThinTheProlongatorAsTheHostDoesAlsoUnderASanitizer) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.name);
    Coarsening host =
        coarsen(without_ghosts(p.a), p.modes, {.threshold = 0.25, .block_size = p.block_size});
    const auto a = to_device(p.a.view(), stream()), made = to_device(host.p.view(), stream());
    const auto aggregates = sent(std::span<const std::int32_t>(host.aggregate_of_node));
    auto strong = sent(std::span<const std::uint8_t>(host.strong));
    EXPECT_EQ(runs_of_terms(a.view(), made.view(), host.coarse_block_size, stream()),
              runs_of_terms(p.a.view(), host.p.view(), host.coarse_block_size));
    const std::int64_t dropped = thin(a.view(), p.block_size, aggregates.view(), made.view(),
                                      host.coarse_block_size, 0.25, strong, stream());
    EXPECT_EQ(dropped > 0, thin(host, without_ghosts(p.a), 0.25));
    EXPECT_TRUE(got(strong) == host.strong);
  }
}

TEST_F(DeviceSetUpParts, EliminateAsTheHostDoes) {
  for (const Problem& p : problems()) {
    if (p.a.rows > 1000) continue;
    SCOPED_TRACE(p.name);
    ScaledMatrix host = scaled_dense(p.a.view()), device = scaled_dense(p.a.view());
    eliminate(host.elimination);
    eliminate_on_device(device.elimination, stream());
    EXPECT_EQ(device.elimination.rank, host.elimination.rank);
    EXPECT_EQ(device.elimination.rows, host.elimination.rows);
    EXPECT_EQ(device.elimination.cols, host.elimination.cols);
    EXPECT_TRUE(device.elimination.values == host.elimination.values);
  }
}

TEST_F(DeviceSetUpParts, EliminateASingularMatrixAsTheHostDoes) {
  // A chain without a fixed end.
  std::vector<test::Entry> entries;
  constexpr std::int32_t n = 60;
  for (std::int32_t i = 0; i < n; ++i) {
    if (i > 0) entries.emplace_back(i, i - 1, -1.0);
    entries.emplace_back(i, i, (i > 0) + (i + 1 < n));
    if (i + 1 < n) entries.emplace_back(i, i + 1, -1.0);
  }
  const auto a = test::matrix_of(n, n, entries);
  ScaledMatrix host = scaled_dense(a.view()), device = scaled_dense(a.view());
  eliminate(host.elimination);
  eliminate_on_device(device.elimination, stream());
  EXPECT_EQ(device.elimination.rank, n - 1);
  EXPECT_EQ(host.elimination.rank, n - 1);
  EXPECT_TRUE(device.elimination.values == host.elimination.values);
}

TEST_F(DeviceSetUpParts, TellWhichMatricesAreSymmetric) {
  for (const Problem& p : problems()) {
    if (p.name == "one direction") continue;
    const auto a = to_device(p.a.view(), stream());
    EXPECT_EQ(is_symmetric(a.view(), stream()), p.name != "convection3d") << p.name;
  }
}

TEST_F(DeviceSetUpParts, EstimateASpectralRadiusBelowTheRowSum) {
  const auto host = generated("poisson3d", 20);
  const auto a = to_device(host.view(), stream());
  const ScratchBuffer<double> inverse(host.rows, stream());
  invert_diagonal(a.view(), 0, inverse.span(), stream());
  EXPECT_EQ(got(inverse)[0], 1.0 / 6);
  EXPECT_EQ(largest_row_sum(a.view(), inverse.view(), stream()), 2.0);
  const double radius = estimate_radius(a.view(), inverse.view(), 1, stream());
  EXPECT_GT(radius, 1.8);
  EXPECT_LT(radius, 2.0);
  EXPECT_EQ(radius, estimate_radius(a.view(), inverse.view(), 1, stream()));
}

TEST_F(DeviceSetUpParts, RefuseWhatTheHostRefuses) {
  const auto refusal = [&](const CsrMatrix<double>& a) {
    const auto on_device = to_device(a.view(), stream());
    std::string host, device;
    try {
      checked_diagonal(without_ghosts(a));
    } catch (const Error& error) {
      host = error.what();
    }
    try {
      checked_diagonal(on_device.view(), stream());
    } catch (const Error& error) {
      device = error.what();
    }
    EXPECT_EQ(device, host);
    EXPECT_FALSE(host.empty());
  };
  refusal(test::matrix_of(3, 3, {{0, 0, 1.}, {1, 0, 2.}, {2, 2, 0.}}));
  refusal(test::matrix_of(2, 2, {{0, 0, 1.}, {1, 0, NAN}, {1, 1, 1.}}));
}

// The levels that the functions of the host make.
struct HostLevels {
  std::vector<CsrMatrix<double>> a, p;

  HostLevels(const Problem& problem, const Options& options) {
    a.push_back(problem.a);
    NearNullspace modes = problem.modes;
    std::int32_t block_size = problem.block_size;
    while (a.back().rows > options.coarsest_rows) {
      const LocalRows fine = without_ghosts(a.back());
      std::optional<Array<double>> x;
      if (p.empty() && modes.width == 0) x = relaxed_constants(fine, block_size);
      ExtendedRows rows(fine);
      if (x) rows.scale(*x);
      CoarsenRules rules{.threshold = options.threshold, .block_size = block_size};
      const auto coarsened = [&] {
        Coarsening made = coarsen(rows, modes, rules);
        if (x) scale_rows(*x, made.p);
        return made;
      };
      Coarsening c = coarsened();
      if (c.p.cols == 0 || c.p.cols > 0.8 * fine.local.rows) break;
      TripleProduct product(fine, c.p.view(), c.coarse_block_size);
      const std::int64_t most = most_nonzeros(options.fill, fine.local.nnz());
      const auto fits = [&](double part) {
        if (!thin(c, rows, part)) return false;
        if (x) scale_rows(*x, c.p);
        product = TripleProduct(fine, c.p.view(), c.coarse_block_size);
        return product.coarse().nnz() <= most;
      };
      if (product.coarse().nnz() > most &&
          !find_thinning(product.runs_of_terms(), fine.local.nnz(), fits)) {
        rules.smoothed = false;
        c = coarsened();
        product = TripleProduct(fine, c.p.view(), c.coarse_block_size);
      }
      modes = std::move(c.coarse_modes);
      block_size = c.coarse_block_size;
      p.push_back(std::move(c.p));
      a.push_back(product.coarse());
    }
  }
};

TEST_F(DeviceSetUpParts, RelaxConstantsAsTheHostDoesAlsoUnderASanitizer) {
  int relaxes = 0;
  for (Problem& p : problems()) {
    SCOPED_TRACE(p.name);
    for (std::int64_t i = 0; i < p.a.rows; ++i)  // scaled rows and columns
      for (std::int32_t k = p.a.row_ptr[i]; k < p.a.row_ptr[i + 1]; ++k)
        p.a.values[k] *= (1 + i % 5) * (1 + p.a.col_idx[k] % 5);
    const auto a = to_device(p.a.view(), stream());
    const ExtendedRows rows(without_ghosts(p.a));
    const Array<double> expected = relaxed_constants(rows, p.block_size).value_or(Array<double>());
    const auto x = relaxed_constants(a.view(), p.block_size, stream());
    EXPECT_TRUE(got(x) == expected);
    if (expected.empty()) continue;
    ++relaxes;
    ExtendedRows scaled = rows;
    scaled.scale(expected);
    EXPECT_TRUE(std::ranges::equal(got(scaled_values(a.view(), x.view(), stream())),
                                   scaled.view().local.values));
  }
  EXPECT_GT(relaxes, 8);
}

TEST_F(DeviceSetUpParts, BuildAndRenewTheLevelsOfTheHost) {
  for (Problem& p : problems()) {
    if (p.name == "one direction") continue;
    SCOPED_TRACE(p.name);
    const Options options{.block_size = p.block_size, .coarsest_rows = 30};
    auto finest = to_device(p.a.view(), stream());
    synchronize(stream());
    DeviceSetUp set_up(finest.view(), p.modes, options);
    const HostLevels expected(p, options);
    ASSERT_EQ(set_up.levels().size(), expected.a.size());
    for (std::size_t l = 0; l < expected.a.size(); ++l) {
      SCOPED_TRACE(testing::Message() << "level " << l);
      const DeviceLevel& level = set_up.levels()[l];
      expect_equal(level.a, expected.a[l]);
      if (l < expected.p.size()) {
        expect_equal(level.p.view(), expected.p[l]);
        expect_equal(level.p_transposed.view(), transpose(expected.p[l].view()));
      }
      if (!level.dense_inverse.empty()) {
        EXPECT_TRUE(got(level.dense_inverse) == dense_inverse(expected.a[l].view()).values);
      }
    }
    // Four times the matrix has the same prolongators and four times the coarse matrices, without
    // rounding, because 2 is the root of 4.
    for (double& value : p.a.values) value *= 4;
    copy_to_device(std::span<const double>(p.a.values), finest.values.span(), stream());
    synchronize(stream());
    const double* const inverse = set_up.levels().back().dense_inverse.data();
    set_up.renew();
    EXPECT_EQ(set_up.levels().back().dense_inverse.data(), inverse);
    for (std::size_t l = 0; l < expected.a.size(); ++l) {
      CsrMatrix<double> renewed = expected.a[l];
      for (double& value : renewed.values) value *= 4;
      expect_equal(set_up.levels()[l].a, renewed);
      if (l < expected.p.size()) expect_equal(set_up.levels()[l].p.view(), expected.p[l]);
    }
  }
}

}  // namespace
}  // namespace trireme::multigrid
