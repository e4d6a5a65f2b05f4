// SPDX-License-Identifier: BSD-3-Clause
// Compares the plan, which the GPU builder follows, with the layout of the host builder. These
// tests need no GPU.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/dasp/build.hpp"
#include "kernels/dasp/plan.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

using dasp::Work;

std::vector<std::int64_t> rows_of_length(const CsrMatrix<double>& a) {
  std::vector<std::int64_t> count(dasp::kMaxLen + 2, 0);
  for (std::int64_t row = 0; row < a.rows; ++row)
    ++count[std::min(a.row_ptr[row + 1] - a.row_ptr[row], dasp::kMaxLen + 1)];
  return count;
}

// The number of rows of a task.
std::int32_t rows_of(const dasp::Task& task) {
  switch (task.work()) {
    case Work::rows32:
      return 32;
    case Work::rows8:
      return 8;
    case Work::pieces_13:
      return 2 * task.size();
    default:
      return task.size();
  }
}

// Enough rows of 33 nonzeros for tasks of 32 rows in FP16.
CsrMatrix<double> many_rows() {
  constexpr std::int64_t length = 33;
  CsrMatrix<double> a;
  a.rows = dasp::kManyRows + 50;
  a.cols = length;
  for (std::int64_t row = 0; row <= a.rows; ++row)
    a.row_ptr.push_back(static_cast<std::int32_t>(row * length));
  for (std::int64_t k = 0; k < a.rows * length; ++k)
    a.col_idx.push_back(static_cast<std::int32_t>(k % length));
  a.values.resize(a.col_idx.size(), 1.0);
  return a;
}

class DaspPlan : public testing::Test {
 protected:
  // Calls body(layout, plan) for every contract shape, and for many rows with the plan of FP16.
  template <class Body>
  void for_every_shape(Body&& body) {
    const CsrMatrix<double> many = many_rows();
    std::vector<BuildStep> none;
    body(dasp::build<double>(many.view(), none),
         dasp::make_plan(rows_of_length(many), dasp::kShortestRows8Fp16));
    for (const auto& [name, matrix] : test::contract_shapes<double>()) {
      SCOPED_TRACE(name);
      std::vector<BuildStep> steps;
      body(dasp::build<double>(matrix.view(), steps), dasp::make_plan(rows_of_length(matrix)));
    }
  }
};

TEST_F(DaspPlan, CountsWhatTheHostBuilderStores) {
  for_every_shape([](const dasp::Layout<double>& layout, const dasp::Plan& plan) {
    EXPECT_EQ(plan.counts, layout.counts);
    EXPECT_EQ(plan.row_blocks, layout.row_blocks());
    EXPECT_EQ(plan.regular_entries, static_cast<std::int64_t>(layout.reg_val.size()));
    EXPECT_EQ(plan.irregular_entries, static_cast<std::int64_t>(layout.irreg_val.size()));
  });
}

TEST_F(DaspPlan, TasksTakeEveryRowOnce) {
  for_every_shape([](const dasp::Layout<double>& layout, const dasp::Plan& plan) {
    std::vector<int> taken(layout.rows, 0);
    std::int32_t number = 0;
    for (const dasp::Segment& segment : plan.segments) {
      EXPECT_EQ(segment.first_task, number);
      number += segment.tasks;
      for (std::int32_t i = 0; i < segment.tasks; ++i) {
        const dasp::Task task = dasp::task_of(segment, i);
        for (std::int32_t row = 0; row < rows_of(task); ++row) ++taken.at(task.row + row);
      }
    }
    EXPECT_EQ(number, plan.tasks);
    for (std::int64_t i = 0; i < layout.rows; ++i)
      EXPECT_EQ(taken[i], i < layout.counts.long_rows ? 0 : 1) << i;
  });
}

TEST_F(DaspPlan, TasksOfMediumRowsPointIntoTheLayout) {
  for_every_shape([](const dasp::Layout<double>& layout, const dasp::Plan& plan) {
    for (const dasp::Segment& segment : plan.segments) {
      if (segment.work != Work::rows32 && segment.work != Work::rows8 &&
          segment.work != Work::mixed8)
        continue;
      for (std::int32_t i = 0; i < segment.tasks; ++i) {
        const dasp::Task task = dasp::task_of(segment, i);
        const std::int64_t medium = task.row - layout.counts.first_medium();
        EXPECT_EQ(medium % 8, 0);
        EXPECT_EQ(task.stored * 32, layout.rowblock_ptr[medium / 8]);
        EXPECT_EQ(task.irregular, layout.irreg_ptr[medium]);
      }
    }
  });
}

TEST(DaspPlanOfFp16, Takes32LongRowsWhereThereAreMany) {
  const auto first_work = [](std::int64_t rows, std::int32_t length) {
    std::vector<std::int64_t> count(dasp::kMaxLen + 2, 0);
    count[length] = rows;
    return dasp::make_plan(count, dasp::kShortestRows8Fp16).segments.front().work;
  };
  EXPECT_EQ(first_work(dasp::kManyRows, 81), Work::rows32);
  EXPECT_EQ(first_work(dasp::kManyRows - 1, 81), Work::rows8);
  EXPECT_EQ(first_work(dasp::kManyRows, dasp::kShortestRows8Fp16), Work::rows8);
}

TEST(DaspPlanLongRows, TasksCoverTheirGroups) {
  for (const std::int32_t groups : {5, 8, 9, 100, 8192, 8193, 1000000, 33554431}) {
    const std::int32_t each = dasp::groups_per_task(groups);
    const std::int32_t tasks = dasp::tasks_of_long_row(groups);
    EXPECT_LT(std::int64_t{tasks - 1} * each, groups);
    EXPECT_GE(std::int64_t{tasks} * each, groups);
    EXPECT_LE(tasks, 1024);
  }
}

}  // namespace
}  // namespace trireme
