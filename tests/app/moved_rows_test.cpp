// SPDX-License-Identifier: BSD-3-Clause
// Rows come to the ranks that the new cuts give them to, with all of their numbers.
#include "app/system/moved_rows.hpp"

#include <gtest/gtest.h>

#include "parallel/collective.hpp"

namespace trireme {
namespace {

TEST(MovedRows, LieByTheNewCuts) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  std::vector<std::int64_t> even, first_rank_has_most;
  for (int r = 0; r <= ranks; ++r) {
    even.push_back(4 * r);
    first_rank_has_most.push_back(r == 0 ? 0 : 3 * ranks + r);
  }
  for (const std::int64_t width : {1, 3}) {
    Array<double> numbers;
    for (std::int64_t at = even[rank] * width; at < even[rank + 1] * width; ++at)
      numbers.push_back(static_cast<double>(at));
    const Array<double> moved =
        moved_rows(MPI_COMM_WORLD, numbers, width, even, first_rank_has_most);
    const std::int64_t first = first_rank_has_most[rank] * width;
    ASSERT_EQ(std::ssize(moved), first_rank_has_most[rank + 1] * width - first);
    for (std::int64_t i = 0; i < std::ssize(moved); ++i)
      EXPECT_EQ(moved[i], static_cast<double>(first + i)) << "width " << width;
    EXPECT_EQ(moved_rows(MPI_COMM_WORLD, numbers, width, even, even), numbers);
  }
}

}  // namespace
}  // namespace trireme
