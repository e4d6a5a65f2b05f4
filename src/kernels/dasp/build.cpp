// SPDX-License-Identifier: BSD-3-Clause
// Builds DASP from a CSR on the host: sorts the rows by length, measures the row blocks, and copies
// the entries to their places.
#include "kernels/dasp/build.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/half.hpp"
#include "base/stopwatch.hpp"

namespace trireme::dasp {
namespace {

// Rows sorted by length: bucket 0 has the long rows, the next buckets have the rows of length
// max_len, .., 2, 1, 0. The rows of a bucket are in row order.
struct SortedRows {
  Array<std::int32_t> row;          // the caller's rows, bucket after bucket
  std::vector<std::int64_t> start;  // buckets + 1: the first position of each bucket
  std::int32_t max_len = kMaxLen;

  std::int64_t first(std::int32_t length) const { return start[max_len + 1 - length]; }
  std::int64_t count(std::int32_t length) const {
    return start[max_len + 2 - length] - first(length);
  }
};

SortedRows sort_by_length(std::span<const std::int32_t> row_ptr, std::int64_t rows,
                          std::int32_t max_len) {
  SortedRows sorted{.row = Array<std::int32_t>(rows), .start = {}, .max_len = max_len};
  const std::int64_t buckets = max_len + 2;
  sorted.start.resize(buckets + 1);
  const auto bucket_of = [&](std::int64_t row) {
    const std::int32_t length = row_ptr[row + 1] - row_ptr[row];
    return length > max_len ? 0 : max_len + 1 - length;
  };
  // [thread][bucket]: first the number of rows, later the next free position.
  std::vector<std::int64_t> next;
#pragma omp parallel
  {
    const std::int64_t threads = omp_get_num_threads();
    const std::int64_t thread = omp_get_thread_num();
#pragma omp single
    next.assign(threads * buckets, 0);
    const std::int64_t begin = rows * thread / threads;
    const std::int64_t end = rows * (thread + 1) / threads;
    std::int64_t* mine = next.data() + thread * buckets;
    for (std::int64_t row = begin; row < end; ++row) ++mine[bucket_of(row)];
#pragma omp barrier
#pragma omp single
    {
      std::int64_t position = 0;
      for (std::int64_t bucket = 0; bucket < buckets; ++bucket) {
        sorted.start[bucket] = position;
        for (std::int64_t t = 0; t < threads; ++t) {
          const std::int64_t count = next[t * buckets + bucket];
          next[t * buckets + bucket] = position;
          position += count;
        }
      }
      sorted.start[buckets] = position;
    }
    for (std::int64_t row = begin; row < end; ++row)
      sorted.row[mine[bucket_of(row)]++] = static_cast<std::int32_t>(row);
  }
  return sorted;
}

Counts count_classes(const SortedRows& sorted) {
  Counts counts;
  const std::int64_t ones = sorted.count(1);
  const std::int64_t threes = sorted.count(3);
  counts.long_rows = sorted.start[1];
  counts.medium_rows = sorted.first(4) - sorted.start[1];
  counts.pieces_13 = std::min(ones, threes);
  counts.fours = sorted.count(4);
  counts.threes = threes - counts.pieces_13;
  counts.twos = sorted.count(2);
  counts.ones = ones - counts.pieces_13;
  counts.empty = sorted.count(0);
  return counts;
}

// The sorted rows in the order of Counts. Only rows of 1 and of 3 nonzeros change places.
Array<std::int32_t> order_rows(const SortedRows& sorted, const Counts& counts) {
  Array<std::int32_t> order(sorted.row.size());
  const auto copy = [&](std::int64_t from, std::int64_t count, std::int64_t to) {
    std::copy_n(sorted.row.begin() + from, count, order.begin() + to);
  };
  copy(0, counts.first_13(), 0);
  const std::int64_t pieces = counts.pieces_13;
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    order[counts.first_13() + 2 * piece] = sorted.row[sorted.first(1) + piece];
    order[counts.first_13() + 2 * piece + 1] = sorted.row[sorted.first(3) + piece];
  }
  copy(sorted.first(4), counts.fours, counts.first_4());
  copy(sorted.first(3) + pieces, counts.threes, counts.first_4() + counts.fours);
  copy(sorted.first(2), counts.twos, counts.first_22());
  copy(sorted.first(1) + pieces, counts.ones, counts.first_1());
  copy(sorted.first(0), counts.empty, counts.first_empty());
  return order;
}

// On entry offsets[i + 1] is the size of item i; on return it is the sum of the sizes of items 0 to
// i. Throws Error{input} when a sum exceeds 32 bits.
void sum_up(Array<std::int32_t>& offsets, const char* what) {
  std::int64_t total = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    total += offsets[i];
    if (total > std::numeric_limits<std::int32_t>::max())
      fail(ExitCode::input,
           "dasp: the {} part has more than 2147483647 stored entries; use more processes", what);
    offsets[i] = static_cast<std::int32_t>(total);
  }
}

template <class Value, int M, int K>
void measure(Layout<Value, M, K>& layout, std::span<const std::int32_t> row_ptr) {
  const Counts& counts = layout.counts;
  const auto length_at = [&](std::int64_t position) {
    const std::int32_t row = layout.row_order[position];
    return row_ptr[row + 1] - row_ptr[row];
  };
  layout.group_ptr.assign(counts.long_rows + 1, 0);
  for (std::int64_t i = 0; i < counts.long_rows; ++i)
    layout.group_ptr[i + 1] = (length_at(i) + layout.kGroup - 1) / layout.kGroup;
  sum_up(layout.group_ptr, "long");

  layout.rowblock_ptr.resize(layout.row_blocks() + 1);
  layout.irreg_ptr.resize(counts.medium_rows + 1);
  layout.rowblock_ptr[0] = layout.irreg_ptr[0] = 0;
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < layout.row_blocks(); ++block) {
    const std::int64_t first = block * M;
    const std::int64_t here = std::min<std::int64_t>(M, counts.medium_rows - first);
    std::int32_t length[M] = {};
    for (std::int64_t row = 0; row < here; ++row)
      length[row] = length_at(counts.first_medium() + first + row);
    const std::int32_t blocks = regular_blocks<M, K>([&](int row) { return length[row]; });
    layout.rowblock_ptr[block + 1] = blocks * M * K;
    for (std::int64_t row = 0; row < here; ++row)
      layout.irreg_ptr[first + row + 1] = std::max(0, length[row] - blocks * K);
  }
  sum_up(layout.rowblock_ptr, "regular");
  sum_up(layout.irreg_ptr, "irregular");
}

template <class Value, int M, int K>
void allocate(Layout<Value, M, K>& layout) {
  const auto both = [](Array<Value>& val, Array<std::int32_t>& cid, std::int64_t size) {
    val.resize(size);
    cid.resize(size);
  };
  both(layout.long_val, layout.long_cid, std::int64_t{layout.group_ptr.back()} * layout.kGroup);
  both(layout.reg_val, layout.reg_cid, layout.rowblock_ptr.back());
  both(layout.irreg_val, layout.irreg_cid, layout.irreg_ptr.back());
  both(layout.short_val, layout.short_cid, layout.counts.short_entries());
}

enum class Fill { everything, values };

// Writes the values and columns of one class of rows from the CSR.
template <class Value, class Source, Fill what>
struct Writer {
  Array<Value>& val;
  Array<std::int32_t>& cid;
  const CsrView<Source>& a;

  void copy(std::int64_t slot, std::int64_t entry) const {
    val[slot] = static_cast<Value>(a.values[entry]);
    if constexpr (what == Fill::everything) cid[slot] = a.col_idx[entry];
  }
  void pad(std::int64_t slot) const {
    if constexpr (what == Fill::everything) {
      val[slot] = Value{};
      cid[slot] = 0;
    }
  }
  // Copies `row` to the slots [slot, slot + width) and pads what is left of them.
  void copy_row(std::int64_t slot, std::int64_t row, std::int64_t width) const {
    const std::int64_t begin = a.row_ptr[row];
    const std::int64_t length = a.row_ptr[row + 1] - begin;
    for (std::int64_t k = 0; k < length; ++k) copy(slot + k, begin + k);
    for (std::int64_t k = length; k < width; ++k) pad(slot + k);
  }
};

template <Fill what, class Value, int M, int K, class Source>
void fill_long(Layout<Value, M, K>& layout, const CsrView<Source>& a) {
  const Writer<Value, Source, what> to{layout.long_val, layout.long_cid, a};
#pragma omp for schedule(dynamic, 16) nowait
  for (std::int64_t i = 0; i < layout.counts.long_rows; ++i) {
    const std::int64_t first = layout.group_ptr[i];
    const std::int64_t last = layout.group_ptr[i + 1];
    to.copy_row(first * layout.kGroup, layout.row_order[i], (last - first) * layout.kGroup);
  }
}

template <Fill what, class Value, int M, int K, class Source>
void fill_medium(Layout<Value, M, K>& layout, const CsrView<Source>& a) {
  const Writer<Value, Source, what> regular{layout.reg_val, layout.reg_cid, a};
  const Writer<Value, Source, what> irregular{layout.irreg_val, layout.irreg_cid, a};
#pragma omp for schedule(static) nowait
  for (std::int64_t block = 0; block < layout.row_blocks(); ++block) {
    const std::int64_t base = layout.rowblock_ptr[block];
    const std::int64_t width = (layout.rowblock_ptr[block + 1] - base) / M;
    for (int i = 0; i < M; ++i) {
      const std::int64_t medium = block * M + i;
      std::int64_t begin = 0;
      std::int64_t length = 0;
      if (medium < layout.counts.medium_rows) {
        const std::int32_t row = layout.row_order[layout.counts.first_medium() + medium];
        begin = a.row_ptr[row];
        length = a.row_ptr[row + 1] - begin;
      }
      const auto slot = [&](std::int64_t k) {
        return base + (k / K) * M * K + std::int64_t{i} * K + k % K;
      };
      const std::int64_t stored = std::min(length, width);
      for (std::int64_t k = 0; k < stored; ++k) regular.copy(slot(k), begin + k);
      for (std::int64_t k = stored; k < width; ++k) regular.pad(slot(k));
      for (std::int64_t k = width; k < length; ++k)
        irregular.copy(layout.irreg_ptr[medium] + k - width, begin + k);
    }
  }
}

template <Fill what, class Value, int M, int K, class Source>
void fill_short(Layout<Value, M, K>& layout, const CsrView<Source>& a) {
  const Counts& counts = layout.counts;
  const Array<std::int32_t>& order = layout.row_order;
  const Writer<Value, Source, what> to{layout.short_val, layout.short_cid, a};
#pragma omp for schedule(static) nowait
  for (std::int64_t piece = 0; piece < counts.pieces_13; ++piece) {
    to.copy_row(kPiece * piece, order[counts.first_13() + 2 * piece], 1);
    to.copy_row(kPiece * piece + 1, order[counts.first_13() + 2 * piece + 1], 3);
  }
#pragma omp for schedule(static) nowait
  for (std::int64_t piece = 0; piece < counts.pieces_4(); ++piece)
    to.copy_row(kPiece * (counts.piece_4() + piece), order[counts.first_4() + piece], kPiece);
#pragma omp for schedule(static) nowait
  for (std::int64_t two = 0; two < counts.twos; ++two) {
    const bool alone = two + 1 == counts.twos && two % 2 == 0;
    to.copy_row(kPiece * counts.piece_22() + 2 * two, order[counts.first_22() + two],
                alone ? kPiece : 2);
  }
#pragma omp for schedule(static) nowait
  for (std::int64_t one = 0; one < counts.ones; ++one)
    to.copy_row(kPiece * counts.pieces() + one, order[counts.first_1() + one], 1);
}

template <Fill what, class Value, int M, int K, class Source>
void fill(Layout<Value, M, K>& layout, const CsrView<Source>& matrix) {
#pragma omp parallel
  {
    fill_long<what>(layout, matrix);
    fill_medium<what>(layout, matrix);
    fill_short<what>(layout, matrix);
  }
}

}  // namespace

template <class Value, int M, int K, class Source>
Layout<Value, M, K> build(const CsrView<Source>& matrix, std::vector<BuildStep>& steps,
                          std::int32_t max_len) {
  Stopwatch watch;
  Layout<Value, M, K> layout;
  layout.rows = matrix.rows;
  layout.cols = matrix.cols;
  layout.nnz = matrix.nnz();
  {
    const SortedRows sorted = sort_by_length(matrix.row_ptr, matrix.rows, max_len);
    layout.counts = count_classes(sorted);
    layout.row_order = order_rows(sorted, layout.counts);
  }
  steps.push_back({"sort rows by length", watch.lap()});
  measure(layout, matrix.row_ptr);
  allocate(layout);
  steps.push_back({"measure row blocks", watch.lap()});
  fill<Fill::everything>(layout, matrix);
  steps.push_back({"copy entries", watch.lap()});
  return layout;
}

template <class Value, int M, int K, class Source>
void update_values(Layout<Value, M, K>& layout, const CsrView<Source>& matrix) {
  fill<Fill::values>(layout, matrix);
}

template Layout<double> build(const CsrView<double>&, std::vector<BuildStep>&, std::int32_t);
template Layout<float> build(const CsrView<float>&, std::vector<BuildStep>&, std::int32_t);
template Layout<Half> build(const CsrView<Half>&, std::vector<BuildStep>&, std::int32_t);
template Layout<float> build<float, 8, 4, double>(const CsrView<double>&, std::vector<BuildStep>&,
                                                  std::int32_t);
template Layout<double, 2, 4> build(const CsrView<double>&, std::vector<BuildStep>&, std::int32_t);
template void update_values(Layout<double>&, const CsrView<double>&);
template void update_values(Layout<float>&, const CsrView<float>&);
template void update_values(Layout<double, 2, 4>&, const CsrView<double>&);

}  // namespace trireme::dasp
