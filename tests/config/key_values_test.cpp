// SPDX-License-Identifier: BSD-3-Clause
// The values of keys as text, and the page that says which later runs depend on them.
#include "config/key_values.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "case_texts.hpp"
#include "config/validate.hpp"
#include "support/other_value.hpp"

namespace trireme {
namespace {

using test::has_value;
using test::read;
using test::read_set;

TEST(KeyValues, ChangeWithTheirOwnKeyAlone) {
  const Case before;
  for (const Key& changed : case_keys()) {
    if (!has_value(changed)) continue;
    const Case after = test::with_other_value(changed, before);
    for (const Key& key : case_keys())
      EXPECT_EQ(value_of(key, after) != value_of(key, before), &key == &changed)
          << changed.path << " was changed, and " << key.path << " was " << value_of(key, before)
          << " and is " << value_of(key, after);
  }
}

TEST(KeyValues, AreWhatACaseSays) {
  const Case c = read(
      "problem: {generate: poisson3d, n: 8}\nkernel: [csr, albus]\n"
      "report: {checkpoint: 1h30m, solution: false}\npetsc: {ksp: {view: true}, pc_side: right}\n");
  const auto value = [&](const char* path) { return value_of(*find_key(path), c); };
  EXPECT_EQ(value("problem.generate"), "poisson3d");
  EXPECT_EQ(value("problem.file"), "");
  EXPECT_EQ(value("problem.n"), "8");
  EXPECT_EQ(value("problem.rhs"), "auto");
  EXPECT_EQ(value("solver.rtol"), "1e-08");
  EXPECT_EQ(value("solver.engine"), "auto");
  EXPECT_EQ(value("solver.block"), "auto");
  EXPECT_EQ(value("kernel"), "csr, albus");
  EXPECT_EQ(value("precision"), "auto");
  EXPECT_EQ(value("report.checkpoint"), "5400s");
  EXPECT_EQ(value("report.solution"), "false");
  EXPECT_EQ(value("petsc"), "ksp_view true, pc_side right");
}

std::vector<std::string> paths_that_are(PartOf thing, const Case& c) {
  std::vector<std::string> paths;
  for (const KeyValue& value : values_that_are(thing, c)) paths.emplace_back(value.path);
  return paths;
}

TEST(KeyValues, OfMultigridCountWhereItMayRun) {
  const auto degree_counts = [](const char* preconditioner) {
    const Case c = read_set({std::string("solver.preconditioner=") + preconditioner});
    const auto paths = paths_that_are(PartOf::resumed_run, c);
    return std::ranges::find(paths, "solver.multigrid.degree") != paths.end();
  };
  EXPECT_TRUE(degree_counts("multigrid"));
  EXPECT_TRUE(degree_counts("auto"));
  EXPECT_FALSE(degree_counts("jacobi"));
  EXPECT_EQ(value_of(*find_key("solver.preconditioner"), read_set({"solver.preconditioner=auto"})),
            "auto");
}

// The field of a key of one source puts that source in the place of the other one.
TEST(CaseKeys, SayWhichSourceTheyNeed) {
  const Case of_file;
  Case of_generator;
  of_generator.problem.source = GenerateSpec();
  for (const Key& key : case_keys()) {
    if (!test::has_value(key) || is_source(key.path)) continue;
    EXPECT_EQ(test::with_other_value(key, of_file).problem.generated(), key.needs == kGenerateKey)
        << key.path;
    EXPECT_EQ(!test::with_other_value(key, of_generator).problem.generated(), key.needs == kFileKey)
        << key.path;
  }
}

// What check_whole() says of a case of this source where the keys are given.
std::string complaint(std::string_view source, const std::vector<std::string_view>& keys) {
  Case c;
  Places places = {{std::string(source), "source"}};
  if (source == kGenerateKey) {
    c.problem.source = GenerateSpec();
    places["problem.n"] = "n";
  }
  for (const std::string_view key : keys) places[std::string(key)] = "here";
  try {
    check_whole(c, places);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CaseKeys, AreRefusedWithoutTheKeyThatTheyNeedAndBesideTheOneThatTheyExclude) {
  for (const Key& key : case_keys()) {
    if (is_source(key.path)) continue;
    const std::string_view with = key.needs.empty() ? "solver" : key.needs;
    const std::string_view source = key.needs == kFileKey ? kFileKey : kGenerateKey;
    EXPECT_EQ(complaint(source, {key.path, with}), "");
    if (!key.needs.empty()) {
      const std::string_view other = source == kFileKey ? kGenerateKey : kFileKey;
      EXPECT_TRUE(complaint(other, {key.path})
                      .starts_with(fmt::format("here: {} goes with {}", key.path, key.needs)))
          << complaint(other, {key.path});
    }
    if (!key.excludes.empty()) {
      EXPECT_EQ(complaint(source, {key.path, with, key.excludes}),
                fmt::format("here: {} does not go with {}; remove it", key.path, key.excludes));
    }
  }
}

// The table of docs/caching.md, made from the key table.
std::string table_of_dependences() {
  std::ostringstream table;
  for (const Key& key : case_keys()) {
    const auto mark = [&](PartOf thing) { return key.part_of.has(thing) ? "yes" : ""; };
    if (*mark(PartOf::resumed_run | PartOf::kernel_choice | PartOf::iterations))
      table << "| `" << key.path << "` | " << mark(PartOf::resumed_run) << " | "
            << mark(PartOf::kernel_choice) << " | " << mark(PartOf::iterations) << " |\n";
  }
  return table.str();
}

TEST(KeyValues, StandOnThePageOfWhatDependsOnThem) {
  std::ostringstream page;
  page << std::ifstream(std::filesystem::path(TRIREME_SOURCE) / "docs" / "caching.md").rdbuf();
  const std::string head = "|---|---|---|---|\n", text = page.str();
  const std::size_t at = text.find(head);
  ASSERT_NE(at, std::string::npos);
  const std::size_t begin = at + head.size();
  EXPECT_EQ(text.substr(begin, text.find("\n\n", begin) + 1 - begin), table_of_dependences());
}

std::string without_comments(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text;
  for (std::string line; std::getline(in, line);) text += line.substr(0, line.find("//")) + "\n";
  return text;
}

// Rules between keys name them too, and problem and report are known to studies. A further list of
// keys would have to be kept in step by hand.
TEST(KeyTable, IsTheOnlyListOfKeysOfTheSolver) {
  const std::filesystem::path source = std::filesystem::path(TRIREME_SOURCE) / "src";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
    const std::string name = entry.path().lexically_relative(source).string();
    const std::string kind = entry.path().extension().string();
    if ((kind != ".cpp" && kind != ".hpp") || name == "config/keys.cpp" ||
        name == "config/validate.cpp")
      continue;
    ++files;
    const std::string text = without_comments(entry.path());
    for (const Key& key : case_keys()) {
      const bool named = text.find(fmt::format("\"{}\"", key.path)) != std::string::npos;
      EXPECT_FALSE(named && key.path.starts_with("solver.")) << name << " names " << key.path;
    }
  }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace trireme
