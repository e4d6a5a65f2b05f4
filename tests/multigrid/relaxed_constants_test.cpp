// SPDX-License-Identifier: BSD-3-Clause
// Relaxed constants, and hierarchies that are made with them. Run on 1 and 2 ranks.
#include "multigrid/set_up/relaxed_constants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "multigrid/on_ranks.hpp"
#include "multigrid/store/stored_hierarchy.hpp"
#include "support/distributed_matrices.hpp"

namespace trireme::multigrid {
namespace {

using test::applied;
using test::generated;
using test::random_rows;
using test::small_levels;
using test::solve_by_cg;
using test::values_of;

// Empty: there are none.
Array<double> relaxed(const DistributedMatrix& a, std::int32_t size = 1) {
  return relaxed_constants(ExtendedRows(a.comm, a, size), size).value_or(Array<double>());
}

// From 1/32 to 32, so that no product of two of them rounds.
double scale(std::int64_t i) {
  return std::ldexp(1.0, static_cast<int>(split_mix(static_cast<std::uint64_t>(i), 3) % 11) - 5);
}

// Five points on a square of n x n, with the diagonal `diagonal`.
double five_points(std::int64_t n, std::int64_t i, std::int64_t j, double diagonal = 4) {
  if (i == j) return diagonal;
  const bool beside = std::abs(i - j) == 1 && i / n == j / n;
  return beside || std::abs(i - j) == n ? -1 : 0;
}

std::shared_ptr<DistributedMatrix> square(std::int64_t n, bool scaled, double diagonal = 4) {
  return trireme::test::distributed(MPI_COMM_WORLD, n * n, [=](std::int64_t i, std::int64_t j) {
    const double value = five_points(n, i, j, diagonal);
    return scaled ? scale(i) * value * scale(j) : value;
  });
}

TEST(RelaxedConstants, AreNotMadeWhereConstantsServe) {
  EXPECT_TRUE(relaxed(*square(40, false)).empty());
  EXPECT_FALSE(relaxed(*square(40, true)).empty());
}

// S A S nearly annihilates S^-1 times constants.
TEST(RelaxedConstants, FindTheScalingOfTheMatrix) {
  const std::int64_t n = 40;
  const auto a = square(n, true);
  const Array<double> x = relaxed(*a);
  ASSERT_GE(std::ssize(x), a->local_rows());
  double sums[4] = {};  // of x and of constants: the energy, and the norm by D
  const Array<double> ones(x.size(), 1.0);
  HostOperator op(a, "csr");
  Array<double> ax(a->local_rows()), a_ones(a->local_rows());
  op.multiply(std::span(x).first(a->local_rows()), ax);
  op.multiply(std::span(ones).first(a->local_rows()), a_ones);
  for (std::int64_t i = 0; i < a->local_rows(); ++i) {
    const double s = scale(a->first_row() + i), d = 4 * s * s;
    sums[0] += x[i] * ax[i];
    sums[1] += d * x[i] * x[i];
    sums[2] += a_ones[i];
    sums[3] += d;
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM, a->comm);
  EXPECT_LT(10 * sums[0] / sums[1], sums[2] / sums[3]);
}

TEST(RelaxedConstants, AreThoseOfOneRank) {
  const auto parts = square(24, true);
  const auto whole = trireme::test::distributed(
      MPI_COMM_SELF, 24 * 24,
      [](std::int64_t i, std::int64_t j) { return scale(i) * five_points(24, i, j) * scale(j); });
  const Array<double> x = relaxed(*parts), all = relaxed(*whole);
  for (std::int64_t i = 0; i < parts->local_rows(); ++i)
    EXPECT_NEAR(x[i], all[parts->first_row() + i], 1e-12 * std::abs(x[i]));
  // Behind them come those of the ghosts.
  const auto& ghosts = parts->blocks.ghost_columns;
  ASSERT_EQ(std::ssize(x), parts->local_rows() + std::ssize(ghosts));
  for (std::size_t g = 0; g < ghosts.size(); ++g)
    EXPECT_NEAR(x[parts->local_rows() + g], all[ghosts[g]], 1e-12 * std::abs(all[ghosts[g]]));
}

// Two unknowns per node, of which each has a matrix of its own, and large entries between them.
TEST(RelaxedConstants, OfAnUnknownKnowNoOther) {
  const std::int64_t n = 12;
  const auto make = [n](double between) {
    return trireme::test::distributed(
        MPI_COMM_WORLD, 2 * n * n, [n, between](std::int64_t i, std::int64_t j) {
          const double value = scale(i) * five_points(n, i / 2, j / 2) * scale(j);
          return i % 2 == j % 2 ? value : between * value;
        });
  };
  EXPECT_EQ(relaxed(*make(0.9), 2), relaxed(*make(0), 2));
  EXPECT_NE(relaxed(*make(0.9), 1), relaxed(*make(0), 1));
}

TEST(RelaxedConstants, HaveNoSmallNumbers) {
  // A row that is strongly tied to a value of 0.
  const auto a = trireme::test::distributed(MPI_COMM_WORLD, 40, [](std::int64_t i, std::int64_t j) {
    return i == j ? (i % 2 == 0 ? 4.0 : 1.0) : std::abs(i - j) == 2 && i % 2 == 1 ? -0.5 : 0.0;
  });
  const Array<double> x = relaxed(*a);
  ASSERT_FALSE(x.empty());
  for (const double value : x) EXPECT_GE(std::abs(value), kLeastRelaxed);
}

TEST(RelaxedConstants, AreNotMadeWhereTheyWouldGrow) {
  EXPECT_TRUE(relaxed(*square(20, true, -1)).empty()) << "not definite";
  const auto wrong = square(20, true);
  Array<double> values = values_of(*wrong);
  if (!values.empty()) values.front() = NAN;
  wrong->replace_values(values);
  EXPECT_TRUE(relaxed(*wrong).empty());
}

TEST(RelaxedConstants, MakeAScaledSystemAsEasyAsThePlainOne) {
  const auto plain = square(48, false), scaled = square(48, true);
  Hierarchy of_plain(plain, {}, small_levels()), of_scaled(scaled, {}, small_levels());
  const int before = solve_by_cg(plain, of_plain).iterations;
  const test::CgResult result = solve_by_cg(scaled, of_scaled);
  EXPECT_TRUE(result.converged);
  EXPECT_LE(result.iterations, 2 * before);
  test::expect_symmetric_and_definite(*scaled, of_scaled);
}

// The last rank has all rows.
TEST(RelaxedConstants, ServeRanksWithoutRows) {
  const std::int64_t n = 48;
  const auto whole = trireme::test::distributed(
      MPI_COMM_SELF, n * n,
      [](std::int64_t i, std::int64_t j) { return scale(i) * five_points(n, i, j) * scale(j); });
  const int ranks = size_of(MPI_COMM_WORLD);
  std::vector<std::int64_t> starts(ranks + 1, 0);
  starts.back() = n * n;
  RowSlab slab{.global_rows = n * n, .global_cols = n * n, .global_nnz = whole->global_nnz};
  if (rank_of(MPI_COMM_WORLD) == ranks - 1)
    slab.local = whole->blocks.local;
  else
    slab.local.cols = n * n;
  const auto a = distribute(MPI_COMM_WORLD, std::move(slab), std::move(starts));
  Hierarchy m(a, {}, small_levels()), of_one(whole, {}, small_levels());
  const test::CgResult result = solve_by_cg(a, m);
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(result.iterations, solve_by_cg(whole, of_one).iterations, 1);
}

// Other values of square(48, true), on the same pattern.
Array<double> changed_values(const DistributedMatrix& a) {
  Array<double> changed = values_of(a);
  for (double& value : changed) value *= value > 0 ? 1.1 : 0.9;
  return changed;
}

Options by_pattern() {
  Options options = small_levels();
  options.threshold = 0;  // so that the aggregates do not depend on the values
  return options;
}

TEST(RelaxedConstants, AreRelaxedAgainForNewValues) {
  const auto a = square(48, true);
  test::expect_renewals_to_be_builds(a, by_pattern(), changed_values(*a));
}

TEST(RelaxedConstants, ComeAndGoWithNewValues) {
  const auto plain = square(48, false), scaled = square(48, true);
  test::expect_renewals_to_be_builds(plain, by_pattern(), values_of(*scaled));
  test::expect_renewals_to_be_builds(scaled, by_pattern(), values_of(*plain));
}

TEST(RelaxedConstants, AreRelaxedByAHierarchyThatWasRead) {
  const auto a = square(48, true);
  Hierarchy built(a, {}, by_pattern());
  const Array<std::byte> bytes = built.stored();
  const auto read =
      Hierarchy::from_stored(a, read_hierarchy(bytes, *a, by_pattern()), by_pattern());
  const Array<double> r = random_rows(*a, 3);
  EXPECT_EQ(applied(*read, r), applied(built, r));
  a->replace_values(changed_values(*a));
  read->renew();
  built.renew();
  EXPECT_EQ(applied(*read, r), applied(built, r));
}

// Of thinnings, some find nothing to leave out, and some do.
TEST(RelaxedConstants, ServeAThinnedProlongator) {
  for (const double fill : {0.02, 0.1, 0.2}) {
    const auto a = square(48, true);
    Options options = by_pattern();
    options.fill = fill;
    Hierarchy m(a, {}, options);
    test::expect_symmetric_and_definite(*a, m);
    const test::CgResult result = solve_by_cg(a, m);
    EXPECT_TRUE(result.converged) << fill;
    EXPECT_LE(result.iterations, 40) << fill << ' ' << m.levels()[1].prolongator;
    // Which entries are left out stays, so that the same values give the same levels.
    const Array<double> r = random_rows(*a, 3), first = applied(m, r);
    m.renew();
    EXPECT_EQ(applied(m, r), first) << fill;
  }
}

}  // namespace
}  // namespace trireme::multigrid
