// SPDX-License-Identifier: BSD-3-Clause
// The products of the approximate inverse on a GPU, alone and in a loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "inverses/cuda/device_fsai.hpp"
#include "inverses/fsai.hpp"
#include "inverses/operation.hpp"
#include "solvers/cuda_solver.hpp"
#include "support/distributed_matrices.hpp"

namespace trireme::inverses {
namespace {

using test::generated;
using test::random_rows;

// Of G, by the host.
CsrMatrix<double> rows_of_host(const DistributedMatrix& a, std::int32_t steps) {
  CsrMatrix<double> rows = make_fsai(a, ScaledRows(a), {steps}).local;
  for (double& value : rows.values) value = static_cast<double>(static_cast<float>(value));
  return rows;
}

void expect_bits(const DeviceFactor& made, const CsrMatrix<double>& expected, StreamRef stream) {
  EXPECT_EQ(to_host(made.rows.row_ptr.view(), stream), expected.row_ptr);
  EXPECT_EQ(to_host(made.rows.col_idx.view(), stream), expected.col_idx);
  EXPECT_EQ(to_host(made.rows.values.view(), stream), expected.values);
}

// A random symmetric matrix with rows that differ in size, and nearly the same rows.
double twins(std::int64_t i, std::int64_t j) {
  if (i == j) return std::exp2(static_cast<double>(i % 5) * 8);
  const auto low = static_cast<std::uint64_t>(std::min(i, j));
  const auto high = static_cast<std::uint64_t>(std::max(i, j));
  const std::uint64_t chance = split_mix(low * 1000 + high, 3);
  const double size = std::exp2(static_cast<double>(i % 5 + j % 5) * 4);
  if (high == low + 1 && low % 2 == 0) return size * (1 - 1e-13);
  return chance % 5 == 0 ? size * (to_unit(chance) - 0.5) : 0;
}

TEST(FsaiOnGpu, HasTheBitsOfTheHost) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  for (const auto& a :
       {generated(MPI_COMM_WORLD, "poisson3d", 12), generated(MPI_COMM_WORLD, "elasticity3d", 8),
        generated(MPI_COMM_WORLD, "diffusion3d", 9), test::distributed(MPI_COMM_WORLD, 700, twins),
        test::distributed(MPI_COMM_WORLD, 1, twins)})
    for (const std::int32_t steps : {1, 2, 4, 7, kMostStepsOnGpu}) {
      SCOPED_TRACE(testing::Message() << a->global_rows() << " rows, " << steps << " steps");
      Stream stream;
      const auto on_gpu = to_device(a->blocks.local.view(), stream);
      auto made = make_fsai_on_device(on_gpu.view(), steps, stream);
      ASSERT_TRUE(made);
      EXPECT_TRUE(made->in_fp32);
      expect_bits(*made, rows_of_host(*a, steps), stream);
      // New values on the pattern.
      Array<double> values = joined_rows(*a).values;
      for (std::size_t k = 0; k < values.size(); ++k) values[k] *= 3;
      RowSlab renewed = make_fsai(*a, ScaledRows(*a), {steps});
      a->replace_values(values);
      renew_fsai(*a, ScaledRows(*a), renewed);
      for (double& value : renewed.local.values)
        value = static_cast<double>(static_cast<float>(value));
      const auto of_new = to_device(a->blocks.local.view(), stream);
      ASSERT_TRUE(renew_fsai_on_device(of_new.view(), *made, stream));
      expect_bits(*made, renewed.local, stream);
    }
}

// A dense row of 3,000 entries is read in part.
TEST(FsaiOnGpu, HasTheBitsOfTheHostBesideADenseRow) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  const auto a = test::distributed(MPI_COMM_WORLD, 3000, [](std::int64_t i, std::int64_t j) {
    if (i == j) return i == 1500 ? 1e5 : 4.0;
    return i == 1500 || j == 1500 ? 1.0 : std::abs(i - j) == 1 ? -1.5 : 0.0;
  });
  Stream stream;
  const auto on_gpu = to_device(a->blocks.local.view(), stream);
  for (const std::int32_t steps : {1, kMostStepsOnGpu}) {
    const auto made = make_fsai_on_device(on_gpu.view(), steps, stream);
    ASSERT_TRUE(made);
    expect_bits(*made, rows_of_host(*a, steps), stream);
  }
}

TEST(FsaiOnGpu, LeavesToTheHostWhatItCannotMake) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  Stream stream;
  const auto refused = [&](const CsrMatrix<double>& a) {
    return !make_fsai_on_device(to_device(a.view(), stream).view(), 10, stream);
  };
  EXPECT_TRUE(
      refused({.rows = 2, .cols = 2, .row_ptr = {0, 1, 2}, .col_idx = {0, 1}, .values = {1, -1}}));
  EXPECT_TRUE(
      refused({.rows = 2, .cols = 2, .row_ptr = {0, 1, 2}, .col_idx = {0, 0}, .values = {1, 1}}));
  EXPECT_TRUE(refused({.rows = 2,
                       .cols = 2,
                       .row_ptr = {0, 2, 4},
                       .col_idx = {1, 0, 0, 1},
                       .values = {1, 3, 1, 3}}));
  EXPECT_FALSE(refused({.rows = 2,
                        .cols = 2,
                        .row_ptr = {0, 2, 4},
                        .col_idx = {0, 1, 0, 1},
                        .values = {3, 1, 1, 3}}));
}

Array<double> applied(FsaiOperation& m, std::span<const double> r) {
  EXPECT_TRUE(m.prepare_on_device());
  Array<double> z(r.size(), NAN);
  Stream stream;
  DeviceBuffer<double> on_r(r.size(), stream), on_z(r.size(), stream);
  copy_to_device(r, on_r.span(), stream);
  m.enqueue(on_r.view(), on_z.span(), stream);
  copy_to_host(on_z.view(), std::span(z), stream);
  stream.synchronize();
  return z;
}

// New values leave the range of FP32, come back into it, and are no longer positive.
TEST(FsaiOnGpu, ChangesItsPrecisionWithTheValues) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  const auto a = generated(MPI_COMM_WORLD, "poisson3d", 8);
  FsaiOperation m;
  m.set_place(ExchangeRequest());
  m.build(a, {});
  const Array<double> r = random_rows(*a, 1), before = applied(m, r);
  const Array<double> values = joined_rows(*a).values;
  const auto scaled = [&](double factor) {
    Array<double> result = values;
    for (double& value : result) value *= factor;
    return result;
  };
  const std::uint64_t version = m.device_version();
  a->replace_values(scaled(0x1p-600));
  m.renew();
  EXPECT_FALSE(m.facts()->in_fp32);
  EXPECT_NE(m.device_version(), version) << "graphs have recorded the former kernels";
  const Array<double> beyond = applied(m, r);
  for (std::size_t i = 0; i < r.size(); ++i)
    EXPECT_NEAR(std::ldexp(beyond[i], -600), before[i], 1e-6 * (1 + std::abs(before[i])));
  a->replace_values(scaled(1));
  m.renew();
  EXPECT_TRUE(m.facts()->in_fp32);
  EXPECT_EQ(applied(m, r), before);
  a->replace_values(scaled(-1));
  EXPECT_THROW(m.renew(), Error);
  EXPECT_FALSE(m.is_set_up());
}

TEST(FsaiOnGpu, HasTheNumbersOfTheHost) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  for (const char* kind : {"poisson3d", "elasticity3d"}) {
    const auto a = generated(MPI_COMM_WORLD, kind, 10);
    FsaiOperation m;
    m.set_place(ExchangeRequest());
    m.build(a, {});
    EXPECT_TRUE(m.facts()->made_on_gpu);
    const Array<double> r = random_rows(*a, 1), z = applied(m, r);
    Array<double> expected(r.size());
    m.apply(r, expected);
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(z[i], expected[i], 1e-13) << kind << i;
  }
}

TEST(FsaiOnGpu, SavesIterationsAndTakesNewValues) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU";
  const auto a = generated(MPI_COMM_WORLD, "diffusion3d", 14);
  FsaiOperation m;
  m.set_place(ExchangeRequest());
  m.build(a, {});
  CudaOperatorSystem system(std::make_shared<CudaOperator>(a, "csr-vector"));
  const Array<double> b = random_rows(*a, 5);
  Array<double> x(b.size(), 0.0);
  const solvers::Tolerances rule{.rtol = 1e-10, .atol = 0, .divtol = 1e10, .max_iterations = 5000};
  solvers::PreconditionerSpec fsai, jacobi;
  fsai.kind = solvers::PreconditionerKind::fsai;
  fsai.given = &m;
  solvers::CudaSolver with(system, solvers::Method::cg, solvers::Variant::classic, fsai);
  const auto of_fsai = with.solve({.b = b, .x = x, .zero_guess = true}, rule);
  EXPECT_EQ(of_fsai.reason, solvers::Reason::rtol);
  Array<double> diagonal(b.size());
  a->diagonal(diagonal);
  jacobi.kind = solvers::PreconditionerKind::jacobi;
  jacobi.diagonal = diagonal;
  solvers::CudaSolver without(system, solvers::Method::cg, solvers::Variant::classic, jacobi);
  const auto of_jacobi = without.solve({.b = b, .x = x, .zero_guess = true}, rule);
  EXPECT_LE(2 * of_fsai.iterations, of_jacobi.iterations);
  Array<double> values = joined_rows(*a).values;
  for (double& value : values) value *= 4;
  a->replace_values(values);
  m.renew();
  CudaOperatorSystem renewed(std::make_shared<CudaOperator>(a, "csr-vector"));
  solvers::CudaSolver again(renewed, solvers::Method::cg, solvers::Variant::classic, fsai);
  const auto of_new = again.solve({.b = b, .x = x, .zero_guess = true}, rule);
  EXPECT_EQ(of_new.reason, solvers::Reason::rtol);
  EXPECT_NEAR(static_cast<double>(of_new.iterations), static_cast<double>(of_fsai.iterations), 2);
}

}  // namespace
}  // namespace trireme::inverses
