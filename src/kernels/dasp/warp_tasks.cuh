// SPDX-License-Identifier: BSD-3-Clause
// One function for each kind of DASP task (plan.hpp). A warp reads the entries of the task, sums
// its rows, and gives the sums to `out`. In a near task a column is `base` plus a 16-bit offset.
#pragma once

#include "kernels/dasp/fragments.cuh"
#include "kernels/dasp/product.cuh"
#include "kernels/dasp/tuning.hpp"

namespace trireme::dasp {

// FP16 products are limited by instructions as much as by memory. For FP16, rounds in which every
// entry exists therefore have separate code without tests. 64-bit indices let the loads of FP16
// share one address; 32-bit indices take fewer registers for FP32 and FP64.
template <class Stored>
inline constexpr bool kWholeRounds = sizeof(Stored) == 2;
template <class Stored>
using RoundIndex = std::conditional_t<kWholeRounds<Stored>, std::int64_t, std::int32_t>;

// Adds `blocks` blocks from `first` on to the row sums. The loads of several steps are in flight at
// the same time.
template <bool near_task, bool padded, class Rows, class Stored, class Vector>
__device__ __forceinline__ void add_blocks(Rows& rows, const Product<Stored, Vector>& p,
                                           const Lane& lane, std::int64_t first,
                                           std::int32_t blocks, std::int32_t base) {
  constexpr int n = kLaneEntries<Stored>;
  constexpr int steps = kEntriesUnderWay<Stored, near_task> / n;
  const int mine = n == 2 ? lane.quarter / 2 : lane.quarter;
  const int offset = lane.row * 4 + (n == 2 ? lane.quarter % 2 * 2 : 0);
  const std::int64_t begin = (first + mine) * 32 + offset;
  const auto round = [&](RoundIndex<Stored> done, auto whole) {
    Entries<Stored, Vector, n> e[steps];
    const auto count = [&](int s) { return whole || done + s * n + mine < blocks ? n : 0; };
#pragma unroll
    for (int s = 0; s < steps; ++s)
      e[s].template load<near_task>(p.regular, begin + (done + s * n) * 32, base, count(s));
#pragma unroll
    for (int s = 0; s < steps; ++s) e[s].template gather<padded>(p.x, count(s));
#pragma unroll
    for (int s = 0; s < steps; ++s) rows.add(e[s].value, e[s].x);
  };
  std::int32_t done = 0;
  if constexpr (kWholeRounds<Stored>)
    for (; done + steps * n <= blocks; done += steps * n) round(done, std::true_type{});
  for (; done < blocks; done += steps * n) round(done, std::false_type{});
}

template <class Rows, bool near_task, class Stored, class Vector, class Out>
__device__ __forceinline__ void rows8(const Product<Stored, Vector>& p, const Task& task,
                                      std::int32_t base, const Lane& lane, Out& out) {
  const std::int32_t irregular = task.size() % 4;
  const int has = lane.quarter < irregular;
  const std::int32_t at = task.irregular + lane.row * irregular + lane.quarter;
  Entries<Stored, Vector, 1> end;
  end.template load<near_task>(p.irregular, at, base, has);
  const std::int32_t row = p.caller_row(task, lane.row);
  Rows rows;
  add_blocks<near_task, false>(rows, p, lane, task.stored, task.size() / 4, base);
  end.template gather<false>(p.x, has);
  rows.add(end.value, end.x);
  const auto sum = rows.row_sum(lane);
  if (lane.has_row_sum()) out.put(row, sum);
}

template <class Rows, class Stored, class Vector, class Out>
__device__ __forceinline__ void mixed8(const Product<Stored, Vector>& p, const Task& task,
                                       const Lane& lane, Out& out) {
  const bool has_row = lane.row < task.size();
  const std::int32_t first = task.row - p.first_medium;
  const std::int32_t* rowblock = p.rowblock_ptr + first / 8;
  const std::int32_t blocks = (rowblock[1] - rowblock[0]) / 32;
  const std::int32_t begin = has_row ? p.irreg_ptr[first + lane.row] : 0;
  const std::int32_t end = has_row ? p.irreg_ptr[first + lane.row + 1] : 0;
  Rows rows;
  add_blocks<false, true>(rows, p, lane, task.stored, blocks, 0);
  for (std::int32_t at = begin + lane.quarter; __any_sync(kFullWarp, at < end); at += 4) {
    Entries<Stored, Vector, 1> e;
    e.template load<false>(p.irregular, at, 0, at < end);
    e.template gather<false>(p.x, at < end);
    rows.add(e.value, e.x);
  }
  const auto sum = rows.row_sum(lane);
  if (has_row && lane.has_row_sum()) out.put(p.caller_row(task, lane.row), sum);
}

// One lane sums one row. A row has 4 * blocks + irregular entries, blocks >= 1, irregular <= 3.
template <bool near_task, class Stored, class Vector, class Out>
__device__ __forceinline__ void rows32(const Product<Stored, Vector>& p, const Task& task,
                                       std::int32_t base, const Lane& lane, Out& out) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  const std::int32_t blocks = task.size() / 4;
  const std::int32_t irregular = task.size() % 4;
  const std::int64_t begin =
      (task.stored + static_cast<std::int64_t>(lane.index / 8) * blocks) * 32 + lane.index % 8 * 4;
  const std::int32_t at = task.irregular + lane.index * irregular;

  // The first block and the irregular end are loaded together, to wait for memory only once.
  Entries<Stored, Vector, 4> first;
  Entries<Stored, Vector, 1> end[3];
  first.template load<near_task>(p.regular, begin, base, 4);
#pragma unroll
  for (int i = 0; i < 3; ++i)
    end[i].template load<near_task>(p.irregular, at + i, base, i < irregular);
  const std::int32_t row = p.caller_row(task, lane.index);
  first.template gather<false>(p.x, 4);
#pragma unroll
  for (int i = 0; i < 3; ++i) end[i].template gather<false>(p.x, i < irregular);
  Accumulator sum = dot<Accumulator>(first, 0, 4);
#pragma unroll
  for (int i = 0; i < 3; ++i) sum += dot<Accumulator>(end[i], 0, 1);

  constexpr int steps = kRowBlocks<Stored, near_task>;
  const auto round = [&](RoundIndex<Stored> block, auto whole) {
    Entries<Stored, Vector, 4> e[steps];
    const auto count = [&](int s) { return whole || block + s < blocks ? 4 : 0; };
#pragma unroll
    for (int s = 0; s < steps; ++s)
      e[s].template load<near_task>(p.regular, begin + (block + s) * 32, base, count(s));
#pragma unroll
    for (int s = 0; s < steps; ++s) e[s].template gather<false>(p.x, count(s));
#pragma unroll
    for (int s = 0; s < steps; ++s) sum += dot<Accumulator>(e[s], 0, 4);
  };
  std::int32_t block = 1;
  if constexpr (kWholeRounds<Stored>)
    for (; block + steps <= blocks; block += steps) round(block, std::true_type{});
  for (; block < blocks; block += steps) round(block, std::false_type{});
  out.put(row, sum);
}

// In a near task the columns are consecutive, and the first of them is first_column.
template <class Rows, bool near_task, class Stored, class Vector, class Out>
__device__ __forceinline__ void long_groups(const Product<Stored, Vector>& p, const Task& task,
                                            std::int32_t first_column, const Lane& lane, Out& out) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  constexpr int n = kLaneEntries<Stored>;
  constexpr int steps = kEntriesUnderWay<Stored, false> / n;
  const std::int32_t count = task.size() * 64;
  const std::int64_t base = static_cast<std::int64_t>(task.stored) * 64 + lane.index * n;
  Rows rows;
  for (std::int32_t done = lane.index * n; __any_sync(kFullWarp, done < count);
       done += steps * 32 * n) {
    Entries<Stored, Vector, n> e[steps];
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      const std::int64_t at = base + (done - lane.index * n) + s * 32 * n;
      const int here = done + s * 32 * n < count ? n : 0;
      if constexpr (near_task)
        e[s].load_values(p.long_rows, at, first_column + done + s * 32 * n, here);
      else
        e[s].template load<false>(p.long_rows, at, 0, here);
    }
#pragma unroll
    for (int s = 0; s < steps; ++s)
      e[s].template gather<true>(p.x, done + s * 32 * n < count ? n : 0);
#pragma unroll
    for (int s = 0; s < steps; ++s) rows.add(e[s].value, e[s].x);
  }
  Accumulator sum = rows.total(lane);

  const std::int32_t number = task.irregular;
  const std::int32_t first = __ldg(p.long_task_ptr + number);
  const std::int32_t tasks = __ldg(p.long_task_ptr + number + 1) - first;
  if (tasks > 1) {
    std::uint32_t done_before = 0;
    if (lane.index == 0) {
      p.partials[task.row] = sum;
      __threadfence();
      done_before = atomicAdd(p.tickets + number, 1);
    }
    if (__shfl_sync(kFullWarp, done_before, 0) + 1 < tasks) return;
    __threadfence();
    sum = 0;
#pragma unroll 4
    for (std::int32_t i = lane.index; i < tasks; i += 32) sum += __ldcg(p.partials + first + i);
    sum = warp_sum(sum);
    if (lane.index == 0) p.tickets[number] = 0;
  }
  if (lane.index == 0) out.put_long(number, sum);
}

template <bool near_task, class Stored, class Vector>
__device__ __forceinline__ Entries<Stored, Vector, 4> piece(const Product<Stored, Vector>& p,
                                                            const Task& task, std::int32_t base,
                                                            int lane) {
  const std::int64_t at = kPiece * (static_cast<std::int64_t>(task.stored) + lane);
  Entries<Stored, Vector, 4> e;
  e.template load<near_task>(p.short_rows, at, base, 4);
  return e;
}

template <bool near_task, class Stored, class Vector, class Out>
__device__ __forceinline__ void pieces_13(const Product<Stored, Vector>& p, const Task& task,
                                          std::int32_t base, int lane, Out& out) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  if (lane >= task.size()) return;
  auto e = piece<near_task>(p, task, base, lane);
  const std::int32_t row_of_one = p.caller_row(task, 2 * lane);
  const std::int32_t row_of_three = p.caller_row(task, 2 * lane + 1);
  e.template gather<false>(p.x, 4);
  out.put(row_of_one, dot<Accumulator>(e, 0, 1));
  out.put(row_of_three, dot<Accumulator>(e, 1, 4));
}

template <bool near_task, class Stored, class Vector, class Out>
__device__ __forceinline__ void pieces_4(const Product<Stored, Vector>& p, const Task& task,
                                         std::int32_t base, int lane, Out& out) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  if (lane >= task.size()) return;
  auto e = piece<near_task>(p, task, base, lane);
  const std::int32_t row = p.caller_row(task, lane);
  e.template gather<true>(p.x, 4);
  out.put(row, dot<Accumulator>(e, 0, 4));
}

template <bool near_task, class Stored, class Vector, class Out>
__device__ __forceinline__ void pieces_22(const Product<Stored, Vector>& p, const Task& task,
                                          std::int32_t base, int lane, Out& out) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  if (2 * lane >= task.size()) return;
  const bool pair = 2 * lane + 1 < task.size();
  auto e = piece<near_task>(p, task, base, lane);
  const std::int32_t first = p.caller_row(task, 2 * lane);
  const std::int32_t second = pair ? p.caller_row(task, 2 * lane + 1) : 0;
  e.template gather<true>(p.x, 4);
  out.put(first, dot<Accumulator>(e, 0, 2));
  if (pair) out.put(second, dot<Accumulator>(e, 2, 4));
}

template <bool near_task, class Stored, class Vector, class Out>
__device__ __forceinline__ void ones(const Product<Stored, Vector>& p, const Task& task,
                                     std::int32_t base, int lane, Out& out) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  constexpr int n = kOnesPerTask / 32;
  Entries<Stored, Vector, 1> e[n];
  std::int32_t row[n];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const int one = lane + 32 * i;
    const std::int64_t at = p.first_one + task.stored + one;
    e[i].template load<near_task>(p.short_rows, at, base, one < task.size());
    row[i] = one < task.size() ? p.caller_row(task, one) : -1;
  }
#pragma unroll
  for (int i = 0; i < n; ++i) e[i].template gather<false>(p.x, row[i] >= 0);
#pragma unroll
  for (int i = 0; i < n; ++i)
    if (row[i] >= 0) out.put(row[i], dot<Accumulator>(e[i], 0, 1));
}

template <class Stored, class Vector, class Out>
__device__ __forceinline__ void empty(const Product<Stored, Vector>& p, const Task& task, int lane,
                                      Out& out) {
  for (int i = lane; i < task.size(); i += 32) out.put(p.caller_row(task, i), 0);
}

template <class Rows, bool near_task, class Stored, class Vector, class Out>
__device__ __forceinline__ void work_on(const Task& task, std::int32_t base,
                                        const Product<Stored, Vector>& p, const Lane& lane,
                                        Out& out) {
  switch (task.work()) {
    case Work::long_groups:
      return long_groups<Rows, near_task>(p, task, base, lane, out);
    case Work::mixed8:
      if constexpr (!near_task) mixed8<Rows>(p, task, lane, out);
      return;
    case Work::empty:
      if constexpr (!near_task) empty(p, task, lane.index, out);
      return;
    case Work::rows32:
      return rows32<near_task>(p, task, base, lane, out);
    case Work::rows8:
      return rows8<Rows, near_task>(p, task, base, lane, out);
    case Work::pieces_13:
      return pieces_13<near_task>(p, task, base, lane.index, out);
    case Work::pieces_4:
      return pieces_4<near_task>(p, task, base, lane.index, out);
    case Work::pieces_22:
      return pieces_22<near_task>(p, task, base, lane.index, out);
    case Work::ones:
      return ones<near_task>(p, task, base, lane.index, out);
  }
}

}  // namespace trireme::dasp
