// SPDX-License-Identifier: BSD-3-Clause
// Rows that share columns in a product with a strip of vectors: the matrix unit multiplies one row
// of X by all rows of a row block that have its column (shared_columns.cu finds such rows).
//
// In each matrix product m8n8k4
//   A[g][k] = the value of row g, or 0 where row g does not have the list of columns,
//   B[k][n] = X in column k of the list, in the n-th of eight vectors.
// Lane 4 g + q holds A[g][q] and B[q][g], and gets C[g][2 q] and C[g][2 q + 1].
//
// Where a strip has 16 vectors or more, a lane loads two vectors of X at once, and a row of X takes
// whole cache lines. One of two matrix products gets the even vectors and the other the odd ones.
//
// The zeros of A would bring an infinity or NaN of X to rows without its column. Sums that are not
// finite are therefore computed once more without the matrix unit.
#pragma once

#include "kernels/dasp/strip_entries.cuh"

namespace trireme::dasp {

// Strips that the matrix unit can multiply.
template <class Strip>
inline constexpr bool kOnMatrixUnit =
    std::is_same_v<typename Strip::Vector, double>&& Strip::kChunk == 2;

// Returns a bit for each row block whose sums are not finite, and which is not stored.
template <class Stored, class Strip>
__device__ __forceinline__ std::uint32_t rows_that_share(const Product<Stored, double>& p,
                                                         const Strip& strip, const Task& task,
                                                         std::int32_t base, std::uint32_t same,
                                                         const Group<Strip>& group) {
  constexpr int per_load = Strip::kWidth == 8 ? 1 : 2;  // vectors
  constexpr int loads = Strip::kWidth / 8 / per_load;   // per row of X
  constexpr int products = Strip::kWidth / 8;           // per list
  constexpr int at_once = Strip::kWidth == 32 ? 2 : 4;  // lists whose rows of X are loaded together
  const int row_of_a = group.lane / 4, quarter = group.lane % 4;
  const bool is_near = base >= 0;
  const char* x = reinterpret_cast<const char*>(strip.x + row_of_a * per_load);
  if (is_near) x = strip.row_of_x(x, base);
  const std::int32_t row_blocks = task.work() == Work::rows32 ? 4 : 1;
  const std::int32_t blocks = task.size() / 4;
  const std::int32_t irregular = task.size() % 4;
  const std::int64_t first = static_cast<std::int64_t>(task.stored) * 32;
  const auto load = [&](const Part<Stored>& part, std::int64_t at, Stored& value,
                        std::uint32_t& column) __attribute__((always_inline)) {
    value = __ldcs(part.val + at);
    if (is_near)
      column = __ldcs(part.offset + at);
    else
      column = __ldcs(part.cid + at);
  };
  std::int64_t at = first + group.lane;
  std::uint32_t not_stored = 0;
#pragma unroll 1
  for (std::int32_t row_block = 0; row_block < row_blocks; ++row_block, same >>= 8) {
    // The lane with the column of each list, and the list of this lane's row.
    const std::int32_t lists = column_lists(same);
    int leader[kMaxColumnLists];
    std::uint32_t firsts = ~same & 0xffu;
#pragma unroll
    for (int list = 0; list < kMaxColumnLists; ++list) {
      leader[list] = 4 * (__ffs(firsts) - 1) + quarter;
      if (list + 1 < lists) firsts &= firsts - 1;
    }
    const int my_list = __popc(~same & 0xffu & ((2u << row_of_a) - 1)) - 1;

    double c[products][2] = {};
    const auto multiply = [&](Stored value, std::uint32_t column, bool exists)
        __attribute__((always_inline)) {
#pragma unroll
      for (int first_list = 0; first_list < kMaxColumnLists; first_list += at_once) {
        if (first_list >= lists) break;
        double b[at_once][products];
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
          const auto* row = reinterpret_cast<const double*>(
              strip.row_of_x(x, __shfl_sync(kFullWarp, column, leader[first_list + i])));
#pragma unroll
          for (int n = 0; n < loads; ++n) {
            double part[per_load] = {};
            if (exists && first_list + i < lists) strip::read(row + 8 * per_load * n, part);
#pragma unroll
            for (int k = 0; k < per_load; ++k) b[i][n * per_load + k] = part[k];
          }
        }
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
          if (first_list + i >= lists) break;
          const double a = my_list == first_list + i ? static_cast<double>(value) : 0.0;
#pragma unroll
          for (int n = 0; n < products; ++n)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(c[n][0]), "+d"(c[n][1])
                : "d"(a), "d"(b[i][n]));
        }
      }
    };
    constexpr int under_way = 3;  // blocks
    Stored value[under_way];
    std::uint32_t column[under_way];
#pragma unroll
    for (int i = 0; i < under_way; ++i)
      if (i < blocks) load(p.regular, at + i * 32, value[i], column[i]);
    const bool has_end = quarter < irregular;
    Stored end_value = Stored(0);
    std::uint32_t end_column = 0;
    if (has_end)
      load(p.irregular, task.irregular + (8 * row_block + row_of_a) * irregular + quarter,
           end_value, end_column);
#pragma unroll 1
    for (std::int32_t block = 0; block < blocks; block += under_way) {
#pragma unroll
      for (int i = 0; i < under_way; ++i) {
        if (block + i >= blocks) break;
        const Stored now = value[i];
        const std::uint32_t now_column = column[i];
        if (block + i + under_way < blocks)
          load(p.regular, at + under_way * 32, value[i], column[i]);
        at += 32;
        multiply(now, now_column, true);
      }
    }
    if (irregular > 0) multiply(end_value, end_column, has_end);

    bool finite = true;
#pragma unroll
    for (int n = 0; n < products; ++n) finite &= isfinite(c[n][0]) && isfinite(c[n][1]);
    if (!__all_sync(kFullWarp, finite)) {
      not_stored |= 1u << row_block;
      continue;
    }
    const std::int32_t row = p.caller_row(task, 8 * row_block + row_of_a);
    auto* y = reinterpret_cast<double*>(reinterpret_cast<char*>(strip.y) +
                                        static_cast<std::uint64_t>(row) * strip.y_stride) +
              2 * per_load * quarter;
#pragma unroll
    for (int n = 0; n < loads; ++n)
#pragma unroll
      for (int half = 0; half < per_load; ++half) {
        double part[2];
        if constexpr (per_load == 1)
          part[0] = c[n][0], part[1] = c[n][1];
        else
          part[0] = c[2 * n][half], part[1] = c[2 * n + 1][half];
        double* to = y + 8 * per_load * n + 2 * half;
        if (strip.add) strip::read_and_add(to, part);
        strip::write(to, part);
      }
  }
  return not_stored;
}

}  // namespace trireme::dasp
