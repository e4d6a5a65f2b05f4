// SPDX-License-Identifier: BSD-3-Clause
// One process starts without the daemon of Open MPI, and leaves the environment as it was.
#include "parallel/quick_mpi_start.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "parallel/program.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry; ++entry) entries.emplace_back(*entry);
  std::ranges::sort(entries);
  return entries;
}

std::string value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// A variable that has a value while the object exists.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(QuickMpiStart, LeavesTheEnvironmentAsItWas) {
  if (started_by_a_launcher()) GTEST_SKIP() << "a launcher has started the test";
  const auto before = environment();
  {
    const QuickMpiStart quick;
    EXPECT_EQ(value_of("OMPI_MCA_ess_singleton_isolated"), "1");
  }
  EXPECT_EQ(environment(), before);
}

TEST(QuickMpiStart, KeepsWhatTheUserHasSet) {
  const Variable users("OMPI_MCA_btl", "self,vader");
  { const QuickMpiStart quick; }
  EXPECT_EQ(value_of("OMPI_MCA_btl"), "self,vader");
}

TEST(QuickMpiStart, DoesNothingInAProcessOfAJob) {
  const Variable rank("PMIX_RANK", "0");
  const auto before = environment();
  const QuickMpiStart quick;
  EXPECT_TRUE(started_by_a_launcher());
  EXPECT_EQ(environment(), before);
}

// A folder of Open MPI would be that of all such processes at the same time.
TEST(RunProgram, StartsNoDaemonForOneProcessAndMakesNoFolder) {
  if (started_by_a_launcher()) GTEST_SKIP() << "a launcher has started the test";
  if (!std::ifstream("/proc/thread-self/children"))
    GTEST_SKIP() << "this system does not list the children of a process";
  std::string folder = fs::temp_directory_path() / "trireme-start-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const Variable temporary("TMPDIR", folder.c_str());
  std::string name = "test";
  char* words[] = {name.data(), nullptr};
  int count = 1;
  char** arguments = words;
  const int code = run_program(&count, &arguments, [&] {
    std::ifstream children("/proc/thread-self/children");
    std::string child;
    EXPECT_FALSE(children >> child) << child;
    EXPECT_TRUE(fs::is_empty(folder)) << fs::directory_iterator(folder)->path();
    return 7;
  });
  EXPECT_EQ(code, 7);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace trireme
