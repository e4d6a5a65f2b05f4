// SPDX-License-Identifier: BSD-3-Clause
// A disk that takes no more leaves the cache without the entry, with one note, and without rubbish.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cache/cache.hpp"
#include "cache_folder.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::key_named;
using test::text_of;

constexpr std::size_t kSpace = 256 << 10;

class FullDisk : public test::CacheFolder {
 protected:
  void SetUp() override {
    CacheFolder::SetUp();
    fs::create_directory(folder_);
  }

  // Keeps a payload that fits and two that do not.
  void expect_one_note() {
    Cache cache(folder_);
    EXPECT_TRUE(cache.keep(key_named("small"), bytes_of("payload"), 0));
    const std::string large(2 * kSpace, 'x');
    EXPECT_FALSE(cache.keep(key_named("large"), bytes_of(large), 0));
    EXPECT_FALSE(cache.keep(key_named("also large"), bytes_of(large), 0));
    const auto notes = cache.take_notes();
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("nothing is kept in the cache"), std::string::npos) << notes[0];
    EXPECT_FALSE(cache.find(key_named("large")));
    EXPECT_EQ(text_of(cache.find(key_named("small"))), "payload");
    EXPECT_TRUE(cache.take_notes().empty());
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  }
};

TEST_F(FullDisk, LeavesOneNoteAndNoRubbish) {
  const std::string options = "size=" + std::to_string(kSpace);
  if (mount("tmpfs", folder_.c_str(), "tmpfs", 0, options.c_str()) != 0)
    GTEST_SKIP() << "a small tmpfs cannot be mounted here: " << std::strerror(errno);
  expect_one_note();
  EXPECT_EQ(umount(folder_.c_str()), 0);
}

TEST_F(FullDisk, OrALimitOfTheFileSizeLeavesOneNoteAndNoRubbish) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{kSpace, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  expect_one_note();
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
}

}  // namespace
}  // namespace trireme
