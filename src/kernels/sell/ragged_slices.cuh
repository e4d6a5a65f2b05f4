// SPDX-License-Identifier: BSD-3-Clause
// The slices of ragged rows (ragged.hpp) as kernels read them.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/sell/ragged.hpp"
#include "kernels/sell/slices.cuh"

namespace trireme::sell {

// The arrays of a RaggedDeviceLayout.
template <class Stored>
struct RaggedSlices {
  std::int32_t count = 0;
  const RaggedSlice* slices = nullptr;
  const CutRow* cut_rows = nullptr;
  const std::int32_t* row_order = nullptr;
  const std::int32_t* base = nullptr;
  const char* columns = nullptr;
  const Stored* values = nullptr;

  __device__ __forceinline__ RaggedSlice slice(std::int32_t i) const {
    const int4 words = __ldg(reinterpret_cast<const int4*>(slices + i));
    RaggedSlice slice;
    memcpy(&slice, &words, sizeof slice);
    return slice;
  }
};

// Calls body(row of the lane, value, column) for each entry of a lane of the slice, step by step.
template <ColumnCode code, int lane_rows, class Stored, class Body>
__device__ __forceinline__ void for_coded_entries(const RaggedSlices<Stored>& a,
                                                  const RaggedSlice& slice, int lane,
                                                  const Body& body) {
  constexpr int kBatch = 4;  // steps that are loaded together
  using Column = std::conditional_t<code == ColumnCode::offsets, std::uint16_t, std::int32_t>;
  const Stored* values =
      a.values + (static_cast<std::int64_t>(slice.first_step) * kLanes + lane) * lane_rows;
  const char* stored = a.columns + slice.columns * kColumnUnit;
  const Column* columns = reinterpret_cast<const Column*>(stored) + lane * lane_rows;
  const std::int32_t* base = a.base + slice.first_step;
  constexpr int size = kLanes * lane_rows;
  Run run[lane_rows];
  if constexpr (code == ColumnCode::runs)
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      const int2 words = __ldg(reinterpret_cast<const int2*>(stored) + slice.row_of(lane, r));
      run[r] = {words.x, words.y};
    }
  const std::int32_t steps = slice.steps();
  for (std::int32_t step = 0; step < steps; step += kBatch) {
    Pack<lane_rows, Stored> value[kBatch];
    Pack<lane_rows, Column> column[kBatch];
    std::int32_t bases[kBatch];
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      const bool there = step + s < steps;  // the same for the whole warp
      if (there)
        value[s] = load_pack<lane_rows>(values + static_cast<std::int64_t>(step + s) * size);
      if constexpr (code != ColumnCode::runs) {
        if (there) {
          column[s] = load_pack<lane_rows>(columns + static_cast<std::int64_t>(step + s) * size);
        } else {
#pragma unroll
          for (int r = 0; r < lane_rows; ++r) column[s].of_row[r] = static_cast<Column>(-1);
        }
        bases[s] = code == ColumnCode::offsets && there ? __ldg(base + step + s) : 0;
      }
    }
#pragma unroll
    for (int s = 0; s < kBatch; ++s)
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        if constexpr (code == ColumnCode::runs) {
          const std::int32_t k = slice.entry_of(lane, step + s);
          if (k < run[r].length) body(r, value[s].of_row[r], run[r].first_column + k);
        } else {
          const Column c = column[s].of_row[r];
          if (c != static_cast<Column>(-1)) body(r, value[s].of_row[r], bases[s] + c);
        }
      }
  }
}

template <int lane_rows, class Stored, class Body>
__device__ __forceinline__ void for_entries(const RaggedSlices<Stored>& a, const RaggedSlice& slice,
                                            int lane, const Body& body) {
  switch (slice.code()) {
    case ColumnCode::offsets:
      for_coded_entries<ColumnCode::offsets, lane_rows>(a, slice, lane, body);
      break;
    case ColumnCode::columns:
      for_coded_entries<ColumnCode::columns, lane_rows>(a, slice, lane, body);
      break;
    case ColumnCode::runs:
      for_coded_entries<ColumnCode::runs, lane_rows>(a, slice, lane, body);
  }
}

// Calls call(constant number of rows per lane, RaggedSlices) with the arrays that are in use.
// Layout is a RaggedDeviceLayout.
template <class Value, class Layout, class Call>
void with_ragged_slices(const Layout& layout, const Call& call) {
  const auto with_values = [&](const auto* values) {
    using Stored = std::remove_const_t<std::remove_pointer_t<decltype(values)>>;
    const RaggedSlices<Stored> slices{static_cast<std::int32_t>(layout.slices.size()),
                                      layout.slices.data(),
                                      layout.cut_rows.data(),
                                      layout.row_order.data(),
                                      layout.base.data(),
                                      reinterpret_cast<const char*>(layout.columns.data()),
                                      values};
    if (layout.lane_rows == 1)
      call(std::integral_constant<int, 1>{}, slices);
    else
      call(std::integral_constant<int, 2>{}, slices);
  };
  if constexpr (std::is_same_v<Value, double>)
    if (layout.in_fp32) return with_values(static_cast<const float*>(layout.fp32_values.data()));
  with_values(static_cast<const Value*>(layout.values.data()));
}

}  // namespace trireme::sell
