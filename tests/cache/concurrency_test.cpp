// SPDX-License-Identifier: BSD-3-Clause
// Two processes that write, read and clear the same entry at once see whole payloads only.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "cache/cache.hpp"
#include "cache_folder.hpp"

namespace trireme {
namespace {

using test::bytes_of;
using test::key_named;
using test::text_of;
using ConcurrentCaches = test::CacheFolder;

constexpr int kRounds = 300;

// A payload whose length follows from its letter.
std::string payload(char letter) {
  return std::string(1000 + 4000 * static_cast<std::size_t>(letter - 'a'), letter);
}

// Writes and reads the same key. Returns what went wrong, or an empty text.
std::string work(const std::filesystem::path& folder, int seed, int& hits) {
  Cache cache(folder, 200'000);
  for (int round = 0; round < kRounds; ++round) {
    const char letter = static_cast<char>('a' + (seed + round) % 7);
    if (!cache.keep(key_named("a"), bytes_of(payload(letter)), 0)) return "an entry was not kept";
    if (const auto hit = cache.find(key_named("a"))) {
      ++hits;
      const std::string text = text_of(hit);
      if (text.empty() || text != payload(text[0])) return "a mixed payload was found";
    }
    if (round % 50 == 49) cache.clear();
    for (const std::string& note : cache.take_notes()) return note;
  }
  return {};
}

TEST_F(ConcurrentCaches, FindWholePayloadsOnly) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  int hits = 0;
  if (child == 0) {
    const std::string fault = work(folder_, 3, hits);
    if (!fault.empty()) std::fprintf(stderr, "child: %s\n", fault.c_str());
    _exit(fault.empty() && hits > 0 ? 0 : 1);
  }
  EXPECT_EQ(work(folder_, 0, hits), "");
  EXPECT_GT(hits, kRounds / 2);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace trireme
