// SPDX-License-Identifier: BSD-3-Clause
// Tests the padded rows, and the limit on their memory.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/error.hpp"
#include "kernels/peers/ell/ell.hpp"
#include "kernels/peers/ell/memory.hpp"
#include "kernels/peers/padded_rows.hpp"
#include "support/example_4x4.hpp"
#include "support/host_product.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

constexpr std::int32_t X = kNoColumn;

TEST(EllLayout, ReproducesTheExample) {
  const auto padded = pad_rows(test::example_4x4().view(), 3);
  EXPECT_EQ(padded.cols, (Array<std::int32_t>{0, 1, 0, 1, 1, 2, 2, 3, X, X, 3, X}));
  EXPECT_EQ(padded.vals, (Array<double>{1, 2, 5, 6, 7, 8, 3, 4, 0, 0, 9, 0}));
  EXPECT_EQ(padded.bytes(), 12 * 12);
}

TEST(EllLayout, KeepsPaddingWhenValuesChange) {
  auto padded = pad_rows(test::example_4x4().view(), 3);
  auto updated = test::example_4x4();
  updated.values = {10, 70, 20, 80, 50, 30, 90, 60, 40};
  fill_values(updated.view(), padded);
  EXPECT_EQ(padded.vals, (Array<double>{10, 20, 50, 60, 70, 80, 30, 40, 0, 0, 90, 0}));
}

TEST(EllHost, CountsItsPadding) {
  const auto a = test::example_4x4();
  EXPECT_DOUBLE_EQ(build_ell_host<double>(a.view())->statistics().padding_ratio, 12.0 / 9 - 1);
}

// The matrix has one row of `longest` nonzeros and 99 rows of one. Padded, it takes 1200 * longest
// bytes in double; as CSR it takes 12 * (longest + 99) + 404.
TEST(EllHost, RefusesPaddingBeyondTenTimesTheMemoryOfCsr) {
  const auto matrix = [](std::int64_t longest) {
    std::vector<std::int64_t> lengths(100, 1);
    lengths[37] = longest;
    return test::matrix_with_row_lengths<double>(lengths, 100);
  };
  EXPECT_NO_THROW(build_ell_host<double>(matrix(14).view()));
  try {
    build_ell_host<double>(matrix(15).view());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    EXPECT_EQ(std::string(error.what()),
              "kernel 'ell' would pad 100 rows to the 15 nonzeros of the longest one, which takes "
              "0.018 MB, more than 10 times the 0.00177 MB of CSR; use hyb, jds or csr");
  }
}

// The same matrix in float takes 800 * longest bytes, and 8 * (longest + 99) + 404 as CSR.
TEST(EllHost, CountsTheBytesOfItsValueType) {
  EXPECT_THROW(ell::require_memory(100, 16 + 99, 16, sizeof(double)), Error);
  EXPECT_NO_THROW(ell::require_memory(100, 16 + 99, 16, sizeof(float)));
  EXPECT_THROW(ell::require_memory(100, 17 + 99, 17, sizeof(float)), Error);
}

TEST(EllHost, RefusesSizesBeyondSixtyFourBits) {
  const std::int64_t large = std::numeric_limits<std::int32_t>::max();
  EXPECT_THROW(ell::require_memory(large, large, large, sizeof(double)), Error);
}

}  // namespace
}  // namespace trireme
