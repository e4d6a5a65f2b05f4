// SPDX-License-Identifier: BSD-3-Clause
// Builds windows of slices. The estimated time of a product decides which rows they take.
#include "kernels/albus/slices.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace trireme::albus {
namespace {

// Cycles of one core of an Intel Xeon (Sapphire Rapids). A step of masked diagonals reads more
// bytes per nonzero than other rows, which counts where they do not come from the cache of the
// core.
constexpr std::int64_t kDiagonalStep = 4, kFetchedDiagonalStep = 5, kDiagonalSlice = 10;
constexpr std::int64_t kSortedStep = 6, kSortedSlice = 25;
constexpr std::int64_t kNonzero = 1, kRow = 4;  // outside slices
constexpr std::int64_t kTwoGroupedNonzeros = 1, kGroupedRow = 7;

constexpr std::int64_t kWindowSlices = 128;
constexpr std::int64_t kMostNonzeros = 60000;  // of a slice, whose steps have 16 bits

// Merges the rows of a slice by the distance of their columns from the row.
class Merge {
 public:
  static constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();

  Merge(std::span<const std::int32_t> row_ptr, std::span<const std::int32_t> col_idx,
        std::int64_t row)
      : columns_(col_idx.data()), row_(static_cast<std::int32_t>(row)) {
    for (std::int32_t lane = 0; lane < kSliceRows; ++lane) {
      next_[lane] = row_ptr[row + lane];
      end_[lane] = row_ptr[row + lane + 1];
      load(lane);
    }
  }

  // The smallest distance of the rows' next nonzeros; kNone after the last one.
  std::int32_t smallest() const { return *std::min_element(distances_.begin(), distances_.end()); }

  // Passes the next nonzero of each row that has it at this distance. Returns the mask of these
  // rows.
  std::uint8_t pass(std::int32_t distance) {
    std::uint8_t mask = 0;
    for (std::int32_t lane = 0; lane < kSliceRows; ++lane) {
      if (distances_[lane] != distance) continue;
      mask |= static_cast<std::uint8_t>(1 << lane);
      ++next_[lane];
      load(lane);
    }
    return mask;
  }

 private:
  void load(std::int32_t lane) {
    distances_[lane] = next_[lane] < end_[lane] ? columns_[next_[lane]] - row_ - lane : kNone;
  }

  const std::int32_t* columns_;
  std::int32_t row_;
  std::array<std::int32_t, kSliceRows> distances_, next_, end_;
};

}  // namespace

SliceBuilder::SliceBuilder(std::span<const std::int32_t> row_ptr,
                           std::span<const std::int32_t> col_idx, std::int64_t cols,
                           bool beyond_core_cache, Part& part)
    : row_ptr_(row_ptr),
      col_idx_(col_idx),
      cols_(cols),
      beyond_core_cache_(beyond_core_cache),
      part_(part) {}

// Finds the diagonals of the slice from `row` on. Returns false where the rows are faster as groups
// or in sorted slices.
bool SliceBuilder::find_diagonals(std::int64_t row, bool grouped) {
  const std::int64_t nonzeros = row_ptr_[row + kSliceRows] - row_ptr_[row];
  if (nonzeros > kMostNonzeros) return false;
  const std::int64_t cycles = grouped
                                  ? kTwoGroupedNonzeros * nonzeros / 2 + kGroupedRow * kSliceRows
                                  : kSortedStep * nonzeros / kSliceRows + kSortedSlice;
  const std::int64_t step = beyond_core_cache_ ? kFetchedDiagonalStep : kDiagonalStep;
  const std::size_t first = found_.offsets.size();
  const std::size_t most = first + (cycles - kDiagonalSlice) / step;
  Merge merge(row_ptr_, col_idx_, row);
  for (std::int32_t distance = merge.smallest(); distance != Merge::kNone;
       distance = merge.smallest()) {
    const bool in_x = row + distance >= 0 && row + distance + kSliceRows <= cols_;
    if (found_.offsets.size() == most || !in_x) {
      found_.offsets.resize(first);
      found_.masks.resize(first);
      return false;
    }
    found_.offsets.push_back(distance);
    found_.masks.push_back(merge.pass(distance));
  }
  found_.steps.push_back({0, static_cast<std::uint16_t>(found_.offsets.size() - first)});
  return true;
}

Window SliceBuilder::window_at(std::int64_t row) const {
  return {.first_row = static_cast<std::int32_t>(row),
          .first_nonzero = row_ptr_[row],
          .first_run = static_cast<std::int32_t>(part_.steps.size()),
          .first_slot = static_cast<std::int32_t>(part_.slice_rows.size()),
          .first_mask = static_cast<std::int32_t>(part_.masks.size()),
          .first_value = stored_};
}

void SliceBuilder::add_diagonals(Rows rows) {
  const auto slices = std::ssize(found_.steps);
  for (std::int64_t slice = 0, step = 0; slice < slices;) {
    Window window = window_at(rows.begin + slice * kSliceRows);
    window.order = RowOrder::masked_diagonals;
    window.first_column = static_cast<std::int32_t>(part_.offsets.size());
    const std::int64_t first_slice = slice, first_step = step;
    for (; slice < std::min(slices, first_slice + kWindowSlices); ++slice)
      step += found_.steps[slice].all;
    const auto append = [](auto& to, const auto& from, std::int64_t begin, std::int64_t end) {
      to.insert(to.end(), from.begin() + begin, from.begin() + end);
    };
    append(part_.steps, found_.steps, first_slice, slice);
    append(part_.offsets, found_.offsets, first_step, step);
    append(part_.masks, found_.masks, first_step, step);
    window.runs = static_cast<std::int32_t>(slice - first_slice);
    window.rows = static_cast<std::uint16_t>(kSliceRows * window.runs);
    part_.windows.push_back(window);
    stored_ += kSliceRows * (step - first_step);
  }
  part_.placed = stored_;
}

// Sorts the rows by falling length. Returns the number of steps that their slices have.
std::int64_t SliceBuilder::sort_rows(std::int64_t begin, std::int64_t end) {
  rows_of_length_.assign(kTooLong, 0);
  for (std::int64_t row = begin; row < end; ++row) ++rows_of_length_[length(row)];
  std::int32_t position = 0;
  for (std::int64_t n = kTooLong; n-- > 0;) position += std::exchange(rows_of_length_[n], position);
  sorted_.resize(end - begin);
  for (std::int64_t row = begin; row < end; ++row)
    sorted_[rows_of_length_[length(row)]++] = static_cast<std::int32_t>(row);
  std::int64_t steps = 0;
  for (std::size_t i = 0; i < sorted_.size(); i += kSliceRows) steps += length(sorted_[i]);
  return steps;
}

bool SliceBuilder::add_sorted(std::int64_t begin, std::int64_t end) {
  const std::int64_t nonzeros = row_ptr_[end] - row_ptr_[begin];
  if (nonzeros == 0) return false;
  const std::int64_t steps = sort_rows(begin, end);
  const std::int64_t slices = (end - begin + kSliceRows - 1) / kSliceRows;
  if (kSortedStep * steps + kSortedSlice * slices >= kNonzero * nonzeros + kRow * (end - begin))
    return false;
  const auto [smallest, largest] =
      std::minmax_element(col_idx_.begin() + row_ptr_[begin], col_idx_.begin() + row_ptr_[end]);
  if (*largest - *smallest >= kNarrowSpan) return false;
  Window window = window_at(begin);
  window.order = RowOrder::sorted_slices;
  window.base = *smallest;
  window.first_column = static_cast<std::int32_t>(part_.narrow_col_idx.size());
  window.runs = static_cast<std::int32_t>(slices);
  window.rows = static_cast<std::uint16_t>(end - begin);
  for (std::size_t i = 0; i < sorted_.size(); i += kSliceRows)
    add_sorted_slice(
        std::span(sorted_).subspan(i, std::min<std::size_t>(kSliceRows, sorted_.size() - i)),
        window);
  part_.windows.push_back(window);
  part_.placed = stored_;
  return true;
}

void SliceBuilder::add_sorted_slice(std::span<const std::int32_t> rows, const Window& window) {
  const std::int32_t steps = length(rows[0]);
  const std::size_t first_column = part_.narrow_col_idx.size();
  const std::int32_t full = rows.size() == kSliceRows ? length(rows.back()) : 0;
  part_.steps.push_back({static_cast<std::uint16_t>(full), static_cast<std::uint16_t>(steps)});
  part_.narrow_col_idx.resize(first_column + std::int64_t{kSliceRows} * steps);
  std::uint16_t* const columns = part_.narrow_col_idx.data() + first_column;
  for (std::int64_t lane = 0; lane < kSliceRows; ++lane) {
    std::int32_t step = 0;
    if (lane < std::ssize(rows)) {
      part_.slice_rows.push_back(static_cast<std::uint16_t>(rows[lane] - window.first_row));
      for (std::int32_t k = row_ptr_[rows[lane]]; k < row_ptr_[rows[lane] + 1]; ++k, ++step) {
        columns[std::int64_t{kSliceRows} * step + lane] =
            static_cast<std::uint16_t>(col_idx_[k] - window.base);
      }
    }
    for (; step < steps; ++step) columns[std::int64_t{kSliceRows} * step + lane] = 0;
  }
  std::size_t lanes = rows.size();
  for (std::int32_t step = full; step < steps; ++step) {
    while (length(rows[lanes - 1]) <= step) --lanes;
    part_.masks.push_back(static_cast<std::uint8_t>((1 << lanes) - 1));
  }
  stored_ += std::int64_t{kSliceRows} * steps;
}

void SliceBuilder::keep_in_order(Window& window, std::int64_t end) {
  window.first_value = stored_;
  stored_ += row_ptr_[end] - window.first_nonzero;
  stored_ = (stored_ + kSliceRows - 1) / kSliceRows * kSliceRows;
  if (part_.placed > 0) part_.placed = stored_;
}

}  // namespace trireme::albus
