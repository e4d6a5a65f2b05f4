// SPDX-License-Identifier: BSD-3-Clause
// What a study stands for, and how a wrong one is refused.
#include "study/read_study.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "kernels/registry.hpp"
#include "study/expand.hpp"
#include "study/study_folder.hpp"

namespace trireme::study {
namespace {

using Words = std::vector<std::string>;

class ReadStudy : public StudyFolder {
 protected:
  std::vector<StudyRun> runs(const std::string& text,
                             const std::vector<Override>& changes = {}) const {
    return expand(read_study(write("study.yaml", text), changes), folder / "no-case.yaml");
  }
  Words names(const std::string& text, const std::vector<Override>& changes = {}) const {
    Words result;
    for (const StudyRun& run : runs(text, changes)) result.push_back(run.name);
    return result;
  }
  // The message about a wrong study; empty where it is right.
  std::string refused(const std::string& text) const {
    try {
      runs(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.what();
    }
    return "";
  }
  static bool has(const StudyRun& run, const std::string& word) {
    return std::ranges::find(run.words, word) != run.words.end();
  }
};

const std::string kPoisson = "set:\n  problem: {generate: poisson2d, n: 4}\n";

TEST_F(ReadStudy, EveryCombinationIsRunAndProblemsComeFirst) {
  EXPECT_EQ(names("vary:\n  kernel: [csr, albus]\n  problem.generate: [poisson2d, poisson3d]\n"
                  "set: {problem.n: 4}\n"),
            (Words{"poisson2d,csr", "poisson2d,albus", "poisson3d,csr", "poisson3d,albus"}));
}

TEST_F(ReadStudy, RepetitionsFollowEachOtherAsWholeRounds) {
  EXPECT_EQ(names(kPoisson + "vary: {kernel: [csr, albus]}\nrepeat: 2\n"),
            (Words{"csr,1", "albus,1", "csr,2", "albus,2"}));
}

TEST_F(ReadStudy, AValueOfProblemMayBeAFileAPatternOrAMap) {
  write("m/b.mtx", "x");
  write("m/a.mtx.gz", "x");
  const auto all = runs("vary: {problem: ['m/*.mtx*', {generate: rmat, n: 5, k: 3}]}\n");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[1].name, "b");
  EXPECT_TRUE(has(all[1], "problem.file=\"" + (folder / "m/b.mtx").string() + "\""));
  EXPECT_TRUE(has(all[2], "problem.generate=rmat") && has(all[2], "problem.k=3"));
}

TEST_F(ReadStudy, APatternOfKernelsStandsForThoseOfTheDevice) {
  std::size_t on_cpu = 1;  // petsc-aij
  for (const KernelEntry& kernel : kernel_registry()) on_cpu += kernel.runs_on(Device::cpu);
  const auto all = runs(kPoisson + "vary: {kernel: [auto, '*']}\n");
  EXPECT_EQ(all.size(), 1 + on_cpu);
  EXPECT_TRUE(has(all[0], "kernel=auto"));
}

TEST_F(ReadStudy, KeysOfARunAreNoKeysOfTheCase) {
  write("other", "");
  write("preset.yaml", "solver: {rtol: 1e-3}\n");
  const auto run = runs(kPoisson +
                        "vary: {ranks: 3, threads: 2, program: ./other, preset: preset.yaml,"
                        " options: '--no-such -- -log_view'}\n")
                       .front();
  EXPECT_EQ(run.ranks, 3);
  EXPECT_EQ(run.threads, "2");
  EXPECT_EQ(run.program, folder / "other");
  EXPECT_TRUE(has(run, (folder / "preset.yaml").string()));
  EXPECT_EQ(run.words.back(), "-log_view");
}

TEST_F(ReadStudy, AListWithinAListIsOneValue) {
  const auto all = runs(kPoisson + "vary: {kernel: [[csr, albus], sell]}\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(has(all[0], "kernel=[csr, albus]"));
}

TEST_F(ReadStudy, AFolderIsAListOfItsCases) {
  write("cases/b.yaml", "problem: {generate: poisson2d, n: 4}\n");
  write("cases/a.yaml", "problem: {generate: poisson2d, n: 5}\n");
  const Study study = read_study(folder / "cases");
  const auto all = expand(study, folder / "none");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].words[1], (folder / "cases/a.yaml").string());
  EXPECT_EQ(study.directory, "results-of-cases");
}

TEST_F(ReadStudy, AChangeReplacesWhatItNamesAndPlusAdds) {
  const std::string text = "vary: {problem: [{generate: poisson2d, n: 4}], kernel: [csr, albus]}\n";
  EXPECT_EQ(names(text, {parse_override("kernel=[sell]"), parse_override("problem.n=[5, 6]"),
                         parse_override("problem.generate=poisson3d")}),
            (Words{"n=5", "n=6"}));
  EXPECT_EQ(names(text, {parse_override("kernel+=sell")}).size(), 3U);
  EXPECT_EQ(
      names(text, {parse_override("kernel+=sell"), parse_override("problem.n=[5, 6]")}).size(), 6U);
  write("a.mtx", "x");
  EXPECT_EQ(names(text, {parse_override("problem.file=" + (folder / "a.mtx").string())}),
            (Words{"csr", "albus"}));
  const Study study =
      read_study(write("study.yaml", text),
                 {parse_override("limit=3s"), parse_override("baseline.kernel=albus")});
  EXPECT_EQ(study.limit, 3);
  EXPECT_EQ(study.baseline.front().text, "albus");
}

// Every key that the case would refuse beside the new source goes with the old one.
TEST_F(ReadStudy, ASourceTakesThePlaceOfTheOtherAndOfAllItsKeys) {
  write("a.mtx", "x");
  for (const Key& key : case_keys()) {
    if (!is_source(key.needs)) continue;
    const bool of_file = key.needs == kFileKey;
    const std::string text = fmt::format("set: {{problem.{}, {}: 5}}\n",
                                         of_file ? "file: a.mtx" : "generate: rmat", key.path);
    const auto all =
        runs(text, {parse_override(of_file ? "problem.generate=poisson2d"
                                           : "problem.file=" + (folder / "a.mtx").string()),
                    parse_override(of_file ? "problem.n=3" : "solver.rtol=1e-3")});
    for (const std::string& word : all.at(0).words)
      EXPECT_FALSE(word.starts_with(fmt::format("{}=5", key.path))) << word;
  }
}

TEST_F(ReadStudy, EveryFileOfACaseIsRelativeToTheStudy) {
  write("a.mtx", "x");
  write("b.mtx", "x");
  const auto run = runs("set: {problem.file: a.mtx, problem.steps: {file: b.mtx, matrix: /A}}\n");
  EXPECT_TRUE(has(run.at(0), "problem.steps.file=\"" + (folder / "b.mtx").string() + "\""));
}

TEST_F(ReadStudy, AChangeOfOneKeyLeavesItsSectionAlone) {
  const auto run = runs(kPoisson + "  solver: {method: minres, max_iterations: 3}\n",
                        {parse_override("solver.max_iterations=4")})
                       .front();
  EXPECT_TRUE(has(run, "solver.method=minres") && has(run, "solver.max_iterations=4"));
  EXPECT_FALSE(has(run, "solver.max_iterations=3"));
}

TEST_F(ReadStudy, ARunThatTwoCombinationsGiveIsRunOnce) {
  EXPECT_EQ(names("vary: {problem: [{generate: rmat, n: 4}, {generate: rmat, n: 5}]}\n",
                  {parse_override("problem.n=[3]")}),
            (Words{"rmat"}));
}

TEST_F(ReadStudy, WhatDiffersInOneKeyOfARunOnlyIsRunForEach) {
  const std::string solves = "case: case.yaml\nlauncher: mpirun -n {}\n";
  write("case.yaml", "problem: {generate: poisson2d, n: 4}\n");
  for (const char* varied : {"threads: [1, 2]", "ranks: [1, 2]", "program: [./a, ./b]",
                             "options: ['-a', '-b']", "preset: [a.yaml, b.yaml]"}) {
    SCOPED_TRACE(varied);
    write("a.yaml", "solver: {rtol: 1e-4}\n");
    write("b.yaml", "solver: {rtol: 1e-5}\n");
    const auto all = runs(solves + "vary: {" + varied + "}\n");
    ASSERT_EQ(all.size(), 2U);
    EXPECT_NE(all[0].hash, all[1].hash);
  }
  EXPECT_EQ(runs(solves + "repeat: 2\n" + "vary: {threads: [1, 2]}\n").size(), 4U);
  const std::string products = kPoisson + "measure: products\n";
  for (const char* varied : {"threads: [1, 2]", "program: [./a, ./b]"})
    EXPECT_EQ(runs(products + "vary: {" + varied + "}\n").size(), 2U) << varied;
}

TEST_F(ReadStudy, TheFirstVariantIsTheBaselineByDefault) {
  const Study study =
      read_study(write("study.yaml", "vary: {problem.n: [3, 4], kernel: [albus, csr]}\n"));
  ASSERT_EQ(study.baseline.size(), 1U);
  EXPECT_EQ(study.baseline.front().text, "albus");
}

TEST_F(ReadStudy, TheHashIsOfTheCaseAndItsFiles) {
  write("case.yaml", "problem: {generate: poisson2d, n: 4}\n");
  const std::string study = "case: case.yaml\nvary: {kernel: [csr, albus]}\n";
  const auto before = runs(study);
  EXPECT_NE(before[0].hash, before[1].hash);
  EXPECT_EQ(runs(study + "limit: 5s\n")[0].hash, before[0].hash);
  const auto by = [&](const std::string& launcher, const std::string& ranks) {
    return runs(study + "launcher: " + launcher + " {}\nset: {ranks: " + ranks + "}\n")[0].hash;
  };
  EXPECT_NE(by("mpirun -n", "2"), by("srun -n", "2"));
  EXPECT_EQ(by("mpirun -n", "1"), by("srun -n", "1"));  // which is not launched
  write("tight.yaml", "solver: {rtol: 1e-9}\n");
  const std::string with_preset = study + "set: {preset: tight.yaml}\n";
  const auto tight = runs(with_preset);
  EXPECT_NE(tight[0].hash, before[0].hash);
  write("tight.yaml", "solver: {rtol: 1e-10}\n");
  EXPECT_NE(runs(with_preset)[0].hash, tight[0].hash);
  write("case.yaml", "problem: {generate: poisson2d, n: 5}\n");
  EXPECT_NE(runs(study)[0].hash, before[0].hash);
}

TEST_F(ReadStudy, AWrongStudyIsRefusedWithItsPlace) {
  const std::string at = (folder / "study.yaml").string();
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"varry: {kernel: csr}\n", at + ":1:1: unknown key 'varry'; did you mean 'vary'?"},
      {"kernel: [csr]\n", at + ":1:1: unknown key 'kernel'; keys of a case stand under vary"},
      {kPoisson + "vary:\n  kernle: [csr]\n", at + ":4:12: unknown key 'kernle'; did you mean"},
      {kPoisson + "vary: {kernel: [csr, albuss]}\n", at + ":3:22: unknown kernel 'albuss'"},
      {kPoisson + "vary: {kernel: []}\n", "kernel needs a value"},
      {kPoisson + "vary: {kernel: ['x*']}\n", "no further kernel matches 'x*'"},
      {kPoisson + "vary: {ranks: 0}\n", "ranks must be a whole number from 1"},
      {kPoisson + "limit: soon\n", at + ":3:8: limit must be a time"},
      {kPoisson + "memory: 3\n", "memory must be a size"},
      {kPoisson + "figure: speed\n", "unknown figure 'speed'; known: product"},
      {kPoisson + "launcher: mpirun\n", "with {} for the number of ranks"},
      {kPoisson + "repeat: 0\n", "repeat must be a whole number"},
      {kPoisson + "vary: {kernel: csr}\nbaseline: {kernel: albus}\n",
       "the baseline matches no run"},
      {kPoisson + "vary: {kernel: csr}\nbaseline: {device: cpu}\n",
       "neither under vary nor under set"},
      {"vary: {kernel: csr}\n", "problem needs a file"},
      {"case: nowhere.yaml\n", "no file '" + (folder / "nowhere.yaml").string() + "'"},
      {"cases: ['no/*.yaml']\n", "the pattern matches nothing"},
      {"case: a.yaml\ncases: [b.yaml]\n", "exclude each other"},
      {"- csr\n", "not a study"},
      {"", "not a study"},
      {"vary: {kernel: csr\n", "not YAML"},
      {kPoisson + "limit: 1s\nlimit: 2s\n", at + ":4:1: duplicate key 'limit'"},
      {kPoisson + "vary: {problem.seed: [1], solver.rtol: [1e-3, 1e-4]}\nrepeat: 90000\n",
       "more than 100000 runs"}};
  for (const auto& [text, message] : wrong)
    EXPECT_NE(refused(text).find(message), std::string::npos) << text << refused(text);
}

TEST_F(ReadStudy, AnEmptyFolderIsRefused) {
  std::filesystem::create_directories(folder / "empty");
  EXPECT_THROW(read_study(folder / "empty"), Error);
  EXPECT_THROW(read_study(folder / "nowhere"), Error);
}

}  // namespace
}  // namespace trireme::study
