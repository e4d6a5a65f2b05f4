// SPDX-License-Identifier: BSD-3-Clause
// Tests that values which FP32 represents exactly are stored in FP32, and that this changes no bit.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/albus/albus.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

// Larger than the caches of two cores; rows of every kind of window.
CsrMatrix<double> exact_matrix() {
  auto lengths = test::random_lengths(30000, 0, 9);
  const auto regular = std::vector<std::int64_t>(30000, 7);
  const auto medium = test::random_lengths(6000, 10, 90);
  lengths.insert(lengths.end(), regular.begin(), regular.end());
  lengths.insert(lengths.end(), medium.begin(), medium.end());
  return test::rounded_to_float(test::matrix_with_row_lengths<double>(lengths, 40000));
}

Array<double> product(HostKernel<double>& kernel, const CsrMatrix<double>& matrix) {
  Array<double> y(matrix.rows);
  kernel.multiply(test::random_vector<double>(matrix.cols, 3), y, Accumulate::no);
  return y;
}

bool same_bits(const Array<double>& a, const Array<double>& b, std::size_t count) {
  return std::memcmp(a.data(), b.data(), count * sizeof(double)) == 0;
}

// Per nonzero, and per zero that fills a slice.
bool saves_four_bytes(std::int64_t in_float, std::int64_t in_double, std::int64_t nnz) {
  return in_double - in_float >= 4 * nnz && in_double - in_float < 5 * nnz;
}

TEST(AlbusExactValues, GiveTheBitsOfTheirStorageInDouble) {
  const CsrMatrix<double> exact = exact_matrix();
  CsrMatrix<double> other = exact;
  other.values.back() = 0.1;  // one value of the last row keeps all others in FP64
  const auto in_float = build_albus_host<double>(exact.view());
  const auto in_double = build_albus_host<double>(other.view());
  EXPECT_TRUE(saves_four_bytes(in_float->statistics().stored_bytes,
                               in_double->statistics().stored_bytes, exact.nnz()));
  EXPECT_TRUE(test::matches_reference(*in_float, exact.view()));
  EXPECT_TRUE(test::matches_reference(*in_double, other.view()));
  EXPECT_TRUE(same_bits(product(*in_float, exact), product(*in_double, other), exact.rows - 1));
}

TEST(AlbusExactValues, NewValuesChangeTheirStorage) {
  const CsrMatrix<double> exact = exact_matrix();
  CsrMatrix<double> other = exact;
  other.values = test::random_vector<double>(exact.nnz(), 8);
  const auto kernel = build_albus_host<double>(exact.view());
  const Array<double> y = product(*kernel, exact);
  const std::int64_t bytes = kernel->statistics().stored_bytes;
  kernel->update_values(other.values);
  EXPECT_TRUE(saves_four_bytes(bytes, kernel->statistics().stored_bytes, exact.nnz()));
  EXPECT_TRUE(test::matches_reference(*kernel, other.view()));
  kernel->update_values(exact.values);
  EXPECT_EQ(kernel->statistics().stored_bytes, bytes);
  EXPECT_TRUE(same_bits(y, product(*kernel, exact), exact.rows));
}

TEST(AlbusExactValues, OfAMatrixInTheCacheStayInDouble) {
  const auto small = test::rounded_to_float(
      test::matrix_with_row_lengths<double>(test::random_lengths(900, 0, 20), 900));
  EXPECT_GE(build_albus_host<double>(small.view())->statistics().stored_bytes, 8 * small.nnz());
}

}  // namespace
}  // namespace trireme
