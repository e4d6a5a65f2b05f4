// SPDX-License-Identifier: BSD-3-Clause
// A staged file appears complete or not at all, and no other file has its temporary name.
#include "base/staged_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/error.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class StagedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "trireme-staged-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(StagedFileTest, TakesItsNameWhenItIsCommitted) {
  StagedFile file(folder_ / "report.json");
  file.write("new");
  EXPECT_FALSE(fs::exists(folder_ / "report.json"));
  file.commit();
  EXPECT_EQ(text_of(folder_ / "report.json"), "new");
  EXPECT_EQ(entries(), 1);
}

TEST_F(StagedFileTest, LeavesNothingAndTheOldFileWithoutCommit) {
  std::ofstream(folder_ / "report.json") << "old";
  StagedFile(folder_ / "report.json").write("new");
  EXPECT_EQ(text_of(folder_ / "report.json"), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(StagedFileTest, NeverFollowsASymbolicLink) {
  std::ofstream(folder_ / "victim") << "precious";
  StagedFile file(folder_ / "report.json");
  fs::create_symlink(folder_ / "victim", file.temporary());
  try {
    file.write("new");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
  }
  EXPECT_EQ(text_of(folder_ / "victim"), "precious");
}

TEST_F(StagedFileTest, ReplacesALinkOfItsNameAndNotWhatItLeadsTo) {
  std::ofstream(folder_ / "victim") << "precious";
  fs::create_symlink(folder_ / "victim", folder_ / "report.json");
  StagedFile file(folder_ / "report.json");
  file.write("new");
  file.commit();
  EXPECT_EQ(text_of(folder_ / "victim"), "precious");
  EXPECT_EQ(text_of(folder_ / "report.json"), "new");
}

TEST_F(StagedFileTest, TwoWritersOfOneNameDoNotShareATemporaryFile) {
  StagedFile first(folder_ / "report.json"), second(folder_ / "report.json");
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_EQ(text_of(folder_ / "report.json"), "first");
  second.commit();
  EXPECT_EQ(text_of(folder_ / "report.json"), "second");
  EXPECT_EQ(entries(), 1);
}

TEST_F(StagedFileTest, SaysWhyItCannotBeWritten) {
  for (const fs::path& path :
       {folder_ / "nowhere" / "report.json", fs::path("/proc/report.json")}) {
    try {
      StagedFile(path).write("new");
      ADD_FAILURE() << "no error for " << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_TRUE(std::string(error.what()).starts_with(path.string())) << error.what();
    }
  }
}

TEST_F(StagedFileTest, CannotReplaceAFolder) {
  fs::create_directories(folder_ / "report.json");
  {
    StagedFile file(folder_ / "report.json");
    file.write("new");
    EXPECT_THROW(file.commit(), Error);
  }
  EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace trireme
