// SPDX-License-Identifier: BSD-3-Clause
// A sequence in a file, and cases that solve it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "app/run_case.hpp"
#include "app/solved_cases.hpp"
#include "io/hdf5.hpp"
#include "io/problem_file.hpp"
#include "parallel/collective.hpp"
#include "support/cg_unless_named.hpp"

namespace trireme::test {

using Values = std::vector<double>;

inline constexpr std::int64_t kSide = 12, kRows = kSide * kSide, kSteps = 5;

// Implicit Euler steps of heat conduction on a square whose conductivity changes in space and time.
class Heat {
 public:
  explicit Heat(bool columns_descend = false) {
    pattern_.indptr = {0};
    pattern_.indices.clear();
    pattern_.shape = {kRows, kRows};
    for (std::int64_t row = 0; row < kRows; ++row) {
      std::vector<std::int64_t> columns;
      for (const std::int64_t to : {row - kSide, row - 1, row, row + 1, row + kSide})
        if (conductivity(row, to, 0) != 0 || to == row) columns.push_back(to);
      if (columns_descend) std::ranges::reverse(columns);
      pattern_.indices.insert(pattern_.indices.end(), columns.begin(), columns.end());
      pattern_.indptr.push_back(std::ssize(pattern_.indices));
    }
  }

  Values values(double time) const {
    Values values;
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t k = pattern_.indptr[row]; k < pattern_.indptr[row + 1]; ++k)
        values.push_back(entry(row, pattern_.indices[k], time));
    return values;
  }
  static Values b(double time) {
    Values b;
    for (std::int64_t row = 0; row < kRows; ++row)
      b.push_back(1 + std::sin(0.1 * static_cast<double>(row) + time));
    return b;
  }
  SmallMatrix matrix(double time) const {
    SmallMatrix a = pattern_;
    a.data = values(time);
    return a;
  }

 private:
  static double conductivity(std::int64_t from, std::int64_t to, double time) {
    if (to < 0 || to >= kRows || to == from) return 0;
    if (std::abs(to - from) == 1 && to / kSide != from / kSide) return 0;
    return 1.5 + std::sin(static_cast<double>(from + to) + time);
  }
  static double entry(std::int64_t row, std::int64_t column, double time) {
    if (column != row) return -conductivity(row, column, time);
    double sum = 0.5;
    for (const std::int64_t to : {row - kSide, row - 1, row + 1, row + kSide})
      sum += conductivity(row, to, time);
    return sum;
  }

  SmallMatrix pattern_;
};

inline void put_rows(hdf5::Group& file, const std::string& name, const std::vector<Values>& rows) {
  hdf5::Dataset dataset = file.create_dataset<double>(
      name, {std::ssize(rows), static_cast<std::int64_t>(rows.front().size())});
  for (std::size_t k = 0; k < rows.size(); ++k)
    dataset.write(static_cast<std::int64_t>(k), 1, rows[k].data());
}

class Sequence : public testing::Test {
 protected:
  // A file with /A, whose values belong to no step, /values/k, /b/k, all of them as rows of
  // /all_values and /all_b, and whole matrices /M/k.
  void write(const Heat& heat = Heat(), double dt = 0.05) {
    file_.write([&](hdf5::File& out) {
      heat.matrix(100).write(out);
      put(out, "b", Heat::b(100));
      std::vector<Values> values, b;
      for (int k = 0; k < kSteps; ++k) {
        values.push_back(heat.values(dt * k));
        b.push_back(Heat::b(dt * k));
        put(out, fmt::format("values/{}", k), values.back());
        put(out, fmt::format("b_of/{}", k), b.back());
        heat.matrix(dt * k).write(out, fmt::format("/M/{}", k));
      }
      put_rows(out, "all_values", values);
      put_rows(out, "all_b", b);
    });
  }
  // More datasets for the same file.
  void add(const std::function<void(hdf5::File&)>& fill) { more_.write(fill); }

  CaseOutcome run(const std::string& steps, const std::string& rest,
                  const std::string& system = "rhs: /b") {
    const std::string problem = fmt::format("problem: {{file: {}, {}{}}}\n", file_.path().string(),
                                            system, steps.empty() ? "" : ", steps: " + steps);
    Case c = test::parse_with_cg(
        problem + rest + fmt::format("\nreport: {{directory: {}}}\n", folder().string()),
        "test.yaml");
    c.problem.most_of_block = most_of_block_;
    CaseOutcome outcome = run_case(MPI_COMM_WORLD, c, nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    return outcome;
  }
  std::filesystem::path folder() const { return file_.path().parent_path(); }
  std::string more() const { return more_.path().string(); }

  std::vector<Values> solutions(const std::string& name = "solution.h5") const {
    const hdf5::File file = hdf5::File::open(folder() / name);
    const hdf5::Dataset x = file.dataset("/x");
    const bool by_step = x.extents().size() == 2;
    std::vector<Values> rows(by_step ? x.extents()[0] : 1, Values(kRows));
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (by_step)
        x.read(static_cast<std::int64_t>(k), 1, rows[k].data());
      else
        x.read(0, kRows, rows[k].data());
    MPI_Barrier(MPI_COMM_WORLD);
    return rows;
  }
  std::string attribute(const std::string& name) const {
    const auto text = hdf5::File::open(folder() / "solution.h5").string_attribute(name);
    MPI_Barrier(MPI_COMM_WORLD);
    return text.value_or("missing");
  }
  // The solutions of the steps as cases of their own.
  std::vector<Values> separate(const std::string& rest, std::vector<std::int64_t>* iterations) {
    std::vector<Values> all;
    for (int k = 0; k < kSteps; ++k) {
      const CaseOutcome outcome = run("", rest, fmt::format("matrix: /M/{}, rhs: /b_of/{}", k, k));
      EXPECT_TRUE(outcome.runs[0].converged) << outcome.runs[0].reason;
      if (iterations) iterations->push_back(outcome.runs[0].iterations);
      all.push_back(solutions().front());
    }
    return all;
  }

  SharedFile file_{"heat.h5"}, more_{"more.h5"};
  std::int64_t most_of_block_ = kNonzerosOfBlock;
};

inline const std::string kAllSteps = "{count: 5, values: '/values/{}', rhs: '/b_of/{}'}";

inline void expect_near(const std::vector<Values>& all, const std::vector<Values>& expected,
                        double tolerance) {
  ASSERT_EQ(all.size(), expected.size());
  for (std::size_t k = 0; k < all.size(); ++k)
    for (std::size_t i = 0; i < all[k].size(); ++i)
      ASSERT_NEAR(all[k][i], expected[k][i], tolerance) << "step " << k << ", row " << i;
}

}  // namespace trireme::test
