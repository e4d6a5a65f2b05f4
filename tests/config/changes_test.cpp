// SPDX-License-Identifier: BSD-3-Clause
// Presets and overrides: what goes over the text of a case, and what they may not say.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "case_texts.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

using namespace test;

class Preset : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  Changes preset(const std::string& text) {
    std::ofstream(folder_ / "preset.yaml") << text;
    return {.presets = {folder_ / "preset.yaml"}, .overrides = {}};
  }

  const fs::path folder_ = fs::temp_directory_path() / fmt::format("trireme-preset-{}", getpid());
};

TEST_F(Preset, GoesOverTheCaseAndUnderTheOverrides) {
  Changes changes = preset("solver: {method: gmres, rtol: 1e-4}");
  changes.overrides.push_back(parse_override("solver.rtol=1e-5"));
  const Case c = read(kSmallest + "solver: {method: cg, max_iterations: 7}\n", changes);
  EXPECT_EQ(c.solver.method, "gmres");
  EXPECT_EQ(c.solver.rtol, 1e-5);
  EXPECT_EQ(c.solver.max_iterations, 7);
}

TEST_F(Preset, NamesItsOwnPlaceInErrors) {
  const Changes changes = preset("solver:\n  metod: cg\n");
  const std::string text = message_of([&] { read(kSmallest, changes); });
  EXPECT_NE(text.find("preset.yaml:2:3: unknown key 'solver.metod'"), std::string::npos) << text;
}

TEST_F(Preset, MayNotSayWhatTheProblemIs) {
  const Changes changes = preset("problem: {n: 12}\n");
  const std::string text = message_of([&] { read(kSmallest, changes); });
  EXPECT_NE(text.find("preset.yaml:1:1: a preset may not"), std::string::npos) << text;
}

TEST(Override, ReplacesWhatTheFileSays) {
  const Case c = read_set({"solver.rtol=1e-4", "kernel=[csr, auto]", "petsc.ksp_view=true",
                           "petsc.ksp_view=false", "solver.rtol=1e-5"},
                          kSmallest + "solver: {rtol: 1e-3}\nkernel: csr\n");
  EXPECT_EQ(c.solver.rtol, 1e-5);
  EXPECT_EQ(c.kernels.size(), 2u);
  ASSERT_EQ(c.petsc.size(), 1u);
  EXPECT_EQ(c.petsc[0].second, "false");
}

TEST(Override, IsAsStrictAsTheFile) {
  const auto error = [](const std::string& assignment) {
    return message_of([&] { read_set({assignment}); });
  };
  EXPECT_EQ(error("solver.rtoll=1"),
            "--set solver.rtoll=1: unknown key 'solver.rtoll'; did you mean 'solver.rtol'?");
  EXPECT_EQ(error("repeat=0"),
            "--set repeat=0: repeat must be a whole number from 1 to 1000000000, not '0'");
  EXPECT_NE(error("solver.rtol").find("expected key=value"), std::string::npos);
  EXPECT_NE(error("=1").find("expected key=value"), std::string::npos);
  EXPECT_NE(error("repeat=").find("has no value"), std::string::npos);
  EXPECT_NE(error("solver.rtol=[").find("not YAML"), std::string::npos);
  EXPECT_NE(error("problem.file=a.h5").find("exclude each other"), std::string::npos);
}

}  // namespace
}  // namespace trireme
