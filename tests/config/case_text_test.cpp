// SPDX-License-Identifier: BSD-3-Clause
// The text of a case with its changes is read as the same case.
#include "config/case_text.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "case_texts.hpp"
#include "config/key_values.hpp"
#include "config/keys.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

void expect_same_values(const Case& a, const Case& b, const std::string& text) {
  for (const Key& key : case_keys())
    EXPECT_EQ(value_of(key, a), value_of(key, b)) << key.path << " of\n" << text;
}

// The case in `text` of folder/case.yaml, written with the changes, is that case in this folder.
std::string expect_same_case(const std::string& text, const Changes& changes) {
  const std::string written = changed_case(text, "folder/case.yaml", changes);
  expect_same_values(parse_case(written, "elsewhere.yaml"),
                     parse_case(text, "folder/case.yaml", changes), written);
  return written;
}

Changes setting(const std::vector<std::string>& assignments) {
  Changes changes;
  for (const std::string& assignment : assignments)
    changes.overrides.push_back(parse_override(assignment));
  return changes;
}

TEST(CaseOfMatrix, HasTheFileAndItsGroup) {
  EXPECT_EQ(case_of_matrix("in.mtx.gz"), "problem:\n  file: in.mtx.gz\n");
  EXPECT_EQ(case_of_matrix("a/in.h5:/K"), "problem:\n  file: a/in.h5\n  matrix: /K\n");
  for (const std::string name :
       {"12", "1e5", "true", "null", "a: b #c", "it's \"x\".mtx", "-", "~"}) {
    const Case c = parse_case(case_of_matrix(name), "the case");
    EXPECT_EQ(std::get<SystemFile>(c.problem.source).file, name) << case_of_matrix(name);
  }
}

TEST(ChangedCase, IsTheSameCase) {
  expect_same_case("problem: {generate: poisson3d, n: 8}\n", {});
  expect_same_case("problem: {file: a.h5, matrix: '/1', rhs: /b, x0: none}\nkernel: [csr, albus]\n",
                   setting({"solver.rtol=1e-10", "solver={atol: 1, multigrid: {degree: 3}}",
                            "solver.multigrid.cycle=w", "report.directory='12'", "kernel=csr"}));
  const std::string written = expect_same_case(
      "problem: {file: ../a.h5, steps: [{file: s.h5, rhs: /b}, {count: 2, values: '/v{}'}]}\n",
      setting({"problem.steps.from=3"}));
  EXPECT_NE(written.find("file: a.h5"), std::string::npos) << written;
  EXPECT_NE(written.find("file: folder/s.h5"), std::string::npos) << written;
}

TEST(ChangedCase, HasOptionsOfPetscWhateverTheirNesting) {
  expect_same_case(
      "problem: {generate: poisson3d, n: 8}\n"
      "petsc: {ksp_view: true, ksp: {monitor: null, view: '12'}, pc_factor_levels: [1, 2]}\n",
      setting({"petsc.ksp_view=false", "petsc.log_view=':log.txt'"}));
}

TEST(ChangedCase, HasThePresets) {
  const fs::path preset = fs::path(testing::TempDir()) / "changed_case_preset.yaml";
  std::ofstream(preset) << "solver: {method: gmres, multigrid: {degree: 1}}\ndevice: cpu\n";
  const std::string written =
      expect_same_case("problem: {generate: poisson3d, n: 8}\nsolver: {method: cg, rtol: 1e-3}\n",
                       {.presets = {preset}, .overrides = {parse_override("solver.restart=7")}});
  EXPECT_NE(written.find("rtol: 1e-3\n"), std::string::npos) << written;
  fs::remove(preset);
}

// What stands on a command line is relative to the current directory, unlike the case.
TEST(ChangedCase, TakesTheFolderOfAChange) {
  const fs::path b = fs::path("changed_case_b.txt");
  std::ofstream(b) << "1\n";
  Changes changes;
  changes.overrides.push_back(text_override("problem.rhs", b.string(), "--rhs"));
  EXPECT_NE(test::message_of([&] {
              test::read("problem: {file: a.h5}\n", changes);
            }).find("there is no folder/changed_case_b.txt"),
            std::string::npos);
  changes.overrides[0].folder = fs::path();
  changes.overrides.push_back(text_override("problem.x0", b.string() + ":/12", "--x0"));
  changes.overrides[1].folder = fs::path();
  const Case c = test::read("problem: {file: a.h5}\n", changes);
  EXPECT_EQ(c.problem.rhs, RightHandSide(VectorFile{.file = b}));
  EXPECT_EQ(std::get<SystemFile>(c.problem.source).x0,
            InitialGuess(VectorFile{.file = b, .name = "/12"}));
  expect_same_case("problem: {file: a.h5}\n", changes);
  fs::remove(b);
}

TEST(ChangedCase, RefusesWhatTheReaderRefuses) {
  EXPECT_NE(test::message_of([] {
              changed_case("problem: {file: a.h5}\n", "c.yaml", setting({"solver.rtoll=1"}));
            }).find("did you mean 'solver.rtol'?"),
            std::string::npos);
}

}  // namespace
}  // namespace trireme
