// SPDX-License-Identifier: BSD-3-Clause
// Matrices that have no ordinary hierarchy: singular, without connections, indefinite, tiny. Run on
// 1 and 2 ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "distributed/matrix_on_ranks.hpp"
#include "multigrid/forecast.hpp"
#include "multigrid/on_ranks.hpp"
#include "support/limited_memory.hpp"

namespace trireme::multigrid {
namespace {

using test::solve_by_cg;
using trireme::test::Cut;
using trireme::test::matrix_on_ranks;

using Entry = std::function<double(std::int64_t, std::int64_t)>;

// n x n; zeros are not stored.
CsrMatrix<double> matrix_of(std::int64_t n, const Entry& entry) {
  CsrMatrix<double> a;
  a.rows = a.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j)
      if (const double value = entry(i, j); value != 0) {
        a.col_idx.push_back(static_cast<std::int32_t>(j));
        a.values.push_back(value);
      }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

// The Laplacian of a path; its ends have one neighbour, so that constants are mapped to zero.
CsrMatrix<double> neumann(std::int64_t n) {
  return matrix_of(n, [n](std::int64_t i, std::int64_t j) {
    if (i == j) return i == 0 || i == n - 1 ? 1.0 : 2.0;
    return std::abs(i - j) == 1 ? -1.0 : 0.0;
  });
}

std::shared_ptr<DistributedMatrix> on_ranks(const CsrMatrix<double>& a) {
  return matrix_on_ranks(MPI_COMM_WORLD, a, Cut::by_nonzeros);
}

Options smaller_levels() {
  Options options;
  options.coarsest_rows = 20;
  options.replicated_rows = 60;
  return options;
}

void expect_finite(const DistributedMatrix& a, Hierarchy& m) {
  const Array<double> r = test::random_rows(a, 4);
  Array<double> z(r.size(), NAN);
  m.apply(r, z);
  EXPECT_TRUE(std::all_of(z.begin(), z.end(), [](double v) { return std::isfinite(v); }));
}

// The line of the error and its code.
std::string refused(const CsrMatrix<double>& matrix, ExitCode code,
                    const Options& options = smaller_levels()) {
  const auto a = on_ranks(matrix);
  try {
    Hierarchy m(a, {}, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(SingularMatrix, ConvergesForAConsistentRightHandSide) {
  const CsrMatrix<double> matrix = neumann(400);
  const auto a = on_ranks(matrix);
  Hierarchy m(a, {}, smaller_levels());
  expect_finite(*a, m);
  const Array<double> x = test::random_rows(*a, 1);
  Array<double> b(x.size());
  HostOperator(a, "csr").multiply(x, b);
  const test::CgResult result = solve_by_cg(a, m, b);
  EXPECT_TRUE(result.converged);
  EXPECT_LE(result.iterations, 25);
}

TEST(MatrixWithoutConnections, IsSolvedByItsSmoother) {
  const auto a = on_ranks(matrix_of(300, [](std::int64_t i, std::int64_t j) {
    return i == j ? 1.0 + static_cast<double>(i) : 0.0;
  }));
  Options options = smaller_levels();
  Hierarchy m(a, {}, options);
  EXPECT_EQ(m.levels().size(), 1u);
  EXPECT_NE(m.remark(), "");
  EXPECT_LE(solve_by_cg(a, m).iterations, 3);
}

TEST(CoarseningThatEnds, IsBoundedAndSaid) {
  const auto a = test::generated(MPI_COMM_WORLD, "poisson3d", 14);
  Options options = smaller_levels();
  options.max_levels = 2;
  options.replicated_rows = 0;
  Hierarchy m(a, {}, options);
  EXPECT_EQ(m.levels().size(), 2u);
  EXPECT_EQ(m.remark(), "max_levels is 2");
  EXPECT_LE(solve_by_cg(a, m).iterations, 15);
}

TEST(TinyMatrix, IsInverted) {
  for (const std::int64_t n : {1, 2, 7}) {
    const auto a = on_ranks(matrix_of(n, [](std::int64_t i, std::int64_t j) {
      return i == j ? 4.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
    }));
    Hierarchy m(a, {}, smaller_levels());
    EXPECT_LE(solve_by_cg(a, m).iterations, 1);
  }
}

TEST(EmptyMatrix, HasAHierarchyThatDoesNothing) {
  const auto a = on_ranks(matrix_of(0, [](std::int64_t, std::int64_t) { return 0.0; }));
  Hierarchy m(a, {}, smaller_levels());
  m.apply({}, {});
  EXPECT_EQ(m.operator_complexity(), 1);
}

TEST(DisconnectedParts, ConvergeTogether) {
  const auto a = on_ranks(matrix_of(300, [](std::int64_t i, std::int64_t j) {
    if (i / 30 != j / 30) return 0.0;
    return i == j ? 2.01 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  }));
  Hierarchy m(a, {}, smaller_levels());
  expect_finite(*a, m);
  EXPECT_LE(solve_by_cg(a, m).iterations, 20);
}

TEST(DenseRow, ConvergesNevertheless) {
  const auto a = on_ranks(matrix_of(300, [](std::int64_t i, std::int64_t j) {
    if (i == j) return i == 0 ? 400.0 : 2.2;
    return i == 0 || j == 0 ? -0.1 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  }));
  Hierarchy m(a, {}, smaller_levels());
  expect_finite(*a, m);
  EXPECT_LE(solve_by_cg(a, m).iterations, 30);
}

TEST(PositiveOffDiagonals, GiveADefiniteCycle) {
  const auto a = on_ranks(matrix_of(300, [](std::int64_t i, std::int64_t j) {
    return i == j ? 2.1 : std::abs(i - j) == 1 ? 1.0 : 0.0;
  }));
  Hierarchy m(a, {}, smaller_levels());
  expect_finite(*a, m);
  EXPECT_TRUE(solve_by_cg(a, m).converged);
}

TEST(UnfitDiagonal, IsRefusedOnEveryRank) {
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const std::string line = refused(matrix_of(200,
                                               [bad](std::int64_t i, std::int64_t j) {
                                                 if (i == j) return i == 150 ? bad : 2.0;
                                                 return std::abs(i - j) == 1 ? -1.0 : 0.0;
                                               }),
                                     ExitCode::input);
    EXPECT_NE(line.find("150"), std::string::npos) << line;
  }
}

// Rows that were redistributed have the numbers of the caller in messages.
TEST(RefusedRows, AreNamedByTheNumbersOfTheCaller) {
  const auto line_of = [](const CsrMatrix<double>& matrix, const Options& options) -> std::string {
    const auto a = on_ranks(matrix);
    for (std::int64_t row = 0; row < a->local_rows(); ++row)
      a->callers_rows.push_back(static_cast<std::int32_t>(5000 + 2 * (a->first_row() + row)));
    try {
      Hierarchy m(a, {}, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CsrMatrix<double> a = neumann(200);
  double& diagonal = a.values[a.row_ptr[150] + 1];
  const Options on_every_rank, distributed = smaller_levels();
  diagonal = 0;
  const std::string zero = line_of(a, distributed);
  EXPECT_NE(zero.find("row 5300 "), std::string::npos) << zero;
  diagonal = -2;
  const std::string negative = line_of(a, distributed);
  EXPECT_NE(negative.find("row 5300 "), std::string::npos) << negative;
  for (double& value : a.values) value = 0;
  const std::string no_entry = line_of(a, on_every_rank);
  EXPECT_NE(no_entry.find("row 5000 "), std::string::npos) << no_entry;

  a = neumann(200);
  a.values[a.row_ptr[150] + 2] = a.values[a.row_ptr[151]] =
      -4;  // the block of the rows 150 and 151
  Options blocks = distributed;
  blocks.smoother = Smoother::block_jacobi;
  blocks.block_size = 2;
  const std::string block = line_of(a, blocks);
  EXPECT_NE(block.find("rows 5300 "), std::string::npos) << block;
}

// A matrix of few rows is inverted, whatever its diagonal is.
TEST(RowWithoutNonzeros, IsNamedInASmallMatrixToo) {
  CsrMatrix<double> zeros = neumann(30);
  zeros.values.assign(zeros.values.size(), 0.0);
  Options inverted;
  const std::string line = refused(zeros, ExitCode::input, inverted);
  EXPECT_NE(line.find("row 0 (from 0) has no entry other than zero"), std::string::npos) << line;
  CsrMatrix<double> one_row = neumann(30);
  for (std::int32_t k = one_row.row_ptr[17]; k < one_row.row_ptr[18]; ++k) one_row.values[k] = 0;
  EXPECT_NE(refused(one_row, ExitCode::input, inverted).find("row 17 "), std::string::npos);
  const CsrMatrix<double> swap =
      matrix_of(2, [](std::int64_t i, std::int64_t j) { return i == j ? 0.0 : 1.0; });
  const auto a = on_ranks(swap);
  Hierarchy m(a, {}, inverted);
  expect_finite(*a, m);
}

TEST(ValueThatIsNotFinite, IsRefusedOnEveryRank) {
  refused(matrix_of(200,
                    [](std::int64_t i, std::int64_t j) {
                      if (i == j) return 2.0;
                      if (i == 20 && j == 21) return std::numeric_limits<double>::infinity();
                      return std::abs(i - j) == 1 ? -1.0 : 0.0;
                    }),
          ExitCode::input);
}

TEST(IndefiniteMatrix, IsRefusedOrGivesFiniteNumbers) {
  const auto a = on_ranks(matrix_of(300, [](std::int64_t i, std::int64_t j) {
    return i == j ? 0.3 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  }));
  try {
    Hierarchy m(a, {}, smaller_levels());
    expect_finite(*a, m);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(std::string(error.what()).find("not positive definite"), std::string::npos);
  }
}

TEST(OptionsOutOfRange, AreRefused) {
  const CsrMatrix<double> a = neumann(50);
  const auto with = [](const auto& change) {
    Options options = smaller_levels();
    change(options);
    return options;
  };
  refused(a, ExitCode::usage, with([](Options& o) { o.degree = 0; }));
  refused(a, ExitCode::usage, with([](Options& o) { o.threshold = 1; }));
  refused(a, ExitCode::usage, with([](Options& o) { o.threshold = std::nan(""); }));
  refused(a, ExitCode::usage, with([](Options& o) { o.fill = -0.1; }));
  refused(a, ExitCode::usage, with([](Options& o) { o.fill = std::nan(""); }));
  refused(a, ExitCode::usage, with([](Options& o) { o.max_levels = 0; }));
  refused(a, ExitCode::usage, with([](Options& o) { o.coarsest_rows = 0; }));
  refused(a, ExitCode::usage, with([](Options& o) { o.block_size = 3; }));
}

TEST(Forecast, RefusesWhatDoesNotFitBeforeTheWork) {
  const auto a = test::generated(MPI_COMM_WORLD, "poisson3d", 60);
  const std::int64_t needed = forecast_bytes(*a, 0, Options{});
  const trireme::test::LimitedMemory limited(static_cast<std::size_t>(needed / 2));
  try {
    Hierarchy m(a, {}, Options{});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_NE(std::string(error.what()).find("setting up multigrid may take"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace trireme::multigrid
