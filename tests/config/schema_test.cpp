// SPDX-License-Identifier: BSD-3-Clause
// The committed schema is the printed one; the presets and cases are read by the program too.
#include "config/schema.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/read_case.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;
const fs::path kSource = TRIREME_SOURCE;

std::vector<fs::path> yaml_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  return files;
}

TEST(CaseSchema, IsTheCommittedOne) {
  std::ostringstream committed;
  committed << std::ifstream(kSource / "configs" / "case.schema.json").rdbuf();
  EXPECT_EQ(committed.str(), case_schema())
      << "run: solve --print-schema > configs/case.schema.json";
}

TEST(Cases, AreReadWithoutError) {
  const auto files = yaml_files(kSource / "cases");
  EXPECT_FALSE(files.empty());
  for (const fs::path& file : files) EXPECT_NO_THROW(read_case(file)) << file;
}

TEST(Presets, AreReadWithoutErrorOverACase) {
  const auto files = yaml_files(kSource / "configs");
  EXPECT_FALSE(files.empty());
  for (const fs::path& file : files)
    EXPECT_NO_THROW(parse_case("problem: {generate: poisson3d, n: 4}", "case.yaml",
                               {.presets = {file}, .overrides = {}}))
        << file;
}

}  // namespace
}  // namespace trireme
