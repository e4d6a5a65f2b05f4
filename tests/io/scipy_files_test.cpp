// SPDX-License-Identifier: BSD-3-Clause
// Files that scipy and h5py have written (write_scipy_files.py) have the entries that scipy lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "io/problem.hpp"

namespace trireme {
namespace {

template <class T>
std::vector<T> read_list(const std::filesystem::path& path) {
  std::vector<T> list(std::filesystem::file_size(path) / sizeof(T));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(list.data()), std::ssize(list) * sizeof(T));
  return list;
}

const std::filesystem::path folder = TRIREME_SCIPY_FILES;

TEST(ScipyFiles, AreReadInEveryLayout) {
  const auto rows = read_list<std::int64_t>(folder / "rows.bin");
  const auto columns = read_list<std::int64_t>(folder / "columns.bin");
  const auto values = read_list<double>(folder / "values.bin");
  ASSERT_FALSE(values.empty());
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".h5") continue;
    SCOPED_TRACE(entry.path());
    ++files;
    ProblemSpec spec;
    spec.source.emplace<SystemFile>().file = entry.path();
    spec.rhs = Dataset{"/b"};
    const Problem problem = load_problem(MPI_COMM_WORLD, spec);
    const RowSlab& slab = problem.matrix;
    ASSERT_EQ(slab.global_nnz, std::ssize(values));
    std::int64_t k = std::lower_bound(rows.begin(), rows.end(), slab.first_row) - rows.begin();
    for (std::int64_t row = 0; row < slab.local.rows; ++row) {
      EXPECT_EQ(problem.rhs.at(0)[row], 0.5 * static_cast<double>(slab.first_row + row));
      for (std::int32_t e = slab.local.row_ptr[row]; e < slab.local.row_ptr[row + 1]; ++e, ++k) {
        ASSERT_EQ(slab.first_row + row, rows[k]);
        ASSERT_EQ(slab.local.col_idx[e], columns[k]);
        ASSERT_EQ(slab.local.values[e], values[k]);
      }
    }
    ASSERT_TRUE(k == std::ssize(rows) || rows[k] >= slab.first_row + slab.local.rows);
  }
  EXPECT_GE(files, 14);
}

}  // namespace
}  // namespace trireme
