// SPDX-License-Identifier: BSD-3-Clause
// The slices of a SELL layout as kernels read them.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/sell/layout.hpp"

namespace trireme::sell {

// PatternId, where a pattern has values too; one per row in the order of the rows. Only the product
// of several vectors takes slices of them.
enum class RepeatedId : std::uint16_t {};

// Column is std::uint16_t (offsets from the base of a step), std::int32_t (columns), PatternId or
// RepeatedId.
template <class Stored, class Column>
struct Slices {
  std::int32_t count = 0;
  std::int32_t rows = 0;
  const std::int32_t* slice_ptr = nullptr;
  const std::int32_t* base = nullptr;         // in use with 16-bit columns
  const Column* columns = nullptr;            // per entry; patterns: per row
  const Stored* values = nullptr;             // per entry; RepeatedId: as `differences`
  const std::int32_t* row_order = nullptr;    // null: the caller's order
  const std::int32_t* differences = nullptr;  // in use with patterns, pattern_width of each
  std::int32_t pattern_width = 0;
};

template <class Column>
inline constexpr bool kIsNarrow = std::is_same_v<Column, std::uint16_t>;
template <class Column>
inline constexpr bool kIsPatterned = std::is_same_v<Column, PatternId>;
template <class Column>
inline constexpr bool kIsRepeated = std::is_same_v<Column, RepeatedId>;

// The numbers of one lane in one step.
template <int lane_rows, class T>
struct alignas(sizeof(T) * lane_rows) Pack {
  T of_row[lane_rows];
};

// Loads numbers that the product reads once, in words that are as wide as possible.
template <int lane_rows, class T>
__device__ __forceinline__ Pack<lane_rows, T> load_pack(const T* address) {
  constexpr int bytes = sizeof(Pack<lane_rows, T>);
  using Word = std::conditional_t<
      bytes == 2, unsigned short,
      std::conditional_t<bytes == 4, unsigned, std::conditional_t<bytes == 8, uint2, uint4>>>;
  Word word[bytes / sizeof(Word)];
#pragma unroll
  for (int i = 0; i < static_cast<int>(bytes / sizeof(Word)); ++i)
    word[i] = __ldcs(reinterpret_cast<const Word*>(address) + i);
  Pack<lane_rows, T> pack;
  memcpy(&pack, word, bytes);
  return pack;
}

}  // namespace trireme::sell
