// SPDX-License-Identifier: BSD-3-Clause
// Dense diagonal blocks inverted on a GPU equal the host's inverses, for every width and for both
// sources of the entries.
#include "solvers/preconditioners/block_inverse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.hpp"
#include "device/device.hpp"
#include "solvers/solves.hpp"

namespace trireme::solvers {
namespace {

class BlockInverse : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no GPU";
    select_device();
  }
  // A matrix so dense that its blocks need pivoting, with small diagonal entries and duplicates.
  static CsrMatrix<double> matrix(std::int64_t rows) {
    CsrMatrix<double> a;
    a.rows = a.cols = rows;
    const Array<double> values = test::random_vector<double>(rows * 41, 3);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = std::max<std::int64_t>(0, i - 35); j < std::min(rows, i + 35);
           j += 1 + (i + j) % 2) {
        const bool left_out = j == i && i % 3 == 1 && i + 1 < rows;
        if (left_out) continue;
        a.col_idx.push_back(static_cast<std::int32_t>(j));
        a.values.push_back(values[i * 41 + j % 41] + (j == i ? 3 : 0));
      }
      a.col_idx.push_back(static_cast<std::int32_t>(i));
      a.values.push_back(i % 3 == 1 ? 1e-3 : 0.5);
      a.row_ptr.push_back(static_cast<std::int32_t>(a.values.size()));
    }
    return a;
  }
};

TEST_P(BlockInverse, IsTheHostsFromEitherSource) {
  const std::int32_t size = GetParam();
  const CsrMatrix<double> a = matrix(1000);
  const Stream stream;
  const DeviceCsrMatrix<double> on_device = to_device(a.view(), stream);
  std::vector<std::int32_t> widths(size);
  std::iota(widths.begin(), widths.end(), 1);
  const std::vector<std::int32_t> groups = test::row_groups(a.rows, widths);
  for (const bool natural : {true, false}) {
    const test::BlocksOf given(a, size, natural ? std::span<const std::int32_t>() : groups);
    const BlockRows rows = block_rows(given.spec, a.rows);
    const Array<double> host = invert_blocks(rows, given.spec);
    const DeviceBuffer<double> entries = to_device(given.spec.blocks, stream);
    for (const DeviceSpan<const double> from : {entries.view(), DeviceSpan<const double>()}) {
      const Array<double> gpu =
          to_host(invert_blocks_on_device(rows, on_device.view(), from, stream).view(), stream);
      for (std::size_t group = 0; group + 1 < rows.starts.size(); ++group) {
        const std::int64_t first = rows.starts[group], width = rows.starts[group + 1] - first;
        double largest = 0, difference = 0;
        for (std::int64_t i = first; i < first + width; ++i)
          for (std::int64_t k = 0; k < width; ++k) {
            largest = std::max(largest, std::abs(host[i * size + k]));
            difference = std::max(difference, std::abs(host[i * size + k] - gpu[i * size + k]));
          }
        ASSERT_LE(difference, 1e-9 * largest) << "block from row " << first;
      }
    }
  }
}

TEST_P(BlockInverse, ASingularBlockIsNamedByItsFirstRow) {
  const std::int32_t size = GetParam();
  CsrMatrix<double> a = matrix(1000);
  const std::int32_t group = 17, row = group * size;  // a row of zeros
  for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) a.values[k] = 0;
  const Stream stream;
  const DeviceCsrMatrix<double> on_device = to_device(a.view(), stream);
  PreconditionerSpec spec;
  spec.block_size = size;
  try {
    invert_blocks_on_device(block_rows(spec, a.rows), on_device.view(), {}, stream);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(std::string(error.what()).find(fmt::format("row {} ", row)), std::string::npos)
        << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, BlockInverse, testing::Values(2, 3, 4, 5, 8, 11, 16, 17, 31, 32));

}  // namespace
}  // namespace trireme::solvers
