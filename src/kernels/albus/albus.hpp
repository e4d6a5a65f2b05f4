// SPDX-License-Identifier: BSD-3-Clause
// ALBUS on the host: equal nonzeros a thread, rows cut where they fall, SIMD inside.
//
// H. Bian et al., "ALBUS: A method for efficiently processing SpMV using SIMD and Load balancing",
// Future Generation Computer Systems 116 (2021) 371-392, sections 3.1 (balance) and 3.2 (SIMD).
//
// Part t, one a thread, has the nonzeros [start1, end1) = [t nnz/T, (t+1) nnz/T) and owns the rows
// [start, end) that begin among them. A row cut in two is begun by its owner, who writes y; what
// the next part sums of it is its `head`, kept in result_mid[t] and added to y in the order of t
// when all parts are done: no atomics, and the same bits every time for the same number of parts.
//
//   row      0       1     2       3          4         start = first row that begins in the part
//   nonzeros a a a | b b | c c c c c c | d | e e e e
//            ^-------- part 0 -------^   ^-- part 1 --^
//                          start1 = 8: c c | d | e e e e      row 2: part 0 sums c c c (tail),
//                                      head                   part 1's head c c is merged into y[2]
//
// Inside a part, whole rows are gathered into windows, small enough for a core's own caches, and
// each window's rows are walked in the order that suits their lengths:
//   runs    6 7 7 .. 7 6: runs of one length, (6,1) (7,126) (6,1), in storage order; the loop over
//   a
//           row has a fixed count, so that no branch is mispredicted
//   sorted  2 5 1 1 3 ..: short rows whose length changes all the time: ordered by length inside
//   the
//           window, then walked in runs; a slot a row says where its nonzeros and its y lie, as
//           16-bit distances from the window's first
//   rows    31 48 12 ..: storage order, a masked vector at the end of each row
//   groups  neighbouring rows with the same columns (unknowns of one node in FEM): (81,3) (54,3);
//   the
//           columns are stored once a group, and each vector of x gathered once
// A window whose columns span less than 2^16 keeps them as 16-bit distances from its `base` column.
//
// Bytes a nonzero (double): 8 + 2 (narrow) or 8 + 4, + 2/g in groups of g; a row: 0 (runs) or 4
// (sorted: slots; rows: the CSR's row_ptr); x and y as ever. The values stay those of the CSR, in
// its order: update_values only takes the new address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/array.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme {

struct AlbusRun {
  std::int32_t length = 0;  // nonzeros of each row
  std::int32_t count = 0;   // rows
};

struct AlbusSlot {
  std::uint16_t offset = 0;  // of the row's first nonzero, from the window's
  std::uint16_t row = 0;     // from the window's first
};

enum class RowOrder : std::uint8_t { runs, sorted, rows, groups };  // see above

struct AlbusWindow {
  std::int32_t first_row = 0;
  std::int32_t first_nonzero = 0;
  std::int32_t base = 0;       // smallest column; 0 where not narrow
  std::int32_t first_run = 0;  // in AlbusPart::runs
  std::int32_t runs = 0;
  std::int32_t first_slot = 0;    // in AlbusPart::slots, one a row; sorted windows only
  std::int32_t first_column = 0;  // in AlbusPart::narrow_col_idx; narrow windows only
  std::uint16_t rows = 0;
  RowOrder order = RowOrder::runs;
  bool narrow = false;  // columns are in AlbusPart::narrow_col_idx
};

// What one thread multiplies.
struct AlbusPart {
  std::int32_t start1 = 0, end1 = 0;  // nonzeros of the part
  std::int32_t start = 0, end = 0;    // rows that begin in it
  std::int32_t head_end = 0;          // head: nonzeros [start1, head_end) of row start - 1
  std::int32_t tail_begin = 0;        // tail: nonzeros [tail_begin, end1) of row end - 1, if cut
  Array<AlbusWindow> windows;
  Array<AlbusRun> runs;
  Array<AlbusSlot> slots;
  Array<std::uint16_t> narrow_col_idx;  // window after window

  bool has_head() const { return head_end > start1; }
  bool has_tail() const { return tail_begin < end1; }
};

// Owned: the parts. Borrowed: the CSR.
template <class Value>
struct AlbusLayout {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<AlbusPart> parts;
  bool beyond_core_cache = false;  // a part exceeds its core's own cache: runs prefetch
  bool beyond_last_cache = false;  // the matrix exceeds the last cache: all rows prefetch
  std::span<const std::int32_t> row_ptr;
  std::span<const std::int32_t> col_idx;
  std::span<const Value> values;
};

// The cut of [0, nnz) into `parts` equal shares and the rows that begin in each; windows are empty.
std::vector<AlbusPart> albus_partition(std::span<const std::int32_t> row_ptr, std::int64_t parts);

// O(nnz), one OpenMP thread a part. `parts` >= 1 is fixed from here on; any number of threads may
// multiply. Appends its steps to `steps`.
template <class Value>
AlbusLayout<Value> build_albus_layout(const CsrView<Value>& matrix, std::int64_t parts,
                                      std::vector<BuildStep>& steps);

// Writes (or adds to) the rows of y that the part owns and returns its head: what it sums of row
// start - 1, for the caller to add. x and y are the whole vectors.
double multiply_albus_part(const AlbusLayout<double>& layout, const AlbusPart& part,
                           const double* x, double* y, bool add);
float multiply_albus_part(const AlbusLayout<float>& layout, const AlbusPart& part, const float* x,
                          float* y, bool add);
std::int32_t multiply_albus_part(const AlbusLayout<std::int32_t>& layout, const AlbusPart& part,
                                 const std::int32_t* x, std::int32_t* y, bool add);

// Mixed precision: the layout's values in FP32, all else in FP64.
double multiply_albus_part(const AlbusLayout<float>& layout, const AlbusPart& part, const double* x,
                           double* y, bool add);

// As many parts as OpenMP threads, fewer where a part would be too small to pay for its thread.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_host(const CsrView<Value>& matrix);

// The same with the values stored in FP32; x and y in FP64.
std::unique_ptr<HostKernel<double>> build_albus_mixed_host(const CsrView<double>& matrix);

// The SIMD instructions that Highway chose on this machine: "AVX3", "AVX2", "NEON", ...
std::string_view albus_simd_target();

}  // namespace trireme
