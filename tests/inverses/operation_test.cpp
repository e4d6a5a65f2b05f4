// SPDX-License-Identifier: BSD-3-Clause
// The approximate inverse as the operation of a loop. Run on 1 and 3 ranks.
#include "inverses/operation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "base/error.hpp"
#include "distributed/host_operator_system.hpp"
#include "solvers/host_solver.hpp"
#include "support/distributed_matrices.hpp"

namespace trireme::inverses {
namespace {

using solvers::PreconditionerKind;
using test::dense;
using test::Dense;
using test::dot;
using test::generated;
using test::random_rows;

Array<double> applied(InverseOperation& m, std::span<const double> r) {
  Array<double> z(r.size(), NAN);
  m.apply(r, z);
  return z;
}

TEST(FsaiOperation, IsTheProductOfItsFactors) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 6);
  FsaiOperation m;
  m.build(a, {});
  const RowSlab slab = make_fsai(*a, ScaledRows(*a), {});
  const Dense g = dense(a->comm, slab.first_row, a->global_rows(), slab.local);
  const Array<double> own = random_rows(*a, 1);
  std::vector<double> r(a->global_rows(), 0.0), between(r.size(), 0.0), z(r.size(), 0.0);
  std::ranges::copy(own, r.begin() + a->first_row());
  MPI_Allreduce(MPI_IN_PLACE, r.data(), static_cast<int>(r.size()), MPI_DOUBLE, MPI_SUM, a->comm);
  const auto number = [&](std::size_t i, std::size_t j) {
    return static_cast<double>(static_cast<float>(g[i][j]));
  };
  for (std::size_t i = 0; i < r.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) between[i] += number(i, j) * r[j];
  for (std::size_t i = 0; i < r.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) z[j] += number(i, j) * between[i];
  const Array<double> found = applied(m, own);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], z[a->first_row() + i], 1e-14);
  const auto facts = m.facts();
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->in_fp32);
  EXPECT_EQ(facts->nnz, slab.global_nnz);
}

TEST(FsaiOperation, IsSymmetricAndPositiveDefinite) {
  for (const char* kind : {"poisson3d", "elasticity3d"}) {
    const auto a = generated(MPI_COMM_WORLD, kind, 5);
    FsaiOperation m;
    m.build(a, {});
    const Array<double> r = random_rows(*a, 1), s = random_rows(*a, 2);
    const Array<double> mr = applied(m, r), ms = applied(m, s);
    const double rr = dot(a->comm, r, mr), ss = dot(a->comm, s, ms);
    EXPECT_GT(rr, 0);
    EXPECT_GT(ss, 0);
    EXPECT_NEAR(dot(a->comm, r, ms), dot(a->comm, s, mr), 1e-13 * std::sqrt(rr * ss));
  }
}

TEST(SpaiOperation, IsTheProductWithItsRowsAndWithTheirTransposed) {
  const auto a = generated(MPI_COMM_WORLD, "convection3d", 6);
  SpaiOperation m;
  m.build(a, {});
  const RowSlab slab = make_spai(*a, {});
  const Dense inverse = dense(a->comm, slab.first_row, a->global_rows(), slab.local);
  const Array<double> own = random_rows(*a, 1);
  std::vector<double> r(a->global_rows(), 0.0), z(r.size(), 0.0), of_transposed(r.size(), 0.0);
  std::ranges::copy(own, r.begin() + a->first_row());
  MPI_Allreduce(MPI_IN_PLACE, r.data(), static_cast<int>(r.size()), MPI_DOUBLE, MPI_SUM, a->comm);
  for (std::size_t i = 0; i < r.size(); ++i)
    for (std::size_t j = 0; j < r.size(); ++j) {
      const auto number = static_cast<double>(static_cast<float>(inverse[i][j]));
      z[i] += number * r[j];
      of_transposed[j] += number * r[i];
    }
  const Array<double> found = applied(m, own);
  Array<double> transposed(own.size(), NAN);
  m.apply_transposed(own, transposed);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], z[a->first_row() + i], 1e-14);
    EXPECT_NEAR(transposed[i], of_transposed[a->first_row() + i], 1e-14);
  }
  const auto facts = m.facts();
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->in_fp32);
  EXPECT_EQ(facts->nnz, slab.global_nnz);
  EXPECT_EQ(facts->kernel_of_transposed, "");
}

TEST(SpaiOperation, TakesNewValues) {
  const auto a = generated(MPI_COMM_WORLD, "convection3d", 6);
  SpaiOperation m;
  m.build(a, {});
  const Array<double> r = random_rows(*a, 1), before = applied(m, r);
  Array<double> transposed_before(r.size(), NAN), transposed(r.size(), NAN);
  m.apply_transposed(r, transposed_before);
  Array<double> values = joined_rows(*a).values;
  for (double& value : values) value *= 4;
  a->replace_values(values);
  m.renew();
  const Array<double> after = applied(m, r);
  m.apply_transposed(r, transposed);
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_NEAR(after[i] * 4, before[i], 1e-6 * std::abs(before[i]) + 1e-12);
    EXPECT_NEAR(transposed[i] * 4, transposed_before[i], 1e-6);
  }
  EXPECT_TRUE(m.is_built_with({}));
  EXPECT_FALSE(m.is_built_with({.steps = 3}));
  m.forget();
  EXPECT_THROW(applied(m, r), Error);
}

// New values may leave the range of FP32, also after M^T was asked for.
TEST(SpaiOperation, HasFp64WhereNewValuesNeedIt) {
  const auto a = generated(MPI_COMM_WORLD, "convection3d", 5);
  SpaiOperation m;
  m.build(a, {});
  const Array<double> r = random_rows(*a, 1), before = applied(m, r);
  Array<double> transposed(r.size(), NAN), transposed_before(r.size(), NAN);
  m.apply_transposed(r, transposed_before);
  const Array<double> values = joined_rows(*a).values;
  Array<double> smaller = values;
  for (double& value : smaller) value = std::ldexp(value, -600);
  for (const bool is_small : {true, false}) {
    a->replace_values(is_small ? smaller : values);
    m.renew();
    EXPECT_EQ(m.facts()->in_fp32, !is_small);
    const Array<double> after = applied(m, r);
    m.apply_transposed(r, transposed);
    for (std::size_t i = 0; i < after.size(); ++i) {
      const int exponent = is_small ? -600 : 0;
      EXPECT_NEAR(std::ldexp(after[i], exponent), before[i], 1e-5);
      EXPECT_NEAR(std::ldexp(transposed[i], exponent), transposed_before[i], 1e-5);
    }
  }
}

TEST(SpaiOperation, SavesIterationsOfBicgstab) {
  const auto a = generated(MPI_COMM_WORLD, "convection3d", 14);
  SpaiOperation m;
  m.build(a, {});
  HostOperatorSystem system(std::make_shared<HostOperator>(a, "csr"));
  Array<double> diagonal(a->local_rows());
  a->diagonal(diagonal);
  const auto iterations = [&](SpaiOperation* spai) {
    solvers::PreconditionerSpec spec;
    spec.kind = spai ? PreconditionerKind::spai : PreconditionerKind::jacobi;
    spec.diagonal = diagonal;
    spec.given = spai;
    solvers::HostSolver solver(system, solvers::Method::bicgstab, solvers::Variant::classic, spec);
    const Array<double> b = random_rows(*a, 5);
    Array<double> x(b.size(), 0.0);
    const auto result =
        solver.solve({.b = b, .x = x, .zero_guess = true},
                     {.rtol = 1e-10, .atol = 0, .divtol = 1e10, .max_iterations = 5000});
    EXPECT_EQ(result.reason, solvers::Reason::rtol);
    return result.iterations;
  };
  EXPECT_LE(3 * iterations(&m), 2 * iterations(nullptr));
}

// Of CG with `fsai`; null: with Jacobi.
std::int64_t iterations(const std::shared_ptr<DistributedMatrix>& a, FsaiOperation* fsai) {
  HostOperatorSystem system(std::make_shared<HostOperator>(a, "csr"));
  Array<double> diagonal(a->local_rows());
  a->diagonal(diagonal);
  solvers::PreconditionerSpec spec;
  spec.kind = fsai ? PreconditionerKind::fsai : PreconditionerKind::jacobi;
  spec.diagonal = diagonal;
  spec.given = fsai;
  solvers::HostSolver solver(system, solvers::Method::cg, solvers::Variant::classic, spec);
  const Array<double> b = random_rows(*a, 5);
  Array<double> x(b.size(), 0.0);
  const auto result =
      solver.solve({.b = b, .x = x, .zero_guess = true},
                   {.rtol = 1e-10, .atol = 0, .divtol = 1e10, .max_iterations = 5000});
  EXPECT_EQ(result.reason, solvers::Reason::rtol);
  return result.iterations;
}

TEST(FsaiOperation, SavesIterationsOfCg) {
  for (const char* kind : {"poisson3d", "elasticity3d", "diffusion3d"}) {
    const auto a = generated(MPI_COMM_WORLD, kind, 12);
    FsaiOperation m;
    m.build(a, {});
    const std::int64_t with = iterations(a, &m);
    const std::int64_t jacobi = iterations(a, nullptr);
    EXPECT_LE(2 * with, jacobi) << kind;
  }
}

TEST(FsaiOperation, TakesNewValues) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 7);
  FsaiOperation m;
  m.build(a, {});
  const Array<double> r = random_rows(*a, 1), before = applied(m, r);
  Array<double> values = joined_rows(*a).values;
  for (double& value : values) value *= 4;
  a->replace_values(values);
  EXPECT_EQ(applied(m, r), before) << "until it is told";
  m.renew();
  const Array<double> after = applied(m, r);
  for (std::size_t i = 0; i < after.size(); ++i)
    EXPECT_NEAR(after[i] * 4, before[i], 1e-6 * std::abs(before[i]) + 1e-12);
  EXPECT_TRUE(m.is_built_with({}));
  EXPECT_FALSE(m.is_built_with({.steps = 3}));
}

TEST(FsaiOperation, HasFp64WhereFp32DoesNotReach) {
  const auto a = test::distributed(MPI_COMM_WORLD, 40, [](std::int64_t i, std::int64_t j) {
    return i == j ? 2e-200 : std::abs(i - j) == 1 ? -0.9e-200 : 0.0;
  });
  FsaiOperation m;
  m.build(a, {});
  EXPECT_FALSE(m.facts()->in_fp32);
  for (const double z : applied(m, random_rows(*a, 1))) {
    EXPECT_TRUE(std::isfinite(z));
    EXPECT_GT(std::abs(z), 1e190);
  }
  // New values bring it back into the range of FP32, and out of it again.
  const Array<double> values = joined_rows(*a).values;
  Array<double> larger = values;
  for (double& value : larger) value *= 1e200;
  a->replace_values(larger);
  m.renew();
  EXPECT_TRUE(m.facts()->in_fp32);
  a->replace_values(values);
  m.renew();
  EXPECT_FALSE(m.facts()->in_fp32);
  for (const double z : applied(m, random_rows(*a, 1))) EXPECT_GT(std::abs(z), 1e190);
}

TEST(FsaiOperation, HasFp64WhereNewValuesNeedIt) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 5);
  FsaiOperation m;
  m.build(a, {});
  const Array<double> r = random_rows(*a, 1), before = applied(m, r);
  Array<double> smaller = joined_rows(*a).values;
  for (double& value : smaller) value = std::ldexp(value, -600);
  a->replace_values(smaller);
  m.renew();
  EXPECT_FALSE(m.facts()->in_fp32);
  const Array<double> after = applied(m, r);
  for (std::size_t i = 0; i < after.size(); ++i)
    EXPECT_NEAR(std::ldexp(after[i], -600), before[i], 1e-5);
}

TEST(FsaiOperation, IsNotSetUpAfterAnError) {
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 5);
  FsaiOperation m;
  const Array<double> r = random_rows(*a, 1);
  EXPECT_THROW(applied(m, r), Error);
  EXPECT_THROW(m.renew(), Error);
  m.build(a, {});
  Array<double> values = joined_rows(*a).values;
  for (double& value : values) value = -value;
  a->replace_values(values);
  EXPECT_THROW(m.renew(), Error);
  EXPECT_FALSE(m.is_set_up());
  EXPECT_FALSE(m.facts());
  EXPECT_THROW(applied(m, r), Error);
}

}  // namespace
}  // namespace trireme::inverses
