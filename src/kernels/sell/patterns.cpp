// SPDX-License-Identifier: BSD-3-Clause
// The patterns are told apart by their hashes, as on the device. Every row is then compared with
// its pattern, so that two patterns of the same hash cannot be mistaken for each other: such a
// matrix has no patterns.
#include "kernels/sell/patterns.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace trireme::sell {
namespace {

template <class Value>
auto bits_of(Value value) {
  return std::bit_cast<std::conditional_t<sizeof(Value) == 8, std::uint64_t, std::uint32_t>>(value);
}

template <class Value>
bool same_values(const CsrView<Value>& a, std::int64_t row, std::int64_t other) {
  for (std::int32_t j = 0; j < a.row_ptr[row + 1] - a.row_ptr[row]; ++j)
    if (bits_of(a.values[a.row_ptr[row] + j]) != bits_of(a.values[a.row_ptr[other] + j]))
      return false;
  return true;
}

template <class Value>
class Patterns {
 public:
  Patterns(const CsrView<Value>& a, std::int64_t longest, bool with_values)
      : a_(a), longest_(longest), with_values_(with_values) {
    std::int64_t longest_here = 0;
    for (std::int64_t row = 0; row < a.rows; ++row)
      if (has_pattern(row)) longest_here = std::max<std::int64_t>(longest_here, length_of(row));
    width_ = pattern_width(static_cast<std::int32_t>(longest_here));
    differences_.assign(width_, kNoDifference);
    rows_.assign(1, -1);
  }

  // Returns false where there are too many patterns, or two of the same hash.
  bool find() {
    of_row_.assign(a_.rows, PatternId{});
    for (std::int64_t row = 0; row < a_.rows; ++row) {
      if (!has_pattern(row)) continue;
      const auto next = static_cast<std::int32_t>(number_of_hash_.size()) + 1;
      const auto [known, is_new] = number_of_hash_.try_emplace(hash_of(row), next);
      if (is_new && !add(row, next)) return false;
      if (!matches(row, known->second)) return false;
      of_row_[row] = static_cast<PatternId>(known->second);
    }
    return true;
  }

  std::int32_t width() const { return width_; }
  Array<std::int32_t> take_differences() { return std::move(differences_); }
  Array<std::int32_t> take_rows() { return std::move(rows_); }
  PatternId of_row(std::int64_t row) const { return of_row_[row]; }

 private:
  std::int32_t length_of(std::int64_t row) const { return a_.row_ptr[row + 1] - a_.row_ptr[row]; }
  bool has_pattern(std::int64_t row) const {
    return length_of(row) > 0 && length_of(row) <= longest_;
  }
  std::int32_t difference(std::int64_t row, std::int32_t j) const {
    return a_.col_idx[a_.row_ptr[row] + j] - static_cast<std::int32_t>(row);
  }
  Value value(std::int64_t row, std::int32_t j) const { return a_.values[a_.row_ptr[row] + j]; }
  std::uint64_t hash_of(std::int64_t row) const {
    std::uint64_t sum = 0;
    for (std::int32_t j = 0; j < length_of(row); ++j)
      sum += with_values_ ? repeated_term(j, difference(row, j), bits_of(value(row, j)))
                          : pattern_term(j, difference(row, j));
    return pattern_hash(sum, length_of(row));
  }
  bool add(std::int64_t row, std::int32_t number) {
    if (!(with_values_ ? few_repeated_rows : few_patterns)(number + 1, width_, a_.nnz()))
      return false;
    rows_.push_back(static_cast<std::int32_t>(row));
    differences_.resize(differences_.size() + width_, kNoDifference);
    for (std::int32_t j = 0; j < length_of(row); ++j)
      differences_[std::int64_t{number} * width_ + j] = difference(row, j);
    return true;
  }
  bool matches(std::int64_t row, std::int32_t number) const {
    const std::int32_t* pattern = differences_.data() + std::int64_t{number} * width_;
    for (std::int32_t j = 0; j < width_; ++j)
      if (pattern[j] != (j < length_of(row) ? difference(row, j) : kNoDifference)) return false;
    return !with_values_ || same_values(a_, row, rows_[number]);
  }

  const CsrView<Value>& a_;
  std::int64_t longest_;
  bool with_values_;
  std::int32_t width_ = 0;
  std::unordered_map<std::uint64_t, std::int32_t> number_of_hash_;
  Array<std::int32_t> differences_;
  Array<std::int32_t> rows_;
  Array<PatternId> of_row_;
};

// Returns false where there are too many patterns.
template <class Value>
bool find(const CsrView<Value>& a, std::int64_t longest, bool with_values, Layout<Value>& layout) {
  if (layout.steps() == 0) return false;
  Patterns<Value> patterns(a, longest, with_values);
  if (!patterns.find()) return false;
  layout.form.patterned = true;
  layout.pattern_width = patterns.width();
  layout.differences = patterns.take_differences();
  if (with_values) layout.pattern_rows = patterns.take_rows();
  const int size = layout.form.slice_size();
  layout.patterns.assign(layout.slices() * size, PatternId{});
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < layout.slice_rows(); ++row)
    layout.patterns[row / size * size +
                    position(static_cast<int>(row % size), layout.form.lane_rows)] =
        patterns.of_row(layout.caller_row(row));
  return true;
}

}  // namespace

template <class Value>
void find_patterns(const CsrView<Value>& a, std::int64_t longest, Layout<Value>& layout) {
  find(a, longest, false, layout);
}

template <class Value>
void find_repeated_rows(const CsrView<Value>& a, std::int64_t longest, Layout<Value>& layout) {
  layout.form.repeated = find(a, longest, true, layout);
}

template <class Value>
bool rows_repeat(const CsrView<Value>& a, const Layout<Value>& layout) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t caller = layout.caller_row(row);
    const std::int32_t first = layout.pattern_rows[static_cast<std::int64_t>(layout.patterns[row])];
    if (first >= 0 && !same_values(a, caller, first)) return false;
  }
  return true;
}

template void find_patterns(const CsrView<double>&, std::int64_t, Layout<double>&);
template void find_patterns(const CsrView<float>&, std::int64_t, Layout<float>&);
template void find_repeated_rows(const CsrView<double>&, std::int64_t, Layout<double>&);
template void find_repeated_rows(const CsrView<float>&, std::int64_t, Layout<float>&);
template bool rows_repeat(const CsrView<double>&, const Layout<double>&);
template bool rows_repeat(const CsrView<float>&, const Layout<float>&);

}  // namespace trireme::sell
