// SPDX-License-Identifier: BSD-3-Clause
// Rows of the same length in a product with a strip of vectors: each group of lanes sums one row.
#pragma once

#include "kernels/dasp/strip_entries.cuh"

namespace trireme::dasp {

// Rows of the same length: `count` times as many rows as a warp has groups, from row `first_row` of
// the task on.
template <class Stored, class Strip>
__device__ __forceinline__ void uniform_rows(const Product<Stored, typename Strip::Vector>& p,
                                             const Strip& strip, const Task& task,
                                             std::int32_t base, const Group<Strip>& group,
                                             std::int32_t first_row, std::int32_t count) {
  const ColumnsOfX<Strip> x(strip, base, group.member);
  const std::int32_t blocks = task.size() / 4;
  const std::int32_t irregular = task.size() % 4;
  const std::int32_t steps = blocks + (irregular > 0);  // per row
  std::int32_t row = first_row + group.number, used = 0;
  // The next entries to load. The blocks of a row block follow those of the row block before it.
  std::int64_t at = (task.stored + static_cast<std::int64_t>(row / 8) * blocks) * 32 + row % 8 * 4;
  std::int32_t end_at = task.irregular + row * irregular, loaded = 0;
  bool upper_half = false;  // of a row block, where a warp takes four rows at once
  typename Strip::Sums sums = {};
  for_each_four<FourEntries<Stored>>(
      count * steps,
      [&](std::int32_t, FourEntries<Stored> & entries) __attribute__((always_inline)) {
        if (loaded < blocks) {
          entries.load(p.regular, at, x.is_near);
          if (loaded + 1 < blocks || Strip::kGroups == 8)
            at += 32;
          else
            at += upper_half ? 16 : 48 - 32 * blocks;
        } else {
          entries.load_end(p.irregular, end_at, irregular, x.is_near);
        }
        if (++loaded < steps) return;
        loaded = 0;
        upper_half = !upper_half;
        end_at += Strip::kGroups * irregular;
      },
      [&](std::int32_t, FourEntries<Stored> & entries) __attribute__((always_inline)) {
        if (used < blocks) {
          entries.unpack(x.is_near);
          add_four<false>(strip, x, entries, group.member, sums);
        } else {
          add_end(strip, x, entries, irregular, group.member, sums);
        }
        if (++used < steps) return;
        strip.put(p.caller_row(task, row), group.member, sums);
        clear(sums);
        used = 0;
        row += Strip::kGroups;
      });
}

}  // namespace trireme::dasp
