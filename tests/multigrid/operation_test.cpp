// SPDX-License-Identifier: BSD-3-Clause
// The operation that holds the hierarchies of a matrix: what it keeps, counts and forgets. The
// tests of trireme_mg have the rest. Run on 1 and 2 ranks.
#include "multigrid/operation.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "multigrid/on_ranks.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

using test::generated;
using test::random_rows;
using test::small_levels;
using test::values_of;

Array<double> applied(MultigridOperation& m, const DistributedMatrix& a) {
  const Array<double> r = random_rows(a, 1);
  Array<double> z(r.size());
  m.apply(r, z);
  return z;
}

MultigridOperation::GiveModes constants(int* asked = nullptr) {
  return [asked] {
    if (asked) ++*asked;
    return NearNullspace{};
  };
}

TEST(MultigridOperation, HasTheCycleOfItsHierarchy) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 9);
  MultigridOperation m;
  m.build(a, constants(), small_levels());
  Hierarchy alone(a, {}, small_levels());
  const Array<double> r = random_rows(*a, 1);
  Array<double> z(r.size());
  alone.apply(r, z);
  EXPECT_EQ(applied(m, *a), z);
  EXPECT_EQ(m.on_device(), nullptr);
  EXPECT_EQ(m.facts()->levels.size(), alone.levels().size());
}

TEST(MultigridOperation, RenewsWithTheModesThatItHas) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 9);
  int asked = 0;
  MultigridOperation m;
  m.build(a, constants(&asked), small_levels());
  const Array<double> before = applied(m, *a);
  Array<double> values = values_of(*a);
  for (double& value : values) value *= 0.25;
  a->replace_values(values);
  EXPECT_TRUE(m.is_built_with(small_levels()));
  m.renew();
  Array<double> after = applied(m, *a);
  for (double& z : after) z *= 0.25;
  EXPECT_EQ(after, before);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(m.builds(), 1);
  EXPECT_EQ(m.renewals(), 1);
  Options other = small_levels();
  other.degree = 3;
  EXPECT_FALSE(m.is_built_with(other));
}

// Displacements of an elastic body, which nobody has said to be three per node.
TEST(MultigridOperation, FindsTheNodesOfAMatrix) {
  const auto a = generated(MPI_COMM_WORLD, "elasticity3d", 6);
  MultigridOperation m, told;
  m.build(a, constants(), small_levels());
  Options of_nodes = small_levels();
  of_nodes.block_size = 3;
  told.build(a, constants(), of_nodes);
  const bool whole_nodes = a->first_row() % 3 == 0 && a->local_rows() % 3 == 0;
  if (!any_rank(a->comm, !whole_nodes)) {
    EXPECT_EQ(applied(m, *a), applied(told, *a));
  }
  EXPECT_TRUE(m.is_built_with(small_levels()));
  EXPECT_FALSE(m.is_built_with(of_nodes));
  // The next matrix has none.
  const auto scalar = generated(MPI_COMM_WORLD, "poisson3d", 9);
  m.build(scalar, constants(), small_levels());
  Hierarchy alone(scalar, {}, small_levels());
  const Array<double> r = random_rows(*scalar, 1);
  Array<double> z(r.size());
  alone.apply(r, z);
  EXPECT_EQ(applied(m, *scalar), z);
}

TEST(MultigridOperation, IsNotSetUpAfterAnError) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 9);
  MultigridOperation m;
  EXPECT_THROW(applied(m, *a), Error);
  EXPECT_THROW(m.renew(), Error);
  m.build(a, constants(), small_levels());
  Options wrong = small_levels();
  wrong.degree = 0;
  EXPECT_THROW(m.build(a, constants(), wrong), Error);
  EXPECT_FALSE(m.is_set_up());
  EXPECT_FALSE(m.facts());
  EXPECT_FALSE(m.is_built_with(small_levels()));
  EXPECT_THROW(applied(m, *a), Error);
  m.build(a, constants(), small_levels());
  EXPECT_TRUE(m.is_set_up());
  EXPECT_EQ(m.builds(), 2);
  a->blocks.local.values.assign(a->blocks.local.values.size(), 0);
  EXPECT_THROW(m.renew(), Error);
  EXPECT_FALSE(m.is_set_up());
  EXPECT_EQ(m.renewals(), 0);
}

}  // namespace
}  // namespace trireme::multigrid
