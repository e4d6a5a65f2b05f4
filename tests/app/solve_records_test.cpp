// SPDX-License-Identifier: BSD-3-Clause
// What several solves leave in the outcome of a run, from results that the tests make up.
#include "app/solves/solve_records.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

namespace trireme {
namespace {

KspResult result(bool converged, const std::string& text, std::int64_t iterations) {
  KspResult made;
  made.verdict = {.converged = converged,
                  .exit_code = converged ? ExitCode::converged : ExitCode::not_converged,
                  .text = text,
                  .reason = converged ? KSP_CONVERGED_RTOL : KSP_DIVERGED_ITS};
  made.iterations = iterations;
  made.seconds = 0.25;
  made.residuals = {8, 4, 2};
  return made;
}

RunOutcome filled(SolveRecords& records) {
  RunOutcome outcome;
  records.fill(outcome, false, false);
  return outcome;
}

bool notes(const RunOutcome& outcome, const std::string& part) {
  for (const std::string& note : outcome.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

TEST(SolveRecords, TheFirstFailureIsTheVerdict) {
  SolveRecords records(4, false);
  records.add(0, result(true, "one", 10), 1e-9, 4);
  records.add(1, result(false, "two", 20), 1e-3, 4);
  records.add(2, result(false, "three", 30), 1e-2, 4);
  records.add(3, result(true, "four", 40), 1e-9, 4);
  const RunOutcome outcome = filled(records);
  EXPECT_FALSE(outcome.converged);
  EXPECT_EQ(outcome.exit_code, ExitCode::not_converged);
  EXPECT_EQ(outcome.reason, "two");
  EXPECT_EQ(outcome.iterations, 40) << "of the last solve";
  EXPECT_EQ(outcome.relative_residual, 1e-2);
  EXPECT_EQ(outcome.history, (std::vector<double>{2, 1, 0.5}));
  EXPECT_EQ(outcome.solve_seconds.size(), 4u);
}

TEST(SolveRecords, NotANumberIsTheLargestResidual) {
  SolveRecords records(3, false);
  records.add(0, result(true, "", 1), 1e-9, 1);
  records.add(1, result(true, "", 1), std::nan(""), 1);
  records.add(2, result(true, "", 1), 1, 1);
  EXPECT_TRUE(std::isnan(filled(records).relative_residual));
}

TEST(SolveRecords, AScaledRightHandSideIsNotedAfterOneThatWasNot) {
  SolveRecords records(2, false);
  records.add_exponent(700);
  records.add_exponent(0);
  EXPECT_TRUE(notes(filled(records), "b times 2^-700"));
  SolveRecords plain(1, false);
  plain.add_exponent(0);
  EXPECT_FALSE(notes(filled(plain), "b times"));
}

TEST(SolveRecords, KeepTheWorstRows) {
  SolveRecords records(3, false);
  for (const double of_rows : {1e-4, 1e-2, 1e-3}) {
    TrueResidual residual{.unit = 1, .reference = 1};
    residual.rows.of_rows = of_rows;
    records.add_rows(residual);
  }
  records.add_rows(TrueResidual{.unit = 1, .reference = 1});
  EXPECT_EQ(filled(records).relative_row_residual, 1e-2);
}

TEST(SolveRecords, WorseGuessesAreOneNote) {
  SolveRecords records(9, false);
  records.add_worse_guess(2, "previous", 7);
  records.add_worse_guess(5, "previous", 8);
  const RunOutcome outcome = filled(records);
  EXPECT_TRUE(notes(outcome, "right-hand side 3, and 1 more began with 0"));
}

}  // namespace
}  // namespace trireme
