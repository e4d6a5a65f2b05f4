// SPDX-License-Identifier: BSD-3-Clause
// What solve --help KEY says of every key.
#include "solve/explain_key.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "config/case_text.hpp"
#include "config/keys.hpp"
#include "solve/shorthands.hpp"

namespace trireme::solve {
namespace {

// What stands behind `mark` in its line; empty where no line has it.
std::string after(const std::string& text, const std::string& mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + mark.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(ExplainKey, FitsEightyColumnsForEveryKey) {
  for (const Key& key : case_keys()) {
    std::istringstream lines(explain_key(std::string(key.path)));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

// A case in which the key has a meaning.
std::string case_for(const Key& key) {
  if (key.path == "problem.steps.matrix") return "problem: {file: a.h5, steps: {rhs: /b}}\n";
  if (key.path.starts_with("problem.steps.")) return "problem: {file: a.h5, steps: {values: /v}}\n";
  if (key.path == kGenerateKey) return "problem: {n: 8}\n";
  if (key.needs == kGenerateKey || key.path == "problem.rhs_count")
    return "problem: {generate: poisson3d, n: 8, rhs: random}\n";
  const bool of_steps = key.needs == "problem.steps";
  return of_steps ? "problem: {file: a.h5, steps: {rhs: /b}}\n" : "problem: {file: a.h5}\n";
}

TEST(ExplainKey, HasAnExampleThatIsValid) {
  for (const Key& key : case_keys()) {
    const std::string text = explain_key(std::string(key.path));
    std::string set = after(text, "--set ");
    std::erase(set, '\'');
    if (std::holds_alternative<field::Section>(key.field) ||
        std::holds_alternative<field::Sections>(key.field)) {
      EXPECT_EQ(set, "") << text;
      continue;
    }
    EXPECT_TRUE(set.starts_with(std::string(key.path) + "=")) << text;
    EXPECT_NO_THROW(
        parse_case(case_for(key), "case.yaml", {.presets = {}, .overrides = {parse_override(set)}}))
        << text;
    EXPECT_NE(text.find(": " + set.substr(set.find('=') + 1)), std::string::npos) << text;
  }
}

TEST(ExplainKey, SaysValuesDefaultUnitAndTheOptionForIt) {
  const std::string text = explain_key("solver.rtol");
  EXPECT_EQ(after(text, "  value      "), "a number from 0 to below 1 (of ||b||)") << text;
  EXPECT_EQ(after(text, "  default    "), "1e-08") << text;
  EXPECT_EQ(after(text, "  in a case  "), "solver: {rtol: 1e-10}") << text;
  EXPECT_EQ(after(text, "  command    "), "--rtol 1e-10, or --set solver.rtol=1e-10") << text;
  EXPECT_EQ(after(explain_key("solver.preconditioner"), "  default    "), "auto");
  EXPECT_EQ(after(explain_key("solver.guess"), "  keys       "), "goes with problem.steps");
}

TEST(ExplainKey, ListsTheKeysOfASection) {
  const std::string text = explain_key("solver.multigrid");
  for (const std::string& name : names_under("solver.multigrid"))
    EXPECT_NE(text.find("\n  solver.multigrid." + name), std::string::npos) << text;
  EXPECT_NE(text.find("solver.multigrid.degree, default 2\n"), std::string::npos) << text;
}

TEST(Shorthands, StandForKeysThatExist) {
  for (const Shorthand& shorthand : kShorthands)
    EXPECT_TRUE(find_key(shorthand.key)) << shorthand.option;
}

}  // namespace
}  // namespace trireme::solve
