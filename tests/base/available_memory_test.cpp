// SPDX-License-Identifier: BSD-3-Clause
// The memory that a process may still take, by files like those of /proc and /sys.
#include "base/available_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

namespace trireme {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

class AvailableMemoryTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::int64_t shared() const { return available_memory(root_).shared; }
  void TearDown() override { fs::remove_all(root_); }

  fs::path root_ = fs::temp_directory_path() / ("trireme-memory-" + std::to_string(getpid()));
};

TEST_F(AvailableMemoryTest, IsWithoutLimitWhereNothingIsSaid) { EXPECT_EQ(shared(), no_limit); }

TEST_F(AvailableMemoryTest, IsThatOfTheMachine) {
  write("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:     500 kB\n");
  EXPECT_EQ(shared(), 500 * 1024);
}

TEST_F(AvailableMemoryTest, IsThatOfTheTightestGroupOfVersion2) {
  write("proc/meminfo", "MemAvailable: 500000 kB\n");
  write("proc/self/cgroup", "0::/job_7/step_0\n");
  write("sys/fs/cgroup/job_7/memory.max", "1000000\n");
  write("sys/fs/cgroup/job_7/memory.current", "700000\n");
  write("sys/fs/cgroup/job_7/memory.stat", "anon 500000\ninactive_file 40000\nactive_file 2000\n");
  write("sys/fs/cgroup/job_7/step_0/memory.max", "max\n");
  write("sys/fs/cgroup/job_7/step_0/memory.current", "600000\n");
  EXPECT_EQ(shared(), 1000000 - (700000 - 42000));
  write("sys/fs/cgroup/job_7/step_0/memory.max", "610000\n");
  EXPECT_EQ(shared(), 10000);
  write("sys/fs/cgroup/job_7/step_0/memory.max", "1\n");
  EXPECT_EQ(shared(), 0);
}

TEST_F(AvailableMemoryTest, IsThatOfTheGroupOfVersion1) {
  write("proc/meminfo", "MemAvailable: 500000 kB\n");
  write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/docker/abc\n0::/\n");
  // In a container the files of the group lie at the top.
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1500000\n");
  write("sys/fs/cgroup/memory/memory.stat", "cache 9\ntotal_inactive_file 100000\n");
  EXPECT_EQ(shared(), 600000);
}

TEST(AvailableMemory, KnowsThisMachine) {
  const AvailableMemory available = available_memory();
  EXPECT_GT(available.shared, 1 << 20);
  EXPECT_LT(available.shared, no_limit);
}

TEST(AvailableMemoryDeathTest, CountsTheLimitOfTheAddressSpace) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const std::size_t left = 256 << 20;
        rlimit limit{};
        getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + left;
        setrlimit(RLIMIT_AS, &limit);
        const std::int64_t own = available_memory().own;
        std::_Exit(own > 200 << 20 && own <= 256 << 20 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trireme
