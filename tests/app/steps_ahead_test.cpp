// SPDX-License-Identifier: BSD-3-Clause
// What another thread does for a sequence while a step is solved; run on 1 rank.
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "app/heat_sequence.hpp"
#include "app/solves/plain_product.hpp"
#include "app/solves/steps.hpp"
#include "distributed/distributed_matrix.hpp"
#include "support/cg_unless_named.hpp"

namespace trireme {
namespace {

using namespace test;

class WorkAhead : public Sequence {
 protected:
  // At step 0, with the arrays of the step before kept from here on.
  void begin(const std::string& steps) {
    const Case c = test::parse_with_cg(
        fmt::format("problem: {{file: {}, rhs: /b, steps: {}}}\n", file_.path().string(), steps),
        "test.yaml");
    Problem problem = load_problem(MPI_COMM_WORLD, c.problem);
    std::vector<std::int64_t> starts = {0, kRows};
    matrix_ = distribute(MPI_COMM_WORLD, std::move(problem.matrix), std::move(starts));
    steps_ = std::make_unique<Steps>(MPI_COMM_WORLD, c.problem, problem, matrix_);
    steps_->begin();
    steps_->keep_step_before(true);
    steps_->write_to(folder() / "ahead.h5");
  }
  Steps::Change go_on() {
    return steps_->go_on([] {});
  }
  std::vector<Values> written() {
    steps_->take_file()->commit();
    const hdf5::File file = hdf5::File::open(folder() / "ahead.h5");
    const hdf5::Dataset x = file.dataset("/x");
    std::vector<Values> rows(x.extents()[0], Values(kRows));
    for (std::size_t k = 0; k < rows.size(); ++k)
      x.read(static_cast<std::int64_t>(k), 1, rows[k].data());
    return rows;
  }

  std::shared_ptr<DistributedMatrix> matrix_;
  std::unique_ptr<Steps> steps_;
};

void expect_equal(std::span<const double> numbers, const Values& expected) {
  ASSERT_EQ(numbers.size(), expected.size());
  EXPECT_TRUE(std::ranges::equal(numbers, expected));
}

TEST_F(WorkAhead, KeepsTheSystemOfTheStepBefore) {
  write();
  begin(
      "[{values: /values/0, rhs: /b_of/0}, {values: /values/1}, {rhs: /b_of/2}, {}, {rhs: ones}]");
  const Heat heat;
  const Values values[] = {heat.values(0), heat.values(0.05)};
  const Values ones(kRows, 1.0), b[] = {Heat::b(0), Heat::b(0.1)};
  struct Expected {
    const Values &values, &values_before, &b, &b_before;
  };
  const Expected expected[] = {{values[1], values[0], b[0], b[0]},
                               {values[1], values[1], b[1], b[0]},
                               {values[1], values[1], b[1], b[1]},
                               {values[1], values[1], ones, b[1]}};
  for (int k = 1; k <= 4; ++k) {
    SCOPED_TRACE(k);
    steps_->work_ahead();
    go_on();
    expect_equal(matrix_->blocks.local.values, expected[k - 1].values);
    expect_equal(steps_->values_before(), expected[k - 1].values_before);
    expect_equal(steps_->rhs(), expected[k - 1].b);
    expect_equal(steps_->rhs_before(), expected[k - 1].b_before);
  }
}

TEST_F(WorkAhead, ChecksBeforeItWritesAndReads) {
  write();
  begin(kAllSteps);
  PlainProduct plain(matrix_);
  const Values x(kRows, 2.0);
  Values on_its_way(kRows);
  std::vector<double> norms, expected;
  for (int k = 1; k < 4; ++k) {
    expected.push_back(plain.residual_norm(steps_->rhs(), x));
    go_on();
    std::size_t read = 0;
    steps_->write(on_its_way, true);
    steps_->work_ahead(
        {.first =
             [&] {
               on_its_way = x;  // as the copy from a GPU
               norms.push_back(
                   plain.residual_alone(steps_->values_before(), steps_->rhs_before(), on_its_way)
                       .norm);
             },
         .with_next =
             [&](const StepData& next) { read = next.values->size() + next.rhs->size(); }});
    steps_->wait();
    EXPECT_EQ(read, matrix_->blocks.local.values.size() + kRows);
  }
  EXPECT_TRUE(norms == expected);
  EXPECT_TRUE(written() == std::vector<Values>(3, x));
}

TEST_F(WorkAhead, ABadStepIsNamedWhenItIsReachedAndTheMatrixStays) {
  write();
  add([](hdf5::File& out) {
    Values values = Heat().values(0);
    values[57] = std::numeric_limits<double>::quiet_NaN();
    put(out, "values", values);
  });
  begin("[{values: /values/0}, {values: /values/1}, {file: " + more() + ", values: /values}]");
  go_on();
  int checks = 0;
  const Values x(kRows, 3.0);
  steps_->write(x, true);
  steps_->work_ahead({.first = [&] { ++checks; }, .with_next = {}});
  steps_->wait();
  EXPECT_EQ(checks, 1);
  try {
    go_on();
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(std::string(error.what()).find("/values[57] = nan"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(steps_->now(), 1);
  expect_equal(matrix_->blocks.local.values, Heat().values(0.05));
  EXPECT_TRUE(written() == std::vector<Values>(1, x));
}

// HDF5 is not safe for two threads, so that only the other one may look at the files of the steps.
TEST_F(WorkAhead, WhetherTheNextStepIsReadAloneIsKnownWithoutItsFile) {
  write();
  add([](hdf5::File& out) { put(out, "b", Heat::b(0.3)); });
  begin("[{values: /values/0}, {file: " + more() + ", rhs: /b}]");
  std::promise<void> asked;
  steps_->work_ahead({.first = [&] { asked.get_future().wait(); }, .with_next = {}});
  const std::filesystem::path elsewhere = more() + ".moved";
  std::filesystem::rename(more(), elsewhere);
  EXPECT_TRUE(steps_->next_is_read_alone());
  std::filesystem::rename(elsewhere, more());
  asked.set_value();
  go_on();
  expect_equal(steps_->rhs(), Heat::b(0.3));
}

// A step that ended a run is reported; what lies behind it is not of interest.
TEST_F(WorkAhead, AnErrorOfReadingIsForgottenWhereTheRunEndsBefore) {
  write();
  begin("[{values: /values/0}, {values: /missing}]");
  const Values x(kRows, 3.0);
  steps_->write(x, true);
  steps_->work_ahead();
  EXPECT_TRUE(written() == std::vector<Values>(1, x));
}

TEST_F(WorkAhead, AnErrorOfTheCheckIsNotLost) {
  write();
  begin(kAllSteps);
  const auto fails = [] { fail(ExitCode::resource, "the device is lost"); };
  steps_->work_ahead({.first = fails, .with_next = {}});
  steps_->wait();
  EXPECT_THROW(go_on(), Error);
  EXPECT_EQ(steps_->now(), 0);
  steps_->work_ahead({.first = fails, .with_next = {}});
  EXPECT_THROW(steps_->take_file(), Error);
}

}  // namespace
}  // namespace trireme
