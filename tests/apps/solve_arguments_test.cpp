// SPDX-License-Identifier: BSD-3-Clause
// What solve takes from its command line, and what it refuses, without a run.
#include "solve/arguments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace trireme::solve {
namespace {

Arguments parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "solve");
  return parse_arguments(static_cast<int>(words.size()), words.data());
}

std::string refused(const std::vector<const char*>& words) {
  try {
    parsed(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(SolveArguments, MakeACaseOfAMatrixAndOptions) {
  const Arguments arguments = parsed({"in.mtx", "--rhs", "b.txt", "--rtol", "1e-9", "--kernel",
                                      "csr,albus", "--set", "solver.restart=7", "--device=cpu"});
  EXPECT_EQ(arguments.action, Action::solve);
  EXPECT_EQ(arguments.matrix, "in.mtx");
  EXPECT_TRUE(arguments.config.empty());
  std::vector<std::string> changes;
  for (const Override& change : arguments.changes.overrides)
    changes.push_back(change.key + "=" + change.value + " by " + change.origin);
  std::ranges::sort(changes);
  EXPECT_EQ(changes,
            (std::vector<std::string>{
                "device=cpu by --device cpu", "kernel=[csr,albus] by --kernel csr,albus",
                "problem.rhs='b.txt' by --rhs b.txt", "solver.restart=7 by --set solver.restart=7",
                "solver.rtol=1e-9 by --rtol 1e-9"}));
}

TEST(SolveArguments, NameTheProgress) {
  EXPECT_FALSE(parsed({"in.mtx"}).progress);
  EXPECT_EQ(parsed({"in.mtx", "--progress=plain"}).progress, ProgressKind::plain);
  EXPECT_EQ(parsed({"in.mtx", "--progress", "bar"}).progress, ProgressKind::bar);
  EXPECT_EQ(parsed({"in.mtx", "--progress", "none"}).progress, ProgressKind::none);
}

TEST(SolveArguments, AreRefusedWithWhatToDo) {
  const std::vector<std::pair<std::vector<const char*>, const char*>> slips = {
      {{}, "no matrix and no case given: solve matrix.mtx, or solve --config case.yaml"},
      {{"--rhs", "b.txt"}, "no matrix and no case given"},
      {{"in.mtx", "--config", "c.yaml"}, "the matrix in.mtx and --config exclude each other"},
      {{"in.mtx", "--study", "s.yaml"}, "the matrix in.mtx and --study exclude each other"},
      {{"c.yaml"}, "c.yaml is a case, not a matrix: solve --config c.yaml"},
      {{"in.mtx", "b.txt"}, "b.txt"},
      {{"in.mtx", "--precondtioner", "ilu"}, "did you mean '--preconditioner'?"},
      {{"in.mtx", "--progress=fast"}, "--progress"},
      {{"in.mtx", "--quiet", "--progress=plain"}, "--progress"},
      {{"in.mtx", "--print-case", "--check"}, "--print-case goes without --check"},
      {{"in.mtx", "--print-case", "--", "-ksp_view"}, "--set petsc.NAME=VALUE"},
      {{"--study", "s.yaml", "--print-case"}, "--print-case does not go with --study"},
      {{"--help", "solver.rtoll"},
       "--help: unknown key 'solver.rtoll'; did you mean 'solver.rtol'?"},
  };
  for (const auto& [words, part] : slips)
    EXPECT_NE(refused(words).find(part), std::string::npos) << refused(words);
}

TEST(SolveHelp, FitsEightyColumnsAndNamesTheExitCodes) {
  const std::string text = parsed({"--help"}).help;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  for (const char* part : {"solve matrix.mtx --rhs b.txt", "Exit codes: 0 converged", "--help KEY"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(SolveHelp, ExplainsAKey) {
  EXPECT_NE(parsed({"--help", "solver.rtol"}).help.find("solver.rtol: the solve stops when"),
            std::string::npos);
  EXPECT_EQ(parsed({"--help=solver.rtol"}).help, parsed({"-h", "solver.rtol"}).help);
}

}  // namespace
}  // namespace trireme::solve
