// SPDX-License-Identifier: BSD-3-Clause
// Tests what every order of rows promises, and that the orders do what they are for.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ordering/ordering.hpp"
#include "sparse/generators.hpp"
#include "support/locality.hpp"
#include "support/permuted_csr.hpp"
#include "support/square_shapes.hpp"

namespace trireme {
namespace {

using test::bandwidth_of;
using test::lines_per_row;
using test::permuted_csr;

constexpr Ordering kOrderings[] = {Ordering::rcm, Ordering::cluster};

CsrMatrix<double> shuffled(const std::string& kind, std::int64_t n) {
  const GenerateSpec spec{.kind = kind, .n = n};
  const CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
  return permuted_csr(a, test::random_order(a.rows));
}

CsrMatrix<double> in_order(Ordering ordering, const CsrMatrix<double>& a) {
  return permuted_csr(a, make_order(ordering, a.view()));
}

Array<std::int32_t> order_on(int threads, Ordering ordering, const CsrMatrix<double>& a) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  Array<std::int32_t> order = make_order(ordering, a.view());
  omp_set_num_threads(before);
  return order;
}

TEST(Ordering, HasEachRowOnceForEveryShape) {
  for (const auto& [name, a] : test::square_shapes())
    for (const Ordering ordering : kOrderings) {
      Array<std::int32_t> order = make_order(ordering, a.view());
      ASSERT_EQ(std::ssize(order), a.rows) << name;
      std::sort(order.begin(), order.end());
      for (std::int64_t i = 0; i < a.rows; ++i) ASSERT_EQ(order[i], i) << name;
    }
}

TEST(Ordering, IsTheSameForAnyNumberOfThreads) {
  std::vector<test::Shape<double>> shapes;
  shapes.push_back({"DenseRows", test::contract_shape<double>("DenseFirstAndLastRow")});
  shapes.push_back({"Mesh", shuffled("poisson3d", 30)});
  shapes.push_back({"WideMesh", shuffled("poisson27", 40)});  // its levels are done in parallel
  shapes.push_back({"Unsymmetric", shuffled("web", 40'000)});
  for (const auto& [name, a] : shapes)
    for (const Ordering ordering : kOrderings) {
      const Array<std::int32_t> of_one = order_on(1, ordering, a);
      for (const int threads : {2, 3})
        ASSERT_TRUE(order_on(threads, ordering, a) == of_one) << name << ", " << threads;
    }
}

TEST(Ordering, IsEmptyForTheCallersOrder) {
  EXPECT_TRUE(make_order(Ordering::given, shuffled("poisson2d", 5).view()).empty());
}

TEST(Ordering, RefusesAMatrixThatIsNotSquare) {
  const CsrMatrix<double> wide = test::contract_shape<double>("Wide");
  EXPECT_THROW(make_order(Ordering::rcm, wide.view()), Error);
}

// A quadratic algorithm would take hours.
TEST(Ordering, IsFastForARowThatAllOthersKnow) {
  constexpr std::int32_t rows = 1'000'000;
  CsrMatrix<double> star{rows, rows, {0}, {}, {}};
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = i == 0 ? 0 : i; i == 0 ? j < rows : j == i; ++j)
      star.col_idx.push_back(j);
    if (i > 0) star.col_idx.push_back(0);
    star.row_ptr.push_back(static_cast<std::int32_t>(star.col_idx.size()));
  }
  star.values.assign(star.col_idx.size(), 1.0);
  for (const Ordering ordering : kOrderings)
    EXPECT_EQ(std::ssize(make_order(ordering, star.view())), rows);
}

TEST(ReverseCuthillMckee, FindsTheBandwidthOfAShuffledMesh) {
  const CsrMatrix<double> mesh = shuffled("poisson2d", 60);
  EXPECT_GT(bandwidth_of(mesh), 3000);
  EXPECT_LE(bandwidth_of(in_order(Ordering::rcm, mesh)), 60);
}

// The algorithm as in the paper, with a queue, from the row that ours begins with.
TEST(ReverseCuthillMckee, IsTheSerialAlgorithm) {
  const CsrMatrix<double> a = shuffled("poisson27", 25);
  Array<std::int32_t> order = make_order(Ordering::rcm, a.view());
  std::reverse(order.begin(), order.end());
  const auto degree = [&](std::int32_t i) { return a.row_ptr[i + 1] - a.row_ptr[i]; };
  std::vector<std::int32_t> queue = {order.front()};
  std::vector<bool> seen(a.rows, false);
  seen[order.front()] = true;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const auto row = queue[next];
    const auto begin = queue.size();
    for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
      if (!seen[a.col_idx[k]]) {
        seen[a.col_idx[k]] = true;
        queue.push_back(a.col_idx[k]);
      }
    std::sort(queue.begin() + static_cast<std::ptrdiff_t>(begin), queue.end(),
              [&](auto i, auto j) { return std::pair(degree(i), i) < std::pair(degree(j), j); });
  }
  EXPECT_TRUE(std::equal(queue.begin(), queue.end(), order.begin(), order.end()));
}

// The entries of a lower triangle, in unsorted columns, give the order of the full pattern.
TEST(ReverseCuthillMckee, UsesTheEntriesOfBothTriangles) {
  const CsrMatrix<double> mesh = shuffled("poisson2d", 50);
  CsrMatrix<double> lower{mesh.rows, mesh.cols, {0}, {}, {}};
  for (std::int64_t i = 0; i < mesh.rows; ++i) {
    for (std::int32_t k = mesh.row_ptr[i + 1]; k-- > mesh.row_ptr[i];)
      if (mesh.col_idx[k] <= i) lower.col_idx.push_back(mesh.col_idx[k]);
    lower.row_ptr.push_back(static_cast<std::int32_t>(lower.col_idx.size()));
  }
  lower.values.assign(lower.col_idx.size(), 1.0);
  EXPECT_LE(bandwidth_of(in_order(Ordering::rcm, lower)), 50);
}

TEST(ReverseCuthillMckee, NumbersConnectedPartsOneAfterTheOther) {
  const CsrMatrix<double> mesh = shuffled("poisson2d", 20);
  CsrMatrix<double> twice{2 * mesh.rows, 2 * mesh.rows, mesh.row_ptr, {}, {}};
  for (std::size_t i = 1; i < mesh.row_ptr.size(); ++i)
    twice.row_ptr.push_back(mesh.row_ptr.back() + mesh.row_ptr[i]);
  for (const std::int32_t part : {0, 1})
    for (const std::int32_t column : mesh.col_idx)
      twice.col_idx.push_back(column + part * static_cast<std::int32_t>(mesh.rows));
  twice.values.assign(twice.col_idx.size(), 1.0);
  const CsrMatrix<double> mixed = permuted_csr(twice, test::random_order(twice.rows));
  EXPECT_LE(bandwidth_of(in_order(Ordering::rcm, mixed)), 20);
}

// Lines of x that 32 and 256 rows read. A shuffled mesh reads 4.0 per row, the mesh in its natural
// order 0.31 and 0.20.
TEST(ClusterOrder, LetsNeighbouringRowsShareTheLinesOfX) {
  const CsrMatrix<double> mesh = shuffled("poisson2d", 300);
  EXPECT_GT(lines_per_row(mesh, 256), 3.5);
  const CsrMatrix<double> clustered = in_order(Ordering::cluster, mesh);
  EXPECT_LT(lines_per_row(clustered, 32), 0.5);
  EXPECT_LT(lines_per_row(clustered, 256), 0.23);
  EXPECT_LT(lines_per_row(clustered, 4096), 0.13);
}

// In a triangle no two rows can pick each other.
TEST(ClusterOrder, ClustersAnUnsymmetricPattern) {
  const CsrMatrix<double> mesh = shuffled("poisson2d", 100);
  CsrMatrix<double> lower{mesh.rows, mesh.cols, {0}, {}, {}};
  for (std::int64_t i = 0; i < mesh.rows; ++i) {
    for (std::int32_t k = mesh.row_ptr[i]; k < mesh.row_ptr[i + 1]; ++k)
      if (mesh.col_idx[k] <= i) lower.col_idx.push_back(mesh.col_idx[k]);
    lower.row_ptr.push_back(static_cast<std::int32_t>(lower.col_idx.size()));
  }
  lower.values.assign(lower.col_idx.size(), 1.0);
  EXPECT_GT(lines_per_row(lower, 256), 0.9);
  EXPECT_LT(lines_per_row(in_order(Ordering::cluster, lower), 256), 0.5);
}

}  // namespace
}  // namespace trireme
