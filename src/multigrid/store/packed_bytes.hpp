// SPDX-License-Identifier: BSD-3-Clause
// Numbers and arrays one after the other as bytes, in the machine's own format.
//
//   number or real      8 bytes
//   text or array       8 bytes with the number of elements, then the elements, up to a multiple of
//                       8
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/array.hpp"
#include "base/error.hpp"

namespace trireme::multigrid {

// Copies with all threads.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t count);

// Views of arrays are kept until bytes() copies them.
class PackedWriter {
 public:
  void number(std::int64_t value) { add_word(&value); }
  void real(double value) { add_word(&value); }
  void text(std::string_view text) { array(std::span<const char>(text)); }
  template <class Range>
  void array(const Range& values) {
    const std::span view(values);
    static_assert(std::is_trivially_copyable_v<typename decltype(view)::element_type>);
    number(std::ssize(view));
    parts_.push_back({.bytes = std::as_bytes(view), .word = {}, .is_word = false});
  }
  Array<std::byte> bytes() const;

 private:
  struct Part {
    std::span<const std::byte> bytes;
    std::byte word[8];
    bool is_word;
  };
  template <class T>
  void add_word(const T* value) {
    static_assert(sizeof(T) == 8);
    Part& part = parts_.emplace_back();
    part.is_word = true;
    std::memcpy(part.word, value, sizeof(T));
  }

  std::vector<Part> parts_;
};

// Reads what PackedWriter wrote. Throws Error{input}, whose text is a clause without a subject,
// where the bytes end too early.
class PackedReader {
 public:
  explicit PackedReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::int64_t number() { return word<std::int64_t>(); }
  double real() { return word<double>(); }
  std::string text();
  template <class T>
  Array<T> array() {
    const std::span<const std::byte> bytes = elements(sizeof(T));
    Array<T> values(bytes.size() / sizeof(T));
    if (!values.empty())
      copy_bytes(reinterpret_cast<std::byte*>(values.data()), bytes.data(), bytes.size());
    return values;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  template <class T>
  T word() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take(std::size_t count);
  std::span<const std::byte> elements(std::size_t size);

  std::span<const std::byte> rest_;
};

}  // namespace trireme::multigrid
