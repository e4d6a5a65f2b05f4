// SPDX-License-Identifier: BSD-3-Clause
// An entry that is damaged in any way is a miss with one note, never another payload, and the next
// run replaces it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <ostream>

#include "cache/cache.hpp"
#include "cache_folder.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::content_of;
using test::key_named;
using test::text_of;

const std::string kPayload = "the payload of an entry";

void write(const fs::path& path, const std::string& content) {
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << content;
  chmod(path.c_str(), 0644);
}

struct Damage {
  std::string name;
  std::string note;  // a part of it
  std::function<void(const fs::path&)> apply;
};
std::ostream& operator<<(std::ostream& out, const Damage& damage) { return out << damage.name; }

Damage changed_byte(const std::string& name, const std::string& note, std::ptrdiff_t offset) {
  return {name, note, [offset](const fs::path& path) {
            std::string content = content_of(path);
            content[offset < 0 ? content.size() + offset : offset] ^= 0x10;
            write(path, content);
          }};
}
Damage truncated(const std::string& name, std::ptrdiff_t bytes) {
  return {name, "is truncated", [bytes](const fs::path& path) {
            fs::resize_file(path, bytes < 0 ? fs::file_size(path) + bytes : bytes);
          }};
}
Damage replaced(const std::string& name, const std::string& note, const std::string& content) {
  return {name, note, [content](const fs::path& path) { write(path, content); }};
}

const Damage kDamages[] = {
    truncated("Empty", 0),
    truncated("EndsInTheHeader", 40),
    truncated("EndsInTheKey", kCacheHeaderBytes + 9),
    truncated("EndsInThePayload", -1),
    changed_byte("WrongMagic", "is not a file of Trireme's cache", 0),
    changed_byte("AnotherVersion", "has the format version 18, and this program has 2", 8),
    changed_byte("WrongKindLength", "is truncated, or its header is damaged", 12 + 1),
    changed_byte("WrongHeadChecksum", "has a wrong checksum", 16),
    changed_byte("WrongPayloadChecksum", "has a wrong checksum", 24),
    changed_byte("WrongTime", "has a wrong checksum", 50),
    changed_byte("WrongKey", "has a wrong checksum", kCacheHeaderBytes + 20),
    changed_byte("WrongPayload", "has a wrong checksum", -1),
    {"LongerThanItSays", "is longer than its header says",
     [](const fs::path& path) { std::ofstream(path, std::ios::app) << 'x'; }},
    replaced("Foreign", "is not a file of Trireme's cache", std::string(200, 'x')),
    {"OfAnotherKey", "belongs to another key",
     [](const fs::path& path) {
       Cache cache(path.parent_path());
       cache.keep(key_named("another"), bytes_of("another payload"), 0);
       fs::rename(cache.path_of(key_named("another")), path);
     }},
    {"Link", "is a symbolic link",
     [](const fs::path& path) {
       fs::rename(path, path.parent_path() / "elsewhere");
       fs::create_symlink("elsewhere", path);
     }},
    {"WritableByTheGroup", "can be written by other users",
     [](const fs::path& path) { chmod(path.c_str(), 0664); }},
    {"WritableByAll", "can be written by other users",
     [](const fs::path& path) { chmod(path.c_str(), 0646); }},
    {"Pipe", "is not a regular file",
     [](const fs::path& path) {
       fs::remove(path);
       ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
     }},
};

class DamagedEntry : public test::CacheFolder, public testing::WithParamInterface<Damage> {};

TEST_P(DamagedEntry, IsIgnoredWithOneNoteAndReplaced) {
  const CacheKey key = key_named("a");
  const fs::path path = Cache(folder_).path_of(key);
  ASSERT_TRUE(Cache(folder_).keep(key, bytes_of(kPayload), 0));
  GetParam().apply(path);

  Cache cache(folder_);
  EXPECT_FALSE(cache.find(key));
  EXPECT_FALSE(cache.find(key));
  const auto notes = cache.take_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find(path.string() + " " + GetParam().note), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("ignored and removed"), std::string::npos) << notes[0];
  EXPECT_FALSE(fs::exists(fs::symlink_status(path)));

  EXPECT_TRUE(cache.keep(key, bytes_of(kPayload), 0));
  EXPECT_EQ(text_of(Cache(folder_).find(key)), kPayload);
  EXPECT_TRUE(cache.take_notes().empty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, DamagedEntry, testing::ValuesIn(kDamages),
                         [](const auto& kind) { return kind.param.name; });

using DamageTest = test::CacheFolder;

TEST_F(DamageTest, OfAnySingleByteOrLengthIsNoticed) {
  const CacheKey key = key_named("a");
  const fs::path path = Cache(folder_).path_of(key);
  ASSERT_TRUE(Cache(folder_).keep(key, bytes_of(kPayload), 0.25));
  const std::string whole = content_of(path);
  ASSERT_GT(whole.size(), kCacheHeaderBytes + kPayload.size());
  for (std::size_t k = 0; k < whole.size(); ++k) {
    std::string changed = whole;
    changed[k] ^= 0x01;
    write(path, changed);
    EXPECT_FALSE(Cache(folder_).find(key)) << "with byte " << k << " changed";
    write(path, whole.substr(0, k));
    EXPECT_FALSE(Cache(folder_).find(key)) << "cut after " << k << " bytes";
  }
  write(path, whole);
  EXPECT_EQ(text_of(Cache(folder_).find(key)), kPayload);
}

TEST_F(DamageTest, OrAnotherOwnerIsNoticed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  Cache cache(folder_);
  ASSERT_TRUE(cache.keep(key_named("a"), bytes_of(kPayload), 0));
  const fs::path path = cache.path_of(key_named("a"));
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  EXPECT_EQ(cache.list().at(0).fault, "belongs to another user");
  EXPECT_FALSE(cache.find(key_named("a")));
  const auto notes = cache.take_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("belongs to another user"), std::string::npos) << notes[0];
}

TEST_F(DamageTest, OfALinkOutLeavesTheTargetAlone) {
  const fs::path victim = top_ / "victim";
  std::ofstream(victim) << "precious";
  fs::create_directory(folder_);
  Cache cache(folder_);
  fs::create_symlink(victim, cache.path_of(key_named("a")));
  fs::create_symlink(victim, cache.path_of(key_named("b")));
  EXPECT_TRUE(cache.keep(key_named("a"), bytes_of(kPayload), 0));
  EXPECT_EQ(cache.clear().files, 2);
  EXPECT_EQ(content_of(victim), "precious");
}

TEST_F(DamageTest, OfAFolderInPlaceOfAnEntryGivesOneNoteAndLeavesIt) {
  Cache cache(folder_);
  const fs::path path = cache.path_of(key_named("a"));
  fs::create_directories(path);
  EXPECT_FALSE(cache.find(key_named("a")));
  EXPECT_FALSE(cache.keep(key_named("a"), bytes_of(kPayload), 0));
  const auto notes = cache.take_notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find(path.string() + " is not a regular file"), std::string::npos) << notes[0];
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_TRUE(cache.keep(key_named("b"), bytes_of(kPayload), 0));
}

}  // namespace
}  // namespace trireme
