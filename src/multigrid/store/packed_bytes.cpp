// SPDX-License-Identifier: BSD-3-Clause
// Copies words and arrays to and from one array of bytes.
#include "multigrid/store/packed_bytes.hpp"

#include <algorithm>

namespace trireme::multigrid {
namespace {

constexpr std::size_t kWord = 8;

std::size_t padded(std::size_t bytes) { return (bytes + kWord - 1) / kWord * kWord; }

}  // namespace

void copy_bytes(std::byte* to, const std::byte* from, std::size_t count) {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
#pragma omp parallel for schedule(static) if (count > kChunk)
  for (std::size_t at = 0; at < count; at += kChunk)
    std::memcpy(to + at, from + at, std::min(kChunk, count - at));
}

Array<std::byte> PackedWriter::bytes() const {
  std::size_t size = 0;
  for (const Part& part : parts_) size += part.is_word ? kWord : padded(part.bytes.size());
  Array<std::byte> all(size);
  std::byte* at = all.data();
  for (const Part& part : parts_) {
    const std::size_t count = part.is_word ? kWord : part.bytes.size();
    if (count > 0) copy_bytes(at, part.is_word ? part.word : part.bytes.data(), count);
    std::fill(at + count, at + padded(count), std::byte{0});
    at += padded(count);
  }
  return all;
}

std::span<const std::byte> PackedReader::take(std::size_t count) {
  if (count > rest_.size()) fail(ExitCode::input, "ends too early");
  const auto taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

std::span<const std::byte> PackedReader::elements(std::size_t size) {
  const std::int64_t count = number();
  if (count < 0 || static_cast<std::size_t>(count) > rest_.size() / size)
    fail(ExitCode::input, "ends too early");
  const std::size_t bytes = static_cast<std::size_t>(count) * size;
  return take(padded(bytes)).first(bytes);
}

std::string PackedReader::text() {
  const std::span<const std::byte> bytes = elements(1);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace trireme::multigrid
