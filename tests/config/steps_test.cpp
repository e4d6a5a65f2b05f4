// SPDX-License-Identifier: BSD-3-Clause
// problem.steps: what an entry stands for, and what every mistake is told.
#include "config/steps.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "config/read_case.hpp"

namespace trireme {
namespace {

Case with_steps(const std::string& steps, const std::string& rest = "") {
  return parse_case("problem:\n  file: heat.h5\n  steps: " + steps + "\n" + rest + "\n",
                    "folder/case.yaml");
}

std::string message(const std::string& steps, const std::string& rest = "") {
  try {
    with_steps(steps, rest);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Steps, AreOnePerEntryOfAList) {
  const auto steps =
      steps_of(with_steps("[{values: /v1}, {file: two.h5, matrix: /A, rhs: /b}, {rhs: ones}, {}]")
                   .problem.steps);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].values, "/v1");
  EXPECT_FALSE(steps[0].rhs);
  EXPECT_EQ(steps[0].row, -1);
  EXPECT_EQ(steps[1].file, "folder/two.h5");
  EXPECT_EQ(steps[1].matrix, "/A");
  EXPECT_EQ(steps[1].rhs, RightHandSide(Dataset{"/b"}));
  EXPECT_EQ(steps[2].rhs, RightHandSide(MadeRhs::ones));
  EXPECT_EQ(name_of(steps[0]), "/v1");
  EXPECT_EQ(name_of(steps[1]), "two.h5:/A");
  EXPECT_EQ(name_of(steps[3]), "as before");
}

TEST(Steps, AnEntryWithCountStandsForItsNumbers) {
  const auto steps = steps_of(
      with_steps("{count: 3, from: 9, file: 'step{}.h5', values: '/v{}', rhs: /b}").problem.steps);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].file, "folder/step9.h5");
  EXPECT_EQ(steps[2].file, "folder/step11.h5");
  EXPECT_EQ(steps[2].values, "/v11");
  EXPECT_EQ(steps[2].rhs, RightHandSide(Dataset{"/b"}));
  EXPECT_EQ(steps[2].row, 11);
}

TEST(Steps, ALaterListReplacesAnEarlierOne) {
  const Case c =
      parse_case("problem: {file: a.h5, steps: [{rhs: /b1}, {rhs: /b2}]}", "case.yaml",
                 {.presets = {}, .overrides = {parse_override("problem.steps={rhs: /b3}")}});
  ASSERT_EQ(c.problem.steps.size(), 1u);
  EXPECT_EQ(c.problem.steps[0].rhs, RightHandSide(Dataset{"/b3"}));
}

TEST(Steps, HaveAGuessAndARuleOfRenewal) {
  const Case c = with_steps("{count: 2, rhs: /b}", "solver: {guess: extrapolate, renew: never}");
  EXPECT_EQ(c.solver.guess, Guess::extrapolate);
  EXPECT_EQ(c.solver.renew, Renew::never);
  EXPECT_EQ(with_steps("{rhs: /b}").solver.guess, Guess::previous);
  EXPECT_EQ(with_steps("{rhs: /b}").solver.renew, Renew::adaptive);
}

TEST(Steps, MistakesAreNamedWithLineAndColumn) {
  EXPECT_EQ(message("[{values: /v}, {valus: /v}]"),
            "folder/case.yaml:3:26: unknown key 'problem.steps.valus'; did you mean "
            "'problem.steps.values'?");
  EXPECT_EQ(message("[{values: /v}, {values: /v, matrix: /A}]"),
            "folder/case.yaml:3:25: problem.steps: an entry names values or matrix, not both");
}

TEST(Steps, ContradictionsAreRefused) {
  const std::pair<const char*, const char*> wrong[] = {
      {"[]", "must be a map"},
      {"[/v1, /v2]", "must be a map"},
      {"{values: v}", "must begin with '/', such as /v"},
      {"{rhs: b}", "neither a dataset"},
      {"{file: b.h5}", "also says what to read"},
      {"{values: '/v{}'}", "needs count"},
      {"{count: 3}", "also says what to read"},
      {"{count: 3, matrix: /A}", "needs {} in its name"},
      {"{count: 0, values: /v}", "a whole number from 1"},
  };
  for (const auto& [steps, expected] : wrong) {
    const std::string text = message(steps);
    EXPECT_NE(text.find(expected), std::string::npos) << steps << " -> " << text;
  }
  EXPECT_NE(message("{rhs: /b}", "repeat: 2").find("exclude each other"), std::string::npos);
  EXPECT_NE(message("{rhs: /b}", "report: {checkpoint: 10s}").find("does not go with"),
            std::string::npos);
}

TEST(Steps, TheirKeysNeedASequence) {
  try {
    parse_case("problem: {file: a.h5}\nsolver: {guess: zero}\n", "case.yaml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "case.yaml:2:10: solver.guess goes with problem.steps");
  }
}

TEST(Steps, AMistakeInAKeyThatAnOverrideGivesIsNamed) {
  EXPECT_EQ(message_of([] { read_set({"problem.steps.count=3"}); }),
            "--set problem.steps.count=3: problem.steps: an entry with count also says what to "
            "read: values, matrix or rhs");
  EXPECT_TRUE(read_set({"problem.steps.rhs=ones", "solver.guess=zero"}).problem.steps.size() == 1);
}

TEST(Steps, OfAGeneratedProblemNameTheirFile) {
  try {
    parse_case("problem: {generate: poisson2d, n: 4, steps: {values: /v}}", "case.yaml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("needs file"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace trireme
