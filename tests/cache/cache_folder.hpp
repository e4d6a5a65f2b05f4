// SPDX-License-Identifier: BSD-3-Clause
// A temporary folder for a cache, and short names for keys and payloads.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "cache/cache.hpp"

namespace trireme::test {

class CacheFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "trireme-cache-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    top_ = name;
    folder_ = top_ / "cache";
  }
  void TearDown() override {
    std::filesystem::permissions(top_, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(top_);
  }

  std::filesystem::path top_, folder_;  // the second one is made by the cache
};

inline CacheKey key_named(const std::string& name) {
  CacheKey key("decision 1");
  key.add("pattern", name).add("rows", 64);
  return key;
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline std::string text_of(const std::optional<CacheHit>& hit) {
  if (!hit) return "a miss";
  return {reinterpret_cast<const char*>(hit->payload.data()), hit->payload.size()};
}

inline std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace trireme::test
