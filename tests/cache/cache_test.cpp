// SPDX-License-Identifier: BSD-3-Clause
// What is kept is found, under its own key only, within the bound; and the folder may be unusable.
#include "cache/cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "cache_folder.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::key_named;
using test::text_of;
using CacheTest = test::CacheFolder;

TEST_F(CacheTest, FindsWhatAnotherRunHasKept) {
  EXPECT_FALSE(Cache(folder_).find(key_named("a")));
  EXPECT_TRUE(Cache(folder_).keep(key_named("a"), bytes_of("payload"), 1.5));
  Cache cache(folder_);
  const auto hit = cache.find(key_named("a"));
  EXPECT_EQ(text_of(hit), "payload");
  EXPECT_EQ(hit->head.made_in_seconds, 1.5);
  EXPECT_EQ(hit->head.key, key_named("a").text());
  EXPECT_TRUE(cache.take_notes().empty());
}

TEST_F(CacheTest, FindsNothingUnderAnotherKey) {
  Cache cache(folder_);
  cache.keep(key_named("a"), bytes_of("payload"), 0);
  EXPECT_FALSE(cache.find(key_named("b")));
  EXPECT_FALSE(cache.find(key_named("a").add("threads", 2)));
  EXPECT_TRUE(cache.take_notes().empty());
}

TEST_F(CacheTest, KeepsAnEmptyPayloadAndReplacesIt) {
  Cache cache(folder_);
  cache.keep(key_named("a"), {}, 0);
  EXPECT_EQ(text_of(cache.find(key_named("a"))), "");
  cache.keep(key_named("a"), bytes_of("new"), 0);
  EXPECT_EQ(text_of(cache.find(key_named("a"))), "new");
  EXPECT_EQ(cache.list().size(), 1u);
}

TEST(CacheKey, HasNoValueThatLooksLikeTwoParts) {
  CacheKey one("k"), two("k");
  one.add("gpu", "x\nranks: 1");
  two.add("gpu", "x").add("ranks", 1);
  EXPECT_NE(one.text(), two.text());
  EXPECT_NE(one.name(), two.name());
  EXPECT_EQ(one.text(), "kind: k\ngpu: x\\x0aranks: 1\n");
}

TEST_F(CacheTest, IsForItsOwnerOnly) {
  folder_ = top_ / "made" / "on the way" / "cache";
  ASSERT_TRUE(Cache(folder_).keep(key_named("a"), bytes_of("payload"), 0));
  struct stat status {};
  ASSERT_EQ(stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(CacheTest, WritesEntriesThatItsOwnerOnlyMayWriteWhateverTheUmask) {
  const mode_t before = umask(0);
  Cache cache(folder_);
  const bool kept = cache.keep(key_named("a"), bytes_of("payload"), 0);
  umask(before);
  ASSERT_TRUE(kept);
  struct stat status {};
  ASSERT_EQ(stat(cache.path_of(key_named("a")).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
  EXPECT_EQ(text_of(cache.find(key_named("a"))), "payload");
}

// Sets the time of the last use, in seconds before now.
void set_age(const fs::path& path, int seconds) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
}

TEST_F(CacheTest, RemovesWhatWasNotUsedForTheLongestTime) {
  const std::string payload(1000, 'x');
  Cache cache(folder_, 4000);  // three entries
  for (const char* name : {"a", "b", "c"}) cache.keep(key_named(name), bytes_of(payload), 0);
  set_age(cache.path_of(key_named("a")), 30);
  set_age(cache.path_of(key_named("b")), 20);
  set_age(cache.path_of(key_named("c")), 10);
  EXPECT_TRUE(cache.find(key_named("a")));  // the last used one
  EXPECT_TRUE(cache.keep(key_named("d"), bytes_of(payload), 0));
  EXPECT_FALSE(cache.find(key_named("b")));
  EXPECT_TRUE(cache.find(key_named("a")));
  EXPECT_TRUE(cache.find(key_named("c")));
  EXPECT_TRUE(cache.find(key_named("d")));
  EXPECT_FALSE(cache.keep(key_named("e"), bytes_of(std::string(5000, 'x')), 0));
  EXPECT_EQ(cache.list().size(), 3u);
}

TEST_F(CacheTest, DoesNotReadAFileThatIsLargerThanTheWholeCacheMayBe) {
  Cache(folder_).keep(key_named("a"), bytes_of(std::string(1000, 'x')), 0);
  Cache cache(folder_, 500);
  EXPECT_FALSE(cache.find(key_named("a")));
  EXPECT_EQ(cache.take_notes().size(), 1u);
}

TEST_F(CacheTest, ListsItsEntriesAndClearsNothingElse) {
  Cache cache(folder_);
  cache.keep(key_named("a"), bytes_of("payload"), 2.5);
  cache.keep(key_named("b"), bytes_of("payload"), 0);
  set_age(cache.path_of(key_named("a")), 100);
  fs::resize_file(cache.path_of(key_named("b")), 70);
  const fs::path abandoned =
      folder_ / ("." + cache.path_of(key_named("c")).filename().string() + ".0123456789abcdef.tmp");
  std::ofstream(abandoned) << "half";
  set_age(abandoned, 7200);
  std::ofstream(folder_ / "thesis.tex") << "precious";
  std::ofstream(folder_ / "0123456789abcdef0123456789abcdeX.trireme") << "precious";
  fs::create_directory(folder_ / "0123456789abcdef0123456789abcdef.trireme");

  const std::vector<CacheListing> list = cache.list();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].fault, "is truncated, or its header is damaged");
  EXPECT_EQ(list[1].fault, "");
  EXPECT_EQ(list[1].head.key, key_named("a").text());
  EXPECT_EQ(list[1].head.made_in_seconds, 2.5);
  EXPECT_EQ(list[1].file_bytes, fs::file_size(cache.path_of(key_named("a"))));

  EXPECT_EQ(cache.clear().files, 3);
  EXPECT_TRUE(cache.list().empty());
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);
}

TEST_F(CacheTest, RemovesTemporaryFilesOfWritersThatWereKilled) {
  Cache cache(folder_);
  cache.keep(key_named("a"), bytes_of("payload"), 0);
  const std::string name = "." + cache.path_of(key_named("c")).filename().string();
  const fs::path abandoned = folder_ / (name + ".0123456789abcdef.tmp");
  const fs::path in_use = folder_ / (name + ".fedcba9876543210.tmp");
  std::ofstream(abandoned) << "half";
  std::ofstream(in_use) << "half";
  set_age(abandoned, 7200);
  cache.keep(key_named("a"), bytes_of("payload"), 0);
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(in_use));
}

TEST_F(CacheTest, GivesOneNoteWhereTheFolderCannotBeWritten) {
  if (geteuid() == 0) {  // root may write everywhere; no file becomes a folder, though
    std::ofstream(folder_) << "a file";
  } else {
    fs::permissions(top_, fs::perms::owner_read | fs::perms::owner_exec);
  }
  Cache cache(folder_);
  EXPECT_FALSE(cache.find(key_named("a")));
  EXPECT_FALSE(cache.keep(key_named("a"), bytes_of("payload"), 0));
  EXPECT_FALSE(cache.keep(key_named("b"), bytes_of("payload"), 0));
  const auto notes = cache.take_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("nothing is kept in the cache"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find(folder_.string()), std::string::npos) << notes[0];
}

TEST(DefaultCacheDirectory, IsThatOfXdgOrBelowTheHomeFolder) {
  ASSERT_EQ(setenv("HOME", "/home/someone", 1), 0);
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "/scratch/cache", 1), 0);
  EXPECT_EQ(default_cache_directory(), "/scratch/cache/trireme");
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "relative", 1), 0);
  EXPECT_EQ(default_cache_directory(), "/home/someone/.cache/trireme");
  ASSERT_EQ(unsetenv("XDG_CACHE_HOME"), 0);
  EXPECT_EQ(default_cache_directory(), "/home/someone/.cache/trireme");
  ASSERT_EQ(unsetenv("HOME"), 0);
  EXPECT_EQ(default_cache_directory(), "");
}

}  // namespace
}  // namespace trireme
