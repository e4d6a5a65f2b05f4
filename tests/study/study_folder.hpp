// SPDX-License-Identifier: BSD-3-Clause
// A folder of its own for each test, with text files.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include <filesystem>
#include <fstream>
#include <string>

namespace trireme::study {

class StudyFolder : public testing::Test {
 protected:
  StudyFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "trireme-study-XXXXXX").string();
    folder = mkdtemp(name.data());
  }
  ~StudyFolder() override { std::filesystem::remove_all(folder); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
    return folder / name;
  }

  std::filesystem::path folder;
};

}  // namespace trireme::study
