// SPDX-License-Identifier: BSD-3-Clause
// The layout of ragged rows: the form of SELL for matrices whose rows have very different lengths.
//
// SELL-C-sigma (layout.hpp) gives every row one lane, so that a long row makes all others of its
// slice wait. Here a row has 1, 2, 4, .. or 32 neighbouring lanes, as in the vector kernel of CSR
// (Bell and Garland, SC 2009, section 4.2), and all rows of a slice have the same number. A slice
// therefore takes about 16 steps, whatever the length of its rows:
//
//   nonzeros of a row  0 .. 16  17 .. 32  .. 64  .. 128  .. 256  longer  cut
//   lanes of the row   1        2         4      8       16      32      32 lanes of many slices
//
// The rows are sorted by length within windows of kRaggedWindow rows. A lane has lane_rows rows,
// which are as many rows apart as the slice has groups of lanes. A slice of 4 lanes per row,
// lane_rows 2:
//
//   lanes      0   1   2   3  | 4   5   6   7  | ..      the sums of a row's lanes are added
//   step 0     a0  a1  a2  a3 | b0  b1  b2  b3 | ..      at the end of the slice;
//              i0  i1  i2  i3 | j0  j1  j2  j3 | ..      rows a, b, .. are the first 8 rows of the
//   step 1     a4  a5  a6  .  | b4  b5  b6  .  | ..      slice, i, j, .. the other 8
//
// A row of more than longest_whole_row() nonzeros is cut into parts of kPartSteps steps, each with
// a slice of its own, and the part that is summed last adds up the sums of all parts in their
// order.
//
// Each slice stores its columns in the shortest of three codes:
//   runs     The columns of each row are consecutive: the first column and the length of each row.
//   offsets  16 bits from the smallest column of the step.
//   columns  32 bits.
// The values are FP32 where FP32 represents every value of the matrix exactly, as in layout.hpp.
//
// Bytes moved per nonzero (double): 8 or 4 for the value and 0, 2 or 4 for the column; per row: 8
// for y and 4 for its number; per slice 16.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/array.hpp"
#include "kernels/sell/layout.hpp"
#include "sparse/csr.hpp"

namespace trireme::sell {

inline constexpr int kMaxLog2Lanes = 5;
inline constexpr std::int64_t kColumnUnit =
    64;  // bytes; the columns of a slice begin at a multiple
inline constexpr std::int32_t kLongestKey = 4095;

constexpr int log2_lanes(std::int64_t length) {
  int log2 = 0;
  while (log2 < kMaxLog2Lanes && length > std::int64_t{kLaneSteps} << log2) ++log2;
  return log2;
}

// Ascending keys sort the rows of each window from long to short. Longer rows than kLongestKey keep
// the caller's order.
constexpr std::uint32_t ragged_key(std::int64_t row, std::int64_t length) {
  return static_cast<std::uint32_t>(row / kRaggedWindow) * (kLongestKey + 1) +
         static_cast<std::uint32_t>(kLongestKey - std::min<std::int64_t>(length, kLongestKey));
}

// True where the column is within kWindow of the row's place on the diagonal; `scale` is the number
// of columns per row of the matrix.
constexpr bool is_near(std::int64_t row, std::int64_t column, double scale) {
  const double distance = static_cast<double>(column) - static_cast<double>(row) * scale;
  return distance <= kWindow && -distance <= kWindow;
}

enum class ColumnCode : std::uint32_t { columns, offsets, runs };

// A slice, and how its rows lie in it.
struct alignas(16) RaggedSlice {
  std::int32_t first_step = 0;
  std::int32_t first_row = 0;  // in the sorted order; of a part: the number of the cut row
  std::uint32_t columns = 0;   // where the columns begin, in units of kColumnUnit bytes
  std::uint32_t packed = 0;    // see pack()

  // `rows` is at most 32 lane_rows, and `steps` less than 2^16.
  static constexpr std::uint32_t pack(int log2_lanes, bool part, std::int32_t rows,
                                      std::int32_t steps) {
    return static_cast<std::uint32_t>(log2_lanes) | static_cast<std::uint32_t>(part) << 3 |
           static_cast<std::uint32_t>(rows) << 8 | static_cast<std::uint32_t>(steps) << 16;
  }
  constexpr void set_code(ColumnCode code) { packed |= static_cast<std::uint32_t>(code) << 4; }

  constexpr int log2_lanes() const { return static_cast<int>(packed & 7u); }
  constexpr bool part() const { return (packed >> 3 & 1u) != 0; }
  constexpr ColumnCode code() const { return static_cast<ColumnCode>(packed >> 4 & 3u); }
  constexpr std::int32_t rows() const { return static_cast<std::int32_t>(packed >> 8 & 255u); }
  constexpr std::int32_t steps() const { return static_cast<std::int32_t>(packed >> 16); }

  constexpr int lanes() const { return 1 << log2_lanes(); }        // per row
  constexpr int groups() const { return kLanes >> log2_lanes(); }  // of lanes
  // The row of the slice that row r of a lane belongs to.
  constexpr int row_of(int lane, int r) const { return r * groups() + lane / lanes(); }
  // The entry of that row in a step.
  constexpr std::int32_t entry_of(int lane, std::int32_t step) const {
    return step * lanes() + lane % lanes();
  }
  // The same for a part, whose entries are counted from its first one.
  static constexpr std::int32_t part_entry(int lane, int r, std::int32_t step, int lane_rows) {
    return (step * kLanes + lane) * lane_rows + r;
  }
  bool operator==(const RaggedSlice&) const = default;
};

struct alignas(16) CutRow {
  std::int32_t row = 0;          // the caller's row
  std::int32_t first_slice = 0;  // of its parts, which follow each other
  std::int32_t first_part = 0;   // number of that part among the parts of all rows
  std::int32_t parts = 0;
  bool operator==(const CutRow&) const = default;
};

// A row in the code `runs`. Places of a slice without a row have {-1, -1}.
struct alignas(8) Run {
  std::int32_t first_column = -1;
  std::int32_t length = -1;
};

constexpr std::int64_t part_entries(int lane_rows) {
  return std::int64_t{kPartSteps} * kLanes * lane_rows;
}
// The bytes of the columns of a slice in units of kColumnUnit.
constexpr std::int64_t column_units(const RaggedSlice& slice, ColumnCode code, int lane_rows) {
  const std::int64_t entries = std::int64_t{slice.steps()} * kLanes * lane_rows;
  const std::int64_t bytes =
      code == ColumnCode::runs
          ? std::int64_t{slice.groups()} * lane_rows * static_cast<int>(sizeof(Run))
          : entries * (code == ColumnCode::offsets ? 2 : 4);
  return (bytes + kColumnUnit - 1) / kColumnUnit;
}

// `spread` is the largest distance between two columns of a step; `runs` says that the columns of
// every row are consecutive.
constexpr ColumnCode shortest_code(const RaggedSlice& slice, std::int32_t spread, bool runs,
                                   int lane_rows) {
  const ColumnCode code = spread <= kLargestOffset ? ColumnCode::offsets : ColumnCode::columns;
  return runs && column_units(slice, ColumnCode::runs, lane_rows) <
                     column_units(slice, code, lane_rows)
             ? ColumnCode::runs
             : code;
}

// The layout in host memory. It owns its arrays. Value: double, float.
template <class Value>
struct RaggedLayout {
  std::int64_t rows = 0, cols = 0, nnz = 0;
  int lane_rows = 1;
  bool in_fp32 = false;
  // At least half of the columns lie within kWindow of the diagonal (of a matrix that is stretched
  // to a square). A CUDA block then multiplies neighbouring slices, so that they share x.
  bool local = false;
  Array<std::int32_t> row_order;  // the caller's row of each row
  Array<RaggedSlice> slices;
  Array<CutRow> cut_rows;
  Array<std::int32_t> base;      // per step: its smallest column; 0 in a step without entries
  Array<std::uint32_t> columns;  // of all slices in their codes, kColumnUnit bytes at a time
  Array<Value> values;           // 32 lane_rows per step, where not in_fp32
  Array<float> fp32_values;      // the same, where in_fp32

  std::int64_t steps() const { return static_cast<std::int64_t>(base.size()); }
  std::int64_t stored_entries() const { return steps() * kLanes * lane_rows; }
  std::int64_t parts() const {
    return cut_rows.empty() ? 0 : cut_rows.back().first_part + cut_rows.back().parts;
  }
};

// Takes O(nnz + rows log rows) time. Value: double, float.
template <class Value>
RaggedLayout<Value> build_ragged(const CsrView<Value>& a);
// Stores new values on the same pattern, as fill_values() in build.hpp.
template <class Value>
void fill_values(const CsrView<Value>& a, RaggedLayout<Value>& layout);

// Calls body(entry of the CSR, or -1 for padding; step of the layout; place in that step) for every
// stored entry of a slice.
template <class Value, class Body>
void for_each_entry(const CsrView<Value>& a, const RaggedLayout<Value>& layout, std::int64_t number,
                    Body&& body) {
  const RaggedSlice slice = layout.slices[number];
  for (std::int32_t step = 0; step < slice.steps(); ++step)
    for (int lane = 0; lane < kLanes; ++lane)
      for (int r = 0; r < layout.lane_rows; ++r) {
        std::int64_t row = -1, k = 0;
        if (slice.part()) {
          const CutRow& cut = layout.cut_rows[slice.first_row];
          row = cut.row;
          k = (number - cut.first_slice) * part_entries(layout.lane_rows) +
              RaggedSlice::part_entry(lane, r, step, layout.lane_rows);
        } else if (slice.row_of(lane, r) < slice.rows()) {
          row = layout.row_order[slice.first_row + slice.row_of(lane, r)];
          k = slice.entry_of(lane, step);
        }
        const bool there = row >= 0 && k < a.row_ptr[row + 1] - a.row_ptr[row];
        body(there ? a.row_ptr[row] + k : -1, slice.first_step + step, lane * layout.lane_rows + r);
      }
}

}  // namespace trireme::sell
