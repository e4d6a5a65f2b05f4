// SPDX-License-Identifier: BSD-3-Clause
// An output that is an input is refused under every name of the file.
#include "base/overwriting.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/error.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

class Overwriting : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "trireme-overwriting-XXXXXX";
    folder_ = mkdtemp(name.data());
    for (const char* file : {"a.h5", "b.h5"}) std::ofstream(folder_ / file) << "precious";
  }
  void TearDown() override { fs::remove_all(folder_); }

  void expect_refused(const fs::path& output) {
    try {
      refuse_overwriting({folder_ / "missing.h5", folder_ / "a.h5"}, {folder_ / "new.h5", output});
      ADD_FAILURE() << output << " is not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find("a.h5"), std::string::npos) << error.what();
    }
  }

  fs::path folder_;
};

TEST_F(Overwriting, IsRefusedByNameHardLinkAndSymbolicLink) {
  fs::create_hard_link(folder_ / "a.h5", folder_ / "hard.h5");
  fs::create_symlink("a.h5", folder_ / "soft.h5");
  expect_refused(folder_ / "a.h5");
  expect_refused(folder_ / "." / "a.h5");
  expect_refused(folder_ / "hard.h5");
  expect_refused(folder_ / "soft.h5");
}

TEST_F(Overwriting, OfOtherFilesAndOfNewOnesIsAllowed) {
  refuse_overwriting({folder_ / "a.h5"}, {folder_ / "b.h5", folder_ / "new.h5", fs::path()});
  refuse_overwriting({folder_ / "missing.h5", fs::path()}, {folder_ / "missing.h5", fs::path()});
}

}  // namespace
}  // namespace trireme
