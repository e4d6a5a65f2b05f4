// SPDX-License-Identifier: BSD-3-Clause
// What an entry of the cache is valid for: an ordered list of named parts.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace trireme {

// The canonical text has one line per part, "name: value", and begins with the kind of the entry.
// Two keys are equal where their texts are equal. A caller adds everything that the entry depends
// on, and in the same order each time.
class CacheKey {
 public:
  // The kind is a word: "decision", "order".
  explicit CacheKey(std::string_view kind) : kind_(kind) { add("kind", kind); }

  // A control character or a backslash of the value is written as \xHH, so that no value looks like
  // two parts. A name is a word of the program without ':'.
  CacheKey& add(std::string_view name, std::string_view value);
  CacheKey& add(std::string_view name, std::integral auto value) {
    return add(name, std::string_view(std::to_string(value)));
  }

  const std::string& kind() const { return kind_; }
  const std::string& text() const { return text_; }
  // XXH128 of the text in 32 hexadecimal digits: the name of the entry.
  std::string name() const;

 private:
  std::string kind_, text_;
};

}  // namespace trireme
