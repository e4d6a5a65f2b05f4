// SPDX-License-Identifier: BSD-3-Clause
// Builds the layout of ragged rows on the host. The tests compare the CUDA builder with this
// builder.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "base/free_memory.hpp"
#include "kernels/sell/ragged.hpp"
#include "sparse/exact.hpp"

namespace trireme::sell {
namespace {

template <class Value>
class Builder {
 public:
  explicit Builder(const CsrView<Value>& a) : a_(a) {
    layout_.rows = a.rows;
    layout_.cols = a.cols;
    layout_.nnz = a.nnz();
    layout_.lane_rows = ragged_lane_rows(a.nnz());
  }

  RaggedLayout<Value> build() {
    sort_rows();
    for (std::int64_t first = 0; first < a_.rows; first += kRaggedWindow)
      cut_window(first, std::min(a_.rows, first + kRaggedWindow));
    find_codes();
    fill_columns();
    return std::move(layout_);
  }

 private:
  std::int64_t length(std::int64_t row) const { return a_.row_ptr[row + 1] - a_.row_ptr[row]; }
  std::int64_t sorted_length(std::int64_t place) const { return length(layout_.row_order[place]); }

  void sort_rows() {
    layout_.row_order.resize(a_.rows);
    std::iota(layout_.row_order.begin(), layout_.row_order.end(), 0);
    std::stable_sort(layout_.row_order.begin(), layout_.row_order.end(),
                     [&](std::int32_t l, std::int32_t r) {
                       return ragged_key(l, length(l)) < ragged_key(r, length(r));
                     });
  }

  void add_slice(std::int64_t first_row, int log2_lanes, bool part, std::int64_t rows,
                 std::int64_t steps) {
    layout_.slices.push_back(
        {.first_step = static_cast<std::int32_t>(steps_),
         .first_row = static_cast<std::int32_t>(first_row),
         .packed = RaggedSlice::pack(log2_lanes, part, static_cast<std::int32_t>(rows),
                                     static_cast<std::int32_t>(steps))});
    steps_ += steps;
  }

  void cut_window(std::int64_t first, std::int64_t end) {
    const std::int64_t longest = longest_whole_row(a_.rows, layout_.nnz);
    for (; first < end && sorted_length(first) > longest; ++first) cut_row(first);
    while (first < end) {
      const int log2 = log2_lanes(sorted_length(first));
      std::int64_t last = first;  // the rows with this number of lanes
      while (last < end && log2_lanes(sorted_length(last)) == log2) ++last;
      for (; first < last; first = std::min(last, first + (kLanes >> log2) * layout_.lane_rows))
        add_slice(first, log2, false,
                  std::min<std::int64_t>(last - first, (kLanes >> log2) * layout_.lane_rows),
                  (sorted_length(first) + (1 << log2) - 1) >> log2);
    }
  }

  void cut_row(std::int64_t place) {
    const std::int64_t entries = sorted_length(place), most = part_entries(layout_.lane_rows);
    const auto parts = static_cast<std::int32_t>((entries + most - 1) / most);
    const auto number = static_cast<std::int64_t>(layout_.cut_rows.size());
    layout_.cut_rows.push_back({.row = layout_.row_order[place],
                                .first_slice = static_cast<std::int32_t>(layout_.slices.size()),
                                .first_part = static_cast<std::int32_t>(layout_.parts()),
                                .parts = parts});
    const std::int64_t per_step = kLanes * layout_.lane_rows;
    for (std::int64_t part = 0; part < parts; ++part)
      add_slice(number, kMaxLog2Lanes, true, 0,
                (std::min(most, entries - part * most) + per_step - 1) / per_step);
  }

  bool all_runs(const RaggedSlice& slice) const {
    if (slice.part()) return false;
    for (std::int32_t i = 0; i < slice.rows(); ++i) {
      const std::int32_t row = layout_.row_order[slice.first_row + i];
      for (std::int32_t k = a_.row_ptr[row] + 1; k < a_.row_ptr[row + 1]; ++k)
        if (a_.col_idx[k] != a_.col_idx[k - 1] + 1) return false;
    }
    return true;
  }

  void find_codes() {
    layout_.base.assign(steps_, 0);
    std::int64_t units = 0, near = 0;
    const double scale =
        a_.rows == 0 ? 0 : static_cast<double>(a_.cols) / static_cast<double>(a_.rows);
    for (std::int64_t row = 0; row < a_.rows; ++row)
      for (std::int32_t k = a_.row_ptr[row]; k < a_.row_ptr[row + 1]; ++k)
        near += is_near(row, a_.col_idx[k], scale);
    layout_.local = 2 * near >= layout_.nnz;
    for (std::size_t i = 0; i < layout_.slices.size(); ++i) {
      RaggedSlice& slice = layout_.slices[i];
      Array<std::int32_t> low(slice.steps()), high(slice.steps());
      std::fill(low.begin(), low.end(), 0x7fffffff);
      std::fill(high.begin(), high.end(), -1);
      for_each_entry(a_, layout_, i, [&](std::int64_t entry, std::int64_t step, int) {
        if (entry < 0) return;
        const std::int64_t s = step - slice.first_step;
        low[s] = std::min(low[s], a_.col_idx[entry]);
        high[s] = std::max(high[s], a_.col_idx[entry]);
      });
      std::int32_t spread = 0;
      for (std::int32_t s = 0; s < slice.steps(); ++s) {
        layout_.base[slice.first_step + s] = high[s] < 0 ? 0 : low[s];
        spread = std::max(spread, high[s] < 0 ? 0 : high[s] - low[s]);
      }
      const ColumnCode code = shortest_code(slice, spread, all_runs(slice), layout_.lane_rows);
      slice.set_code(code);
      slice.columns = static_cast<std::uint32_t>(units);
      units += column_units(slice, code, layout_.lane_rows);
    }
    layout_.columns.assign(units * kColumnUnit / sizeof(std::uint32_t), ~0u);
  }

  void fill_columns() {
    for (std::size_t i = 0; i < layout_.slices.size(); ++i) {
      const RaggedSlice& slice = layout_.slices[i];
      auto* bytes =
          reinterpret_cast<unsigned char*>(layout_.columns.data()) + slice.columns * kColumnUnit;
      if (slice.code() == ColumnCode::runs) {
        for (std::int32_t r = 0; r < slice.rows(); ++r) {
          const std::int32_t row = layout_.row_order[slice.first_row + r];
          const Run run{length(row) > 0 ? a_.col_idx[a_.row_ptr[row]] : 0,
                        static_cast<std::int32_t>(length(row))};
          std::memcpy(bytes + r * sizeof(Run), &run, sizeof(Run));
        }
        continue;
      }
      const std::int64_t size = kLanes * layout_.lane_rows;
      for_each_entry(a_, layout_, i, [&](std::int64_t entry, std::int64_t step, int place) {
        if (entry < 0) return;
        const std::int64_t at = (step - slice.first_step) * size + place;
        const std::int32_t column = a_.col_idx[entry];
        if (slice.code() == ColumnCode::offsets) {
          const auto offset = static_cast<std::uint16_t>(column - layout_.base[step]);
          std::memcpy(bytes + at * sizeof offset, &offset, sizeof offset);
        } else {
          std::memcpy(bytes + at * sizeof column, &column, sizeof column);
        }
      });
    }
  }

  CsrView<Value> a_;
  RaggedLayout<Value> layout_;
  std::int64_t steps_ = 0;
};

}  // namespace

template <class Value>
RaggedLayout<Value> build_ragged(const CsrView<Value>& a) {
  RaggedLayout<Value> layout = Builder<Value>(a).build();
  layout.in_fp32 = std::is_same_v<Value, double> && exact_in_float<Value>(a.values);
  fill_values(a, layout);
  return layout;
}

template <class Value>
void fill_values(const CsrView<Value>& a, RaggedLayout<Value>& layout) {
  if (layout.in_fp32 && !exact_in_float<Value>(a.values)) layout.in_fp32 = false;
  const std::int64_t size = kLanes * layout.lane_rows;
  const auto fill = [&](auto& stored) {
    using Stored = std::decay_t<decltype(stored[0])>;
    stored.resize(layout.steps() * size);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(layout.slices.size()); ++i)
      for_each_entry(a, layout, i, [&](std::int64_t entry, std::int64_t step, int place) {
        stored[step * size + place] = entry < 0 ? Stored{} : static_cast<Stored>(a.values[entry]);
      });
  };
  if (layout.in_fp32) {
    fill(layout.fp32_values);
  } else {
    let_go(layout.fp32_values);
    fill(layout.values);
  }
}

template RaggedLayout<double> build_ragged(const CsrView<double>&);
template RaggedLayout<float> build_ragged(const CsrView<float>&);
template void fill_values(const CsrView<double>&, RaggedLayout<double>&);
template void fill_values(const CsrView<float>&, RaggedLayout<float>&);

}  // namespace trireme::sell
