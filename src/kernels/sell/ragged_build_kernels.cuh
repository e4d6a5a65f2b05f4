// SPDX-License-Identifier: BSD-3-Clause
// The CUDA kernels of the builder of ragged rows. Only ragged_build.cu includes this file.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/block_sum.cuh"
#include "kernels/numeric.cuh"
#include "kernels/sell/build_support.cuh"
#include "kernels/sell/ragged.hpp"
#include "kernels/sell/slices.cuh"

namespace trireme::sell {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// What a window of rows, or all windows before it, add to the layout.
struct Counts {
  std::int32_t slices = 0, cut_rows = 0, parts = 0;
};

__global__ void make_ragged_keys(std::int32_t rows, const std::int32_t* row_ptr,
                                 std::uint32_t* keys, std::int32_t* order) {
  const std::int32_t row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= rows) return;
  keys[row] = ragged_key(row, row_ptr[row + 1] - row_ptr[row]);
  order[row] = row;
}

// The nonzeros of the rows that are longer than `longest`.
__global__ void count_long_rows(std::int32_t rows, const std::int32_t* row_ptr,
                                std::int32_t longest, unsigned long long* nonzeros) {
  const std::int32_t row = blockIdx.x * kThreads + threadIdx.x;
  const std::int32_t length = row < rows ? row_ptr[row + 1] - row_ptr[row] : 0;
  unsigned long long sum = block_sum<kThreads>(length > longest ? length : 0LL);
  if (threadIdx.x == 0 && sum > 0) atomicAdd(nonzeros, sum);
}

struct SortedRows {
  std::int32_t count;
  const std::int32_t* row_ptr;
  const std::int32_t* order;
  std::int32_t longest;  // whole row
  int lane_rows;

  __device__ std::int32_t length(std::int32_t place) const {
    const std::int32_t row = order[place];
    return row_ptr[row + 1] - row_ptr[row];
  }
  __device__ std::int32_t parts(std::int32_t place) const {
    const auto most = static_cast<std::int32_t>(part_entries(lane_rows));
    return (length(place) - 1) / most + 1;
  }
};

// The rows of a window from long to short. Rows begin(c) .. begin(c + 1) - 1 of it are cut (c = 0),
// or have 2^(kMaxLog2Lanes + 1 - c) lanes each.
struct Window {
  static constexpr int kClasses = kMaxLog2Lanes + 2;
  std::int32_t begin[kClasses + 1];

  __device__ static int log2_lanes(int c) { return kMaxLog2Lanes + 1 - c; }
};

// Every thread of the block calls it. `window` is in shared memory.
__device__ void find_classes(const SortedRows& rows, Window& window) {
  const auto first = static_cast<std::int32_t>(blockIdx.x * kRaggedWindow);
  const auto end =
      static_cast<std::int32_t>(min(static_cast<std::int64_t>(rows.count), first + kRaggedWindow));
  const auto c = static_cast<int>(threadIdx.x);
  if (c <= Window::kClasses) {
    // Class c begins behind the last row that is longer than the longest row of class c.
    std::int32_t low = first, high = end;
    if (c == 0) high = first;
    if (c == Window::kClasses) low = end;
    const std::int32_t longest =
        c == 1 ? rows.longest : kLaneSteps << Window::log2_lanes(max(c, 1));
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (rows.length(middle) > longest)
        low = middle + 1;
      else
        high = middle;
    }
    window.begin[c] = low;
  }
  __syncthreads();
}

__device__ std::int32_t rows_per_slice(const SortedRows& rows, int c) {
  return (kLanes >> Window::log2_lanes(c)) * rows.lane_rows;
}

// One block per window.
__global__ void __launch_bounds__(kThreads) count_slices(SortedRows rows, Counts* counts) {
  __shared__ Window window;
  find_classes(rows, window);
  std::int32_t parts = 0;
  for (std::int32_t place = window.begin[0] + static_cast<std::int32_t>(threadIdx.x);
       place < window.begin[1]; place += kThreads)
    parts += rows.parts(place);
  parts = block_sum<kThreads>(parts);
  if (threadIdx.x != 0) return;
  Counts here{parts, window.begin[1] - window.begin[0], parts};
  for (int c = 1; c < Window::kClasses; ++c) {
    const std::int32_t size = rows_per_slice(rows, c);
    here.slices += (window.begin[c + 1] - window.begin[c] + size - 1) / size;
  }
  counts[blockIdx.x] = here;
}

// One block per window. `first` has what the windows before each window have added.
__global__ void __launch_bounds__(kThreads)
    cut_slices(SortedRows rows, const Counts* first, RaggedSlice* slices, CutRow* cut_rows,
               std::int32_t* steps) {
  __shared__ Window window;
  find_classes(rows, window);
  Counts next = first[blockIdx.x];
  const auto put = [&](std::int32_t slice, std::int32_t first_row, int log2, bool part,
                       std::int32_t count, std::int32_t steps_here) {
    RaggedSlice s;
    s.first_row = first_row;
    s.packed = RaggedSlice::pack(log2, part, count, steps_here);
    slices[slice] = s;
    steps[slice] = steps_here;
  };
  const std::int32_t cut = window.begin[1] - window.begin[0];
  if (threadIdx.x < 32) {  // 32 cut rows at a time
    for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x);
         i - static_cast<std::int32_t>(threadIdx.x) < cut; i += 32) {
      const std::int32_t place = window.begin[0] + i;
      const std::int32_t entries = i < cut ? rows.length(place) : 0;
      const std::int32_t parts = i < cut ? rows.parts(place) : 0;
      std::int32_t before = parts;
      for (int offset = 1; offset < 32; offset *= 2) {
        const std::int32_t other = __shfl_up_sync(kFullWarp, before, offset);
        if (static_cast<int>(threadIdx.x) >= offset) before += other;
      }
      const std::int32_t all = __shfl_sync(kFullWarp, before, 31);
      before -= parts;
      if (i < cut) {
        cut_rows[next.cut_rows + i] = {rows.order[place], next.slices + before, next.parts + before,
                                       parts};
        const auto most = static_cast<std::int32_t>(part_entries(rows.lane_rows));
        const std::int32_t per_step = kLanes * rows.lane_rows;
        for (std::int32_t part = 0; part < parts; ++part)
          put(next.slices + before + part, next.cut_rows + i, kMaxLog2Lanes, true, 0,
              (min(most, entries - part * most) + per_step - 1) / per_step);
      }
      next.slices += all;
      next.parts += all;
    }
  }
  __shared__ std::int32_t first_whole;
  if (threadIdx.x == 0) first_whole = next.slices;
  __syncthreads();
  std::int32_t slice = first_whole;
  for (int c = 1; c < Window::kClasses; ++c) {
    const std::int32_t size = rows_per_slice(rows, c), log2 = Window::log2_lanes(c);
    const std::int32_t count = (window.begin[c + 1] - window.begin[c] + size - 1) / size;
    for (std::int32_t i = static_cast<std::int32_t>(threadIdx.x); i < count; i += kThreads) {
      const std::int32_t row = window.begin[c] + i * size;
      put(slice + i, row, log2, false, min(size, window.begin[c + 1] - row),
          (rows.length(row) + (1 << log2) - 1) >> log2);
    }
    slice += count;
  }
}

__device__ std::int32_t this_slice() {
  return static_cast<std::int32_t>(
      (blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x) / 32);
}

// Where the entries of one lane are in the caller's CSR.
template <int lane_rows>
struct EntriesOfLane {
  std::int32_t begin[lane_rows], count[lane_rows];  // of the row, or of this part of it
  std::int32_t row[lane_rows];                      // the caller's; -1 where there is none
  bool part;
  RaggedSlice slice;

  __device__ EntriesOfLane(const SortedRows& rows, const RaggedSlice& s, std::int32_t number,
                           const CutRow* cut_rows)
      : part(s.part()), slice(s) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      row[r] = -1;
      begin[r] = count[r] = 0;
      std::int32_t skipped = 0;
      if (part) {
        const CutRow cut = cut_rows[s.first_row];
        row[r] = cut.row;
        skipped = (number - cut.first_slice) * static_cast<std::int32_t>(part_entries(lane_rows));
      } else if (s.row_of(lane, r) < s.rows()) {
        row[r] = rows.order[s.first_row + s.row_of(lane, r)];
      }
      if (row[r] < 0) continue;
      begin[r] = rows.row_ptr[row[r]] + skipped;
      count[r] = rows.row_ptr[row[r] + 1] - begin[r];
    }
  }
  // The entry in the CSR, or -1 for padding.
  __device__ std::int32_t at(int r, std::int32_t step) const {
    const int lane = threadIdx.x % 32;
    const std::int32_t k =
        part ? RaggedSlice::part_entry(lane, r, step, lane_rows) : slice.entry_of(lane, step);
    return k < count[r] ? begin[r] + k : -1;
  }
};

// Finds the base of each step, the code of each slice and its units of columns, and counts the
// columns near the diagonal. One warp per slice.
template <int lane_rows>
__global__ void __launch_bounds__(kThreads)
    find_codes(SortedRows rows, std::int32_t count, const std::int32_t* first_step,
               const CutRow* cut_rows, const std::int32_t* col_idx, double scale,
               RaggedSlice* slices, std::int32_t* base, std::int32_t* units,
               unsigned long long* near) {
  const std::int32_t number = this_slice();
  const int lane = threadIdx.x % 32;
  std::int32_t near_here = 0;
  if (number < count) {
    RaggedSlice slice = slices[number];
    slice.first_step = first_step[number];
    const EntriesOfLane<lane_rows> entries(rows, slice, number, cut_rows);
    std::int32_t spread = 0;
    bool runs = !slice.part();
    std::int32_t first[lane_rows] = {};  // what the first column of the row would be in a run
    constexpr int kBatch = 4;
    for (std::int32_t step = 0; step < slice.steps(); step += kBatch) {
      std::int32_t column[kBatch][lane_rows];
#pragma unroll
      for (int s = 0; s < kBatch; ++s)
#pragma unroll
        for (int r = 0; r < lane_rows; ++r) {
          const std::int32_t k = step + s < slice.steps() ? entries.at(r, step + s) : -1;
          column[s][r] = k < 0 ? -1 : __ldg(col_idx + k);
        }
#pragma unroll
      for (int s = 0; s < kBatch; ++s) {
        std::int32_t low = 0x7fffffff, high = -1;
#pragma unroll
        for (int r = 0; r < lane_rows; ++r) {
          const std::int32_t c = column[s][r];
          if (c < 0) continue;
          low = min(low, c);
          high = max(high, c);
          near_here += is_near(entries.row[r], c, scale);
          const std::int32_t start = c - slice.entry_of(lane, step + s);
          if (step + s == 0) first[r] = start;
          runs = runs && start == first[r];
        }
        if (step + s >= slice.steps()) continue;
        low = __reduce_min_sync(kFullWarp, low);
        high = __reduce_max_sync(kFullWarp, high);
        if (lane == 0) base[slice.first_step + step + s] = high < 0 ? 0 : low;
        spread = max(spread, high < 0 ? 0 : high - low);
      }
    }
    // The lanes of a row agree on its first column, unless they have no entry.
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      const std::int32_t of_row = __shfl_sync(kFullWarp, first[r], lane & ~(slice.lanes() - 1));
      if (!slice.part() && slice.entry_of(lane, 0) < entries.count[r])
        runs = runs && first[r] == of_row;
    }
    runs = __all_sync(kFullWarp, runs);
    const ColumnCode code = shortest_code(slice, spread, runs, lane_rows);
    slice.set_code(code);
    if (lane == 0) {
      slices[number] = slice;
      units[number] = static_cast<std::int32_t>(column_units(slice, code, lane_rows));
    }
  }
  near_here = block_sum<kThreads>(near_here);
  if (threadIdx.x == 0 && near_here > 0)
    atomicAdd(near, static_cast<unsigned long long>(near_here));
}

// One warp per slice. Every byte of the slice's units is written.
template <int lane_rows>
__global__ void __launch_bounds__(kThreads)
    fill_columns(SortedRows rows, std::int32_t count, const std::int32_t* units,
                 const CutRow* cut_rows, const std::int32_t* col_idx, const std::int32_t* base,
                 RaggedSlice* slices, std::uint32_t* columns) {
  const std::int32_t number = this_slice();
  if (number >= count) return;
  const int lane = threadIdx.x % 32;
  RaggedSlice slice = slices[number];
  slice.columns = static_cast<std::uint32_t>(units[number]);
  __syncwarp();
  if (lane == 0) slices[number].columns = slice.columns;
  char* out = reinterpret_cast<char*>(columns) + slice.columns * kColumnUnit;
  if (slice.code() == ColumnCode::runs) {
    const std::int64_t places =
        column_units(slice, ColumnCode::runs, lane_rows) * kColumnUnit / sizeof(Run);
    for (int i = lane; i < places; i += 32) {
      Run run;
      if (i < slice.rows()) {
        const std::int32_t row = rows.order[slice.first_row + i];
        const std::int32_t begin = rows.row_ptr[row];
        run.length = rows.row_ptr[row + 1] - begin;
        run.first_column = run.length > 0 ? col_idx[begin] : 0;
      }
      reinterpret_cast<Run*>(out)[i] = run;
    }
    return;
  }
  const EntriesOfLane<lane_rows> entries(rows, slice, number, cut_rows);
  const auto fill = [&](auto* numbers, const auto& encode) {
    using Column = std::decay_t<decltype(*numbers)>;
#pragma unroll 4
    for (std::int32_t step = 0; step < slice.steps(); ++step) {
      Pack<lane_rows, Column> pack;
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        const std::int32_t k = entries.at(r, step);
        pack.of_row[r] = k < 0 ? static_cast<Column>(-1) : encode(__ldg(col_idx + k), step);
      }
      reinterpret_cast<Pack<lane_rows, Column>*>(numbers)[step * kLanes + lane] = pack;
    }
  };
  if (slice.code() == ColumnCode::columns) {
    fill(reinterpret_cast<std::int32_t*>(out),
         [](std::int32_t column, std::int32_t) { return column; });
  } else {
    fill(reinterpret_cast<std::uint16_t*>(out), [&](std::int32_t column, std::int32_t step) {
      return static_cast<std::uint16_t>(column - __ldg(base + slice.first_step + step));
    });
  }
}

// One warp per slice. Sets *inexact, unless it is null, where Stored cannot hold a value.
template <int lane_rows, class Value, class Stored>
__global__ void __launch_bounds__(kThreads)
    fill_values(SortedRows rows, std::int32_t count, const RaggedSlice* slices,
                const CutRow* cut_rows, const Value* values, Stored* stored,
                std::int32_t* inexact) {
  const std::int32_t number = this_slice();
  if (number >= count) return;
  const RaggedSlice slice = slices[number];
  const EntriesOfLane<lane_rows> entries(rows, slice, number, cut_rows);
  bool found = false;
  auto* out = reinterpret_cast<Pack<lane_rows, Stored>*>(stored) +
              static_cast<std::int64_t>(slice.first_step) * kLanes + threadIdx.x % 32;
  constexpr int kBatch = 4;  // steps whose values are asked for together
  for (std::int32_t step = 0; step < slice.steps(); step += kBatch) {
    Sum<Value> value[kBatch][lane_rows];
#pragma unroll
    for (int s = 0; s < kBatch; ++s)
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        const std::int32_t k = entries.at(r, step + s);
        value[s][r] = k < 0 ? Sum<Value>{} : load<Sum<Value>>(values + k);
      }
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      if (step + s >= slice.steps()) break;
      Pack<lane_rows, Stored> pack;
#pragma unroll
      for (int r = 0; r < lane_rows; ++r) {
        found |= changes<Stored>(value[s][r]);
        store(&pack.of_row[r], value[s][r]);
      }
      out[(step + s) * kLanes] = pack;
    }
  }
  if (found && inexact != nullptr) *inexact = 1;
}

}  // namespace
}  // namespace trireme::sell
