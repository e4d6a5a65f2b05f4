// SPDX-License-Identifier: BSD-3-Clause
// Builds the ALBUS layout: cuts the nonzeros into equal parts, then makes the windows of all parts
// at the same time.
#include "kernels/albus/build.hpp"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <optional>
#include <string>

#include "base/stopwatch.hpp"
#include "kernels/albus/diagonals.hpp"
#include "kernels/albus/slices.hpp"
#include "kernels/albus/tiles.hpp"

namespace trireme::albus {
namespace {

// All limits were measured on Zen 4 with AVX-512.

// Maximum numbers of nonzeros per window. Prefetching runs one window ahead, so that a prefetched
// window must be small compared with an L1 cache. A window that stays in the cache of its core may
// be larger, which makes its runs longer. A window of groups with more nonzeros would rarely span
// less than 2^16 columns.
constexpr std::int64_t kPrefetchedWindowNonzeros = 512;
constexpr std::int64_t kCachedWindowNonzeros = 1024;
constexpr std::int64_t kGroupedWindowNonzeros = 4096;
constexpr std::int64_t kWindowRows = 1024;

constexpr std::int64_t kShortMeanLength = 10;  // The end of shorter rows cannot be predicted.
constexpr std::int64_t kLongMeanLength = 48;   // In longer rows a mispredicted end hardly counts.

// The size of a cache in bytes as the system reports it, at most `usual`. Where the system reports
// nothing, the result is `usual`.
std::int64_t cache_bytes([[maybe_unused]] int level, std::int64_t usual) {
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long bytes = sysconf(level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
  if (bytes > 0) return std::min<std::int64_t>(bytes, usual);
#endif
  return usual;
}

// Whether rows of more than 15 nonzeros gain from software prefetching: 1.3 to 1.7 times on an
// Intel Xeon of 2023, while Zen 4 loses 5 to 15 %.
bool gains_from_fetched_rows() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

// Whether an instruction gathers a vector of x faster than one load per lane: 1.2 times on an Intel
// Xeon of 2023. It is slower on Zen 4, and where microcode guards it against gather data sampling.
bool gains_from_gathers() {
  std::ifstream guard("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling");
  std::string line;
  return gains_from_fetched_rows() && std::getline(guard, line) && line == "Not affected";
}

class PartBuilder {
 public:
  PartBuilder(std::span<const std::int32_t> row_ptr, std::span<const std::int32_t> col_idx,
              std::int64_t cols, bool beyond_core_cache, bool beyond_last_cache, Slices slices,
              Part& part)
      : window_nonzeros_(beyond_core_cache ? kPrefetchedWindowNonzeros : kCachedWindowNonzeros),
        beyond_last_cache_(beyond_last_cache),
        row_ptr_(row_ptr),
        col_idx_(col_idx),
        part_(part),
        diagonals_(row_ptr, col_idx, part.whole_rows_end()) {
    if (slices == Slices::in_last_cache && !beyond_last_cache && part.whole_rows_end() > part.start)
      slices_.emplace(row_ptr, col_idx, cols, beyond_core_cache, part);
  }

  void build() {
    const std::int64_t end = part_.whole_rows_end();
    if (end > part_.start &&
        pay_as_diagonals(row_ptr_, col_idx_, part_.start, end, slices_.has_value()))
      part_.placed = row_ptr_[end] - row_ptr_[part_.start];
    if (part_.placed > 0) slices_.reset();
    if (slices_) return build_with_slices(end);
    for (std::int64_t row = part_.start; row < end;) row = add_window(row, end);
  }

 private:
  std::int32_t length(std::int64_t row) const { return row_ptr_[row + 1] - row_ptr_[row]; }

  void build_with_slices(std::int64_t end) {
    const auto has_groups = [&](std::int64_t row) {
      const std::int64_t last = row + kSliceRows;
      for (; row + 1 < last; ++row)
        if (grouped(row, last)) return true;
      return false;
    };
    for (std::int64_t row = part_.start; row < end;) {
      const SliceBuilder::Rows diagonals = slices_->next_diagonals(row, end, has_groups);
      while (row < diagonals.begin) row = add_rows(row, diagonals.begin);
      if (diagonals.begin < diagonals.end) slices_->add_diagonals(diagonals);
      row = diagonals.end;
    }
  }

  // Adds a window of sorted slices or another one; returns the row after its last.
  std::int64_t add_rows(std::int64_t begin, std::int64_t end) {
    if (begin >= next_sorted_) {
      std::int64_t last = begin;
      while (last < std::min(end, begin + SliceBuilder::kSortedRows) &&
             length(last) < SliceBuilder::kTooLong && !grouped(last, end))
        ++last;
      if (last > begin && slices_->add_sorted(begin, last)) return last;
      next_sorted_ = last;
    }
    return add_window(begin, end);
  }

  // Makes a window of one or more rows from `begin` on; returns the row after the last.
  std::int64_t add_window(std::int64_t begin, std::int64_t part_end) {
    Window window{.first_row = static_cast<std::int32_t>(begin),
                  .first_nonzero = row_ptr_[begin],
                  .first_run = static_cast<std::int32_t>(part_.runs.size()),
                  .first_slot = static_cast<std::int32_t>(part_.slots.size()),
                  .first_column = static_cast<std::int32_t>(part_.narrow_col_idx.size())};
    if (diagonals_begin(begin)) return add_diagonals(window);
    std::int64_t end = add_groups(begin, part_end);
    if (end > begin) {
      window.order = RowOrder::groups;
    } else {
      end = end_of_window(begin, part_end);
      window.order = choose_order(begin, end);
      if (window.order == RowOrder::sorted)
        add_sorted_runs(begin, end);
      else if (window.order == RowOrder::runs)
        for (std::int64_t row = begin; row < end; ++row)
          add_row_to_runs(length(row), window.first_run);
    }
    window.rows = static_cast<std::uint16_t>(end - begin);
    window.runs = static_cast<std::int32_t>(part_.runs.size()) - window.first_run;
    if (slices_) slices_->keep_in_order(window, end);
    narrow_columns(window, row_ptr_[end]);
    part_.windows.push_back(window);
    return end;
  }

  bool diagonals_begin(std::int64_t row) {
    return part_.placed > 0 && !slices_ && diagonals_.end_of(row) > row;
  }

  // Makes `window`, which begins with diagonals, a window of them.
  std::int64_t add_diagonals(Window window) {
    static_assert(kWindowRows % kSliceRows == 0,
                  "only the last slice of a run may have fewer rows");
    const std::int64_t begin = window.first_row;
    const std::int64_t end = std::min(diagonals_.end_of(begin), begin + kWindowRows);
    window.order = RowOrder::diagonals;
    window.rows = static_cast<std::uint16_t>(end - begin);
    window.runs = 1;
    window.first_column =
        add_offsets(col_idx_.subspan(row_ptr_[begin], length(begin)), window.first_row, part_);
    part_.runs.push_back({length(begin), window.rows});
    part_.windows.push_back(window);
    return end;
  }

  std::int64_t end_of_window(std::int64_t begin, std::int64_t part_end) {
    std::int64_t end = begin + 1;
    while (end < part_end && end - begin < kWindowRows &&
           row_ptr_[end + 1] - row_ptr_[begin] <= window_nonzeros_ && !grouped(end, part_end) &&
           !diagonals_begin(end))
      ++end;
    return end;
  }

  // True where `row` and the next row have the same columns, and enough of them to form a group.
  bool grouped(std::int64_t row, std::int64_t part_end) const {
    if (row + 1 >= part_end || length(row) < kShortMeanLength || length(row) != length(row + 1))
      return false;
    const auto columns = col_idx_.begin() + row_ptr_[row];
    return std::equal(columns, columns + length(row), columns + length(row));
  }

  // Adds the groups of two or more rows from `begin` on, as runs; returns the row after the last.
  std::int64_t add_groups(std::int64_t begin, std::int64_t part_end) {
    std::int64_t row = begin;
    while (row - begin < kWindowRows && row_ptr_[row] - row_ptr_[begin] < kGroupedWindowNonzeros &&
           grouped(row, part_end)) {
      std::int64_t last = row + 1;
      while (last - begin < kWindowRows && grouped(last, part_end)) ++last;
      part_.runs.push_back({length(row), static_cast<std::int32_t>(last + 1 - row)});
      row = last + 1;
    }
    return row;
  }

  void narrow_columns(Window& window, std::int32_t end) {
    if (window.first_nonzero == end) return;
    const auto first = col_idx_.begin() + window.first_nonzero;
    const auto [smallest, largest] = std::minmax_element(first, col_idx_.begin() + end);
    if (*largest - *smallest >= kNarrowSpan) return;
    window.narrow = true;
    window.base = *smallest;
    if (part_.narrow_col_idx.empty()) part_.narrow_col_idx.reserve(part_.end1 - part_.start1);
    if (window.order != RowOrder::groups) return append_narrow(window, window.first_nonzero, end);
    std::int32_t nonzero = window.first_nonzero;
    for (std::int32_t r = window.first_run; r < window.first_run + window.runs; ++r) {
      const Run run = part_.runs[r];
      append_narrow(window, nonzero, nonzero + run.length);
      nonzero += run.length * run.count;
    }
  }

  void append_narrow(const Window& window, std::int32_t begin, std::int32_t end) {
    const std::size_t old_size = part_.narrow_col_idx.size();
    part_.narrow_col_idx.resize(old_size + (end - begin));
    std::uint16_t* narrow = part_.narrow_col_idx.data() + old_size;
    for (std::int32_t k = begin; k < end; ++k)
      narrow[k - begin] = static_cast<std::uint16_t>(col_idx_[k] - window.base);
  }

  RowOrder choose_order(std::int64_t begin, std::int64_t end) {
    const std::int64_t rows = end - begin;
    const std::int64_t nonzeros = row_ptr_[end] - row_ptr_[begin];
    if (nonzeros > window_nonzeros_) return RowOrder::runs;  // one long row
    const auto [changes, distinct] = count_lengths(begin, end);
    if (nonzeros < kShortMeanLength * rows) {
      // Storage order is preferred where it costs few additional runs: the hardware prefetcher
      // follows it.
      if (changes <= std::max(2 * distinct, rows / 16)) return RowOrder::runs;
      return 2 * distinct <= rows ? RowOrder::sorted : RowOrder::rows;
    }
    if (nonzeros >= kLongMeanLength * rows) return RowOrder::runs;
    return 3 * changes <= rows && !beyond_last_cache_ ? RowOrder::runs : RowOrder::rows;
  }

  struct LengthCounts {
    std::int64_t changes;   // runs in storage order
    std::int64_t distinct;  // runs in sorted order
  };
  LengthCounts count_lengths(std::int64_t begin, std::int64_t end) {
    LengthCounts counts{1, 0};
    rows_of_length_.assign(window_nonzeros_ + 1, 0);
    for (std::int64_t row = begin; row < end; ++row) {
      if (rows_of_length_[length(row)]++ == 0) ++counts.distinct;
      if (row > begin && length(row) != length(row - 1)) ++counts.changes;
    }
    return counts;
  }

  // Stable counting sort by length. count_lengths() has filled rows_of_length_ before.
  void add_sorted_runs(std::int64_t begin, std::int64_t end) {
    const std::size_t first_slot = part_.slots.size();
    part_.slots.resize(first_slot + (end - begin));
    std::int32_t position = 0;
    for (std::int32_t n = 0; n <= window_nonzeros_; ++n) {
      const std::int32_t count = rows_of_length_[n];
      if (count > 0) part_.runs.push_back({n, count});
      rows_of_length_[n] = position;
      position += count;
    }
    for (std::int64_t row = begin; row < end; ++row)
      part_.slots[first_slot + rows_of_length_[length(row)]++] = {
          static_cast<std::uint16_t>(row_ptr_[row] - row_ptr_[begin]),
          static_cast<std::uint16_t>(row - begin)};
  }

  void add_row_to_runs(std::int32_t row_length, std::int32_t first_run) {
    if (static_cast<std::int32_t>(part_.runs.size()) == first_run ||
        part_.runs.back().length != row_length)
      part_.runs.push_back({row_length, 0});
    ++part_.runs.back().count;
  }

  std::int64_t window_nonzeros_;
  bool beyond_last_cache_;
  std::span<const std::int32_t> row_ptr_;
  std::span<const std::int32_t> col_idx_;
  Part& part_;
  DiagonalRuns diagonals_;
  std::int64_t next_sorted_ = 0;        // The rows before it save nothing in sorted slices.
  std::optional<SliceBuilder> slices_;  // where the part may have slices
  std::vector<std::int32_t> rows_of_length_;
};

}  // namespace

std::vector<Part> partition(std::span<const std::int32_t> row_ptr, std::int64_t parts) {
  const auto rows = static_cast<std::int64_t>(row_ptr.size()) - 1;
  const std::int64_t nnz = row_ptr[rows];
  // The first row that begins at or after the first nonzero of part t.
  const auto first_row = [&](std::int64_t t) {
    if (t == 0) return std::int64_t{0};
    if (t == parts) return rows;
    const auto cut = static_cast<std::int32_t>(t * nnz / parts);
    return static_cast<std::int64_t>(std::lower_bound(row_ptr.begin(), row_ptr.end() - 1, cut) -
                                     row_ptr.begin());
  };
  std::vector<Part> result(parts);
  for (std::int64_t t = 0; t < parts; ++t) {
    Part& part = result[t];
    part.start1 = static_cast<std::int32_t>(t * nnz / parts);
    part.end1 = static_cast<std::int32_t>((t + 1) * nnz / parts);
    part.start = static_cast<std::int32_t>(first_row(t));
    part.end = static_cast<std::int32_t>(first_row(t + 1));
    part.head_end = std::min(row_ptr[part.start], part.end1);
    part.tail_begin = part.end1;
    if (part.end > part.start && row_ptr[part.end] > part.end1)
      part.tail_begin = row_ptr[part.end - 1];
  }
  return result;
}

template <class Value>
Pattern build(const CsrView<Value>& matrix, std::int64_t parts, std::vector<BuildStep>& steps,
              Slices slices) {
  Stopwatch watch;
  static constexpr std::int32_t kNoRows[] = {0};
  const std::span<const std::int32_t> row_ptr =
      matrix.rows == 0 ? std::span<const std::int32_t>(kNoRows) : matrix.row_ptr;
  const auto csr_bytes =
      matrix.nnz() * static_cast<std::int64_t>(sizeof(Value) + sizeof(std::int32_t));
  const std::int64_t core_cache = cache_bytes(2, std::int64_t{2} << 20);
  const TileShape shape = tile_shape(core_cache, sizeof(Value));
  Pattern pattern;
  pattern.rows = matrix.rows;
  pattern.cols = matrix.cols;
  pattern.parts = partition(row_ptr, parts);
  pattern.beyond_core_cache = csr_bytes > parts * std::min(core_cache, std::int64_t{1} << 20);
  pattern.beyond_last_cache = csr_bytes > cache_bytes(3, std::int64_t{32} << 20);
  pattern.fetch_rows = pattern.beyond_core_cache && gains_from_fetched_rows();
  pattern.gathers = gains_from_gathers();
  pattern.row_ptr = row_ptr;
  pattern.col_idx = matrix.col_idx;
  pattern.tile_columns = std::int64_t{1} << shape.column_bits;
  steps.push_back({"cut", watch.lap()});
  std::exception_ptr error;  // any thread can run out of memory
#pragma omp parallel for schedule(static) if (parts > 1)
  for (std::int64_t t = 0; t < parts; ++t) try {
      Part& part = pattern.parts[t];
      const PartOfCsr source{row_ptr, matrix.col_idx, matrix.cols, part.start,
                             part.whole_rows_end()};
      if (pays_in_tiles(source, shape, core_cache, sizeof(Value)))
        build_tiles(source, shape, part);
      else
        PartBuilder(row_ptr, matrix.col_idx, matrix.cols, pattern.beyond_core_cache,
                    pattern.beyond_last_cache, slices, part)
            .build();
    } catch (...) {
#pragma omp critical(trireme_albus_build)
      error = std::current_exception();
    }
  if (error) std::rethrow_exception(error);
  steps.push_back({"windows and tiles", watch.lap()});
  return pattern;
}

template Pattern build(const CsrView<double>&, std::int64_t, std::vector<BuildStep>&, Slices);
template Pattern build(const CsrView<float>&, std::int64_t, std::vector<BuildStep>&, Slices);
template Pattern build(const CsrView<std::int32_t>&, std::int64_t, std::vector<BuildStep>&, Slices);

}  // namespace trireme::albus
