// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factors as the operation of a loop. Run on 1 and 3 ranks.
#include "factors/operation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "distributed/host_operator_system.hpp"
#include "solvers/host_solver.hpp"
#include "support/distributed_matrices.hpp"
#include "support/limited_memory.hpp"
#include "support/same_bits.hpp"

namespace trireme::factors {
namespace {

using solvers::PreconditionerKind;
using test::dot;
using test::generated;
using test::random_rows;
using test::same_bits;

Array<double> applied(IluOperation& m, std::span<const double> r) {
  Array<double> z(r.size(), NAN);
  m.apply(r, z);
  return z;
}

// A stencil with wind: -u'' + 20 u' in one dimension, coupled to a row far away.
double wind(std::int64_t rows, std::int64_t i, std::int64_t j) {
  if (i == j) return 4.0;
  if (j == i - 1) return -1.9;
  if (j == i + 1) return -0.1;
  return (i + rows / 2) % rows == j ? -0.5 : 0.0;
}

std::shared_ptr<DistributedMatrix> with_wind(std::int64_t rows) {
  return test::distributed(MPI_COMM_WORLD, rows,
                           [rows](std::int64_t i, std::int64_t j) { return wind(rows, i, j); });
}

TEST(IluOperation, SolvesByTheFactorsOfItsOwnBlock) {
  const auto a = with_wind(60);
  IluOperation m;
  m.build(a, {.levels = 1, .order = {}, .overlap = 0});
  const CsrView<double> own = a->blocks.local.view();
  const FactorPattern pattern = make_pattern(own, {.levels = 1});
  HostSweeps<float> sweeps(pattern, make_numbers(pattern, own, false));
  const Array<double> r = random_rows(*a, 1);
  Array<double> expected(r.size(), NAN);
  sweeps.apply(r, expected);
  EXPECT_TRUE(same_bits(applied(m, r), expected));
  const auto facts = m.facts();
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->in_fp32);
  EXPECT_EQ(facts->nnz, sum_over_ranks(a->comm, pattern.nnz()));
  EXPECT_EQ(facts->replaced, 0);
}

std::int64_t iterations(const std::shared_ptr<DistributedMatrix>& a, solvers::Method method,
                        IluOperation* factors) {
  HostOperatorSystem system(std::make_shared<HostOperator>(a, "csr"));
  Array<double> diagonal(a->local_rows());
  a->diagonal(diagonal);
  solvers::PreconditionerSpec spec;
  spec.kind = factors ? PreconditionerKind::ilu : PreconditionerKind::jacobi;
  spec.diagonal = diagonal;
  spec.given = factors;
  solvers::HostSolver solver(system, method, solvers::Variant::classic, spec);
  const Array<double> b = random_rows(*a, 5);
  Array<double> x(b.size(), 0.0);
  const auto result =
      solver.solve({.b = b, .x = x, .zero_guess = true},
                   {.rtol = 1e-10, .atol = 0, .divtol = 1e10, .max_iterations = 5000});
  EXPECT_EQ(result.reason, solvers::Reason::rtol);
  return result.iterations;
}

// The rows `first` .. `last` - 1, and those that these name, and so on, in ascending order.
std::vector<std::int64_t> with_layers(std::int64_t rows, std::int64_t first, std::int64_t last,
                                      int layers) {
  std::vector<bool> in(static_cast<std::size_t>(rows));
  for (std::int64_t i = first; i < last; ++i) in[i] = true;
  for (int layer = 0; layer < layers; ++layer) {
    const std::vector<bool> before = in;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; before[i] && j < rows; ++j)
        if (wind(rows, i, j) != 0) in[j] = true;
  }
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < rows; ++i)
    if (in[i]) list.push_back(i);
  return list;
}

// What a rank computes from rows of its own and of others, given all of r.
Array<double> by_layers(const DistributedMatrix& a, int layers, std::span<const double> r) {
  const std::int64_t rows = a.global_rows(), first = a.first_row(), last = first + a.local_rows();
  const std::vector<std::int64_t> block = with_layers(rows, first, last, layers);
  CsrMatrix<double> csr;
  csr.rows = csr.cols = std::ssize(block);
  Array<double> of_block, z(block.size(), NAN);
  for (const std::int64_t i : block) {
    for (std::size_t k = 0; k < block.size(); ++k)
      if (const double value = wind(rows, i, block[k]); value != 0) {
        csr.col_idx.push_back(static_cast<std::int32_t>(k));
        csr.values.push_back(value);
      }
    csr.row_ptr.push_back(static_cast<std::int32_t>(csr.col_idx.size()));
    of_block.push_back(r[i]);
  }
  const FactorPattern pattern = make_pattern(csr.view(), {.levels = 1});
  HostSweeps<float> sweeps(pattern, make_numbers(pattern, csr.view(), false));
  sweeps.apply(of_block, z);
  Array<double> own;
  for (std::size_t k = 0; k < block.size(); ++k)
    if (block[k] >= first && block[k] < last) own.push_back(z[k]);
  return own;
}

TEST(IluOperation, SolvesByTheFactorsOfRowsOfOtherRanksToo) {
  const std::int64_t rows = 60;
  const auto a = with_wind(rows);
  Array<double> whole(rows);
  for (std::int64_t i = 0; i < rows; ++i) whole[i] = std::sin(static_cast<double>(i * i));
  const std::span<const double> r = std::span(whole).subspan(a->first_row(), a->local_rows());
  for (const int layers : {1, 2}) {
    IluOperation m;
    m.build(a, {.levels = 1, .order = {}, .overlap = layers});
    EXPECT_TRUE(same_bits(applied(m, r), by_layers(*a, layers, whole))) << layers;
    EXPECT_EQ(m.facts()->overlap, size_of(a->comm) > 1 ? layers : 0);
    EXPECT_TRUE(m.is_built_with({.levels = 1, .order = {}, .overlap = layers}));
    EXPECT_EQ(m.is_built_with({.levels = 1, .order = {}, .overlap = 0}), size_of(a->comm) == 1);
    // New values reach the rows of others.
    Array<double> values = joined_rows(*a).values;
    const Array<double> before = values;
    for (double& value : values) value *= 4;
    a->replace_values(values);
    m.renew();
    Array<double> expected = by_layers(*a, layers, whole);
    for (double& z : expected) z /= 4;
    EXPECT_TRUE(same_bits(applied(m, r), expected)) << layers;
    a->replace_values(before);
  }
}

TEST(IluOperation, SavesIterationsByOverlap) {
  const auto a = with_wind(600);
  if (size_of(a->comm) == 1) GTEST_SKIP() << "needs several ranks";
  std::int64_t before = 1 << 20;
  for (const int layers : {0, 1, 2}) {
    IluOperation m;
    m.build(a, {.levels = 0, .order = {}, .overlap = layers});
    const std::int64_t with = iterations(a, solvers::Method::bicgstab, &m);
    EXPECT_LE(with, before) << layers;
    if (layers == 1) {
      EXPECT_LT(with, before);
    }
    before = with;
  }
}

TEST(IluOperation, OfADefiniteMatrixIsSymmetricAndPositive) {
  const auto a = generated(MPI_COMM_WORLD, "elasticity3d", 5);
  IluOperation m;
  m.build(a, {.levels = 0, .order = {}, .definite = true});
  const Array<double> r = random_rows(*a, 1), s = random_rows(*a, 2);
  const Array<double> mr = applied(m, r), ms = applied(m, s);
  const double rr = dot(a->comm, r, mr), ss = dot(a->comm, s, ms);
  EXPECT_GT(rr, 0);
  EXPECT_GT(ss, 0);
  EXPECT_NEAR(dot(a->comm, r, ms), dot(a->comm, s, mr), 1e-13 * std::sqrt(rr * ss));
}

TEST(IluOperation, SavesIterations) {
  const auto windy = with_wind(600);
  const auto plate = generated(MPI_COMM_WORLD, "poisson3d", 14);
  IluOperation m;
  m.build(windy, {});
  EXPECT_LE(2 * iterations(windy, solvers::Method::bicgstab, &m),
            iterations(windy, solvers::Method::bicgstab, nullptr));
  std::int64_t before = iterations(plate, solvers::Method::cg, nullptr);
  for (int levels = 0; levels <= 2; ++levels) {
    m.build(plate, {.levels = levels, .order = {}, .definite = true});
    const std::int64_t with = iterations(plate, solvers::Method::cg, &m);
    EXPECT_LT(with, before) << levels;
    before = with;
  }
}

TEST(IluOperation, TakesNewValues) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 7);
  IluOperation m;
  m.build(a, {});
  const Array<double> r = random_rows(*a, 1), before = applied(m, r);
  Array<double> values = joined_rows(*a).values;
  for (double& value : values) value *= 4;
  a->replace_values(values);
  EXPECT_TRUE(same_bits(applied(m, r), before)) << "until it is told";
  m.renew();
  const Array<double> after = applied(m, r);
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i] * 4, before[i]);
  EXPECT_TRUE(m.is_built_with({}));
  EXPECT_TRUE(m.is_built_with({.levels = 0, .order = RowOrder::given}));
  EXPECT_FALSE(m.is_built_with({.levels = 1, .order = {}}));
  EXPECT_FALSE(m.is_built_with({.levels = 0, .order = {}, .definite = true}));
  m.set_place(ExchangeRequest());
  EXPECT_FALSE(m.is_built_with({})) << "a GPU has another order";
}

TEST(IluOperation, HasFp64WhereFp32DoesNotReach) {
  // The first row is so small that its multiple in row 1 is beyond FP32.
  double scale = 1e-60;
  const auto make = [&](std::int64_t i, std::int64_t j) {
    const double size = i == j ? 4.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
    return i % 2 == 0 ? scale * size : size;
  };
  const auto a = test::distributed(MPI_COMM_WORLD, 40, make);
  IluOperation m;
  m.build(a, {});
  EXPECT_FALSE(m.facts()->in_fp32);
  const Array<double> r = random_rows(*a, 1);
  for (const double z : applied(m, r)) EXPECT_TRUE(std::isfinite(z));
  // New values bring it back into the range of FP32, and out of it again.
  const Array<double> values = joined_rows(*a).values;
  scale = 1;
  const auto even = test::distributed(MPI_COMM_WORLD, 40, make);
  a->replace_values(joined_rows(*even).values);
  m.renew();
  EXPECT_TRUE(m.facts()->in_fp32);
  IluOperation fresh;
  fresh.build(even, {});
  EXPECT_TRUE(same_bits(applied(m, r), applied(fresh, r)));
  a->replace_values(values);
  m.renew();
  EXPECT_FALSE(m.facts()->in_fp32);
}

TEST(IluOperation, SaysWhatItHasReplaced) {
  const auto a = test::distributed(MPI_COMM_WORLD, 30, [](std::int64_t i, std::int64_t j) {
    return i == j ? (i == 0 ? 0.0 : 3.0) : std::abs(i - j) == 1 ? 1.0 : 0.0;
  });
  IluOperation m;
  m.build(a, {});
  EXPECT_EQ(m.facts()->replaced, 1);
  m.build(a, {.levels = 0, .order = {}, .definite = true});
  EXPECT_GT(m.facts()->shift, 0);
}

TEST(IluOperation, IsAppliedAfterItIsMadeOnly) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 5);
  IluOperation m;
  Array<double> r = random_rows(*a, 1), z(r.size());
  EXPECT_THROW(m.apply(r, z), Error);
  EXPECT_THROW(m.renew(), Error);
  m.build(a, {});
  m.forget();
  EXPECT_FALSE(m.facts());
  EXPECT_FALSE(m.is_built_with({}));
  EXPECT_THROW(m.apply(r, z), Error);
}

TEST(IluOperation, RefusesWhatDoesNotFitBeforeTheWork) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 60);
  const auto needed = static_cast<std::size_t>(32 * a->blocks.local.nnz());
  IluOperation m;
  const test::LimitedMemory limited(needed / 2);
  try {
    m.build(a, {});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_NE(std::string(error.what()).find("setting up incomplete factors may take"),
              std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(m.is_set_up());
}

TEST(IluOperation, ServesRanksWithoutRows) {
  const auto a = test::distributed(MPI_COMM_WORLD, 1, [](auto, auto) { return 8.0; });
  for (const int layers : {0, 1, 2}) {
    IluOperation m;
    m.build(a, {.levels = 0, .order = {}, .overlap = layers});
    const Array<double> r(a->local_rows(), 4.0);
    for (const double z : applied(m, r)) EXPECT_EQ(z, 0.5);
    m.renew();
    for (const double z : applied(m, r)) EXPECT_EQ(z, 0.5);
  }
}

TEST(IluOperation, HasNoOverlapWhereItMustBeSymmetric) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 6);
  IluOperation without, with;
  without.build(a, {.levels = 0, .order = {}, .definite = true});
  with.build(a, {.levels = 0, .order = {}, .definite = true, .overlap = 2});
  const Array<double> r = random_rows(*a, 1);
  EXPECT_EQ(with.facts()->overlap, 0);
  EXPECT_TRUE(same_bits(applied(with, r), applied(without, r)));
}

}  // namespace
}  // namespace trireme::factors
