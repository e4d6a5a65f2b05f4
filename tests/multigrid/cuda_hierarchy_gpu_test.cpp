// SPDX-License-Identifier: BSD-3-Clause
// The cycle on a GPU is the cycle of the host. Skips without a GPU.
#include "multigrid/cuda/cuda_hierarchy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "device/device.hpp"
#include "multigrid/cycle_settings.hpp"
#include "multigrid/on_gpu.hpp"

namespace trireme::multigrid {
namespace {

using test::applied;
using test::applied_on_gpu;
using test::expect_near;
using test::generated;
using test::How;
using test::random_rows;
using test::small_levels;
using test::tolerance_of;

class CycleOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
  }
  static void expect_same(const DistributedMatrix& a, Hierarchy& m,
                          const CudaCycleOptions& options = {}) {
    const Array<double> r = random_rows(a, 3);
    const Array<double> expected = applied(m, r);
    const CudaHierarchy there(m.parts(), m.options().cycle, options);
    expect_near(applied_on_gpu(there, r), expected, tolerance_of(m));
    expect_near(applied_on_gpu(there, r, How::recorded), expected, tolerance_of(m));
  }
};

TEST_F(CycleOnGpu, IsThatOfTheHostForEverySmootherDegreeAndCycleAlsoUnderASanitizer) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 9);
  test::for_smoothers_degrees_and_cycles(
      {Smoother::chebyshev, Smoother::jacobi, Smoother::l1_jacobi, Smoother::block_jacobi}, 3,
      {Precision::full, Precision::mixed}, [&](const Options& options) {
        Hierarchy m(a, {}, options);
        EXPECT_GE(m.levels().size(), 3u);
        expect_same(*a, m);
      });
}

TEST_F(CycleOnGpu, IsThatOfTheHostForBlocksAndPrecisionsAlsoUnderASanitizer) {
  const auto a = generated(MPI_COMM_SELF, "elasticity3d", 5, 3);
  test::for_blocks_and_precisions([&](const Options& options) {
    Hierarchy m(a, {}, options);
    expect_same(*a, m);
  });
}

TEST_F(CycleOnGpu, DoesNotDependOnTheLayoutOfItsRowsAlsoUnderASanitizer) {
  for (const char* kind : {"poisson3d", "graph"}) {
    const auto a = generated(MPI_COMM_SELF, kind, *kind == 'g' ? 2000 : 12);
    Hierarchy m(a, {}, small_levels());
    for (const int lanes : {1, 2, 4, 8, 16, 32})
      for (const bool wide : {false, true}) {
        SCOPED_TRACE(std::string(kind) + " " + std::to_string(lanes) + (wide ? " wide" : ""));
        expect_same(*a, m, {.lanes = lanes, .wide = wide});
      }
  }
}

TEST_F(CycleOnGpu, IsThatOfTheHostOnALargerMatrix) {
  for (const char* kind : {"poisson3d", "convection3d", "diffusion3d"}) {
    const auto a = generated(MPI_COMM_SELF, kind, 45);
    Hierarchy m(a, {}, {});
    expect_same(*a, m);
  }
}

TEST_F(CycleOnGpu, StoresAStencilInFp16AndFollowsValuesThatNeedMore) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 45);
  Array<double> values = test::values_of(*a);
  for (double& value : values) value *= 0.1;  // so that FP16 needs a factor
  a->replace_values(values);
  Hierarchy m(a, {}, {});
  CudaHierarchy there(m.parts(), CycleKind::v);
  EXPECT_EQ(there.levels()[0].stored_of_a, StoredValues::half);
  EXPECT_EQ(there.levels()[1].stored_of_a, StoredValues::single);
  const Array<double> r = random_rows(*a, 3);
  expect_near(applied_on_gpu(there, r), applied(m, r), tolerance_of(m));
  values.back() *= 1.0001;
  a->replace_values(values);
  m.renew();
  ASSERT_TRUE(there.renew(m.parts()));
  EXPECT_EQ(there.levels()[0].stored_of_a, StoredValues::single);
  expect_near(applied_on_gpu(there, r), applied(m, r), tolerance_of(m));
}

// A chain whose rows are joined here and there with rows 100,000 further on, so that the columns of
// few steps are too far apart for 16 bits.
TEST_F(CycleOnGpu, ServesColumnsThatAreFarApartAlsoUnderASanitizer) {
  constexpr std::int32_t rows = 140'000, distance = 100'000, every = 7000;
  RowSlab slab{.global_rows = rows,
               .global_cols = rows,
               .first_row = 0,
               .local = {.rows = rows, .cols = rows, .row_ptr = {0}, .col_idx = {}, .values = {}}};
  CsrMatrix<double>& a = slab.local;
  const auto add = [&](std::int32_t column, double value) {
    if (column < 0 || column >= rows) return;
    a.col_idx.push_back(column);
    a.values.push_back(value);
  };
  const auto joined = [](std::int32_t i) { return i < rows - distance && i % every == 0; };
  for (std::int32_t i = 0; i < rows; ++i) {
    if (i >= distance && joined(i - distance)) add(i - distance, -1);
    add(i - 1, -1);
    add(i, 3.5);
    add(i + 1, -1);
    if (joined(i)) add(i + distance, -1);
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  slab.global_nnz = a.nnz();
  const auto matrix = distribute(MPI_COMM_SELF, std::move(slab), {0, rows});
  Hierarchy m(matrix, {}, {});
  expect_same(*matrix, m);
}

TEST_F(CycleOnGpu, ServesHierarchiesOfOneLevelAndThoseThatEndEarlyAlsoUnderASanitizer) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 14);
  for (const int max_levels : {1, 2})
    for (const Smoother smoother : {Smoother::chebyshev, Smoother::block_jacobi}) {
      Options options = small_levels();
      options.max_levels = max_levels;
      options.smoother = smoother;
      Hierarchy m(a, {}, options);
      expect_same(*a, m);
    }
  for (const std::int64_t n : {1, 3}) {  // one row; a dense inverse alone
    const auto tiny = generated(MPI_COMM_SELF, "poisson3d", n);
    Hierarchy m(tiny, {}, {});
    expect_same(*tiny, m);
  }
}

TEST_F(CycleOnGpu, ServesAnEmptyMatrix) {
  RowSlab slab;
  slab.local.row_ptr = {0};
  const auto a = distribute(MPI_COMM_SELF, std::move(slab), {0, 0});
  Hierarchy m(a, {}, {});
  const CudaHierarchy there(m.parts(), CycleKind::v);
  EXPECT_EQ(there.rows(), 0);
  EXPECT_TRUE(applied_on_gpu(there, {}).empty());
}

// To the rounding of the vectors.
TEST_F(CycleOnGpu, IsSymmetricAndPositiveDefinite) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 16);
  for (const Smoother smoother : {Smoother::chebyshev, Smoother::block_jacobi})
    for (const Precision precision : {Precision::full, Precision::mixed}) {
      Options options = small_levels();
      options.smoother = smoother;
      options.precision = precision;
      Hierarchy m(a, {}, options);
      const CudaHierarchy there(m.parts(), CycleKind::v);
      const Array<double> r = random_rows(*a, 1), s = random_rows(*a, 11);
      const Array<double> mr = applied_on_gpu(there, r), ms = applied_on_gpu(there, s);
      const double rr = test::dot(a->comm, r, mr), ss = test::dot(a->comm, s, ms);
      EXPECT_GT(rr, 0);
      EXPECT_GT(ss, 0);
      EXPECT_NEAR(test::dot(a->comm, r, ms), test::dot(a->comm, s, mr),
                  (precision == Precision::full ? 1e-12 : 1e-6) * std::sqrt(rr * ss));
    }
}

// FP32 vectors hold r times a power of two, which changes no bit of the result.
TEST_F(CycleOnGpu, ServesResidualsOfEverySizeAlsoUnderASanitizer) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 12);
  Hierarchy m(a, {}, small_levels());
  const CudaHierarchy there(m.parts(), CycleKind::v);
  const Array<double> r = random_rows(*a, 3);
  const Array<double> z = applied_on_gpu(there, r);
  for (const int exponent : {-900, -200, -1, 0, 200, 900}) {
    Array<double> scaled = r;
    for (double& value : scaled) value = std::ldexp(value, exponent);
    const Array<double> of_scaled = applied_on_gpu(there, scaled);
    for (std::size_t i = 0; i < z.size(); ++i)
      ASSERT_EQ(of_scaled[i], std::ldexp(z[i], exponent)) << exponent << " row " << i;
  }
  const Array<double> zeros(r.size(), 0.0);
  EXPECT_EQ(applied_on_gpu(there, zeros), zeros);
}

// Values beyond the range of FP32 after the set-up of a hierarchy in FP32 make another one.
TEST_F(CycleOnGpu, FollowsNewValuesThatFp32VectorsDoNotServe) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 12);
  Options options = small_levels();
  Hierarchy m(a, {}, options);
  CudaHierarchy there(m.parts(), CycleKind::v);
  Array<double> values = test::values_of(*a);
  for (double& value : values) value *= 1e-30;
  a->replace_values(values);
  m.renew();
  EXPECT_FALSE(there.renew(m.parts()));
  expect_same(*a, m);
}

TEST_F(CycleOnGpu, FollowsNewValuesAlsoUnderASanitizer) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 14);
  Hierarchy m(a, {}, small_levels());
  const Array<double> r = random_rows(*a, 3);
  CudaHierarchy there(m.parts(), CycleKind::v);
  const Array<double> before = applied_on_gpu(there, r);
  Array<double> values = test::values_of(*a);
  for (std::int64_t i = 0; i < a->local_rows(); ++i)
    for (auto k = a->blocks.local.row_ptr[i]; k < a->blocks.local.row_ptr[i + 1]; ++k)
      if (a->blocks.local.col_idx[k] == i) values[k] += 0.3;
  a->replace_values(values);
  m.renew();
  ASSERT_TRUE(there.renew(m.parts()));
  const Array<double> after = applied_on_gpu(there, r);
  EXPECT_NE(after, before);
  expect_near(after, applied(m, r), tolerance_of(m));
}

TEST_F(CycleOnGpu, LevelsOfAnotherSizeOrPrecisionAreRefusedAndChangeNothing) {
  const auto a = generated(MPI_COMM_SELF, "poisson3d", 12);
  Options options = small_levels();
  Hierarchy m(a, {}, options);
  const Array<double> r = random_rows(*a, 3);
  CudaHierarchy there(m.parts(), CycleKind::v);
  const Array<double> before = applied_on_gpu(there, r);
  options.precision = Precision::full;
  Hierarchy exact(a, {}, options);
  EXPECT_FALSE(there.renew(exact.parts()));
  options.max_levels = 2;
  Hierarchy shallow(a, {}, options);
  EXPECT_FALSE(there.renew(shallow.parts()));
  EXPECT_EQ(applied_on_gpu(there, r), before);
}

}  // namespace
}  // namespace trireme::multigrid
