// SPDX-License-Identifier: BSD-3-Clause
// Columns in 16 bits. A near task is one whose columns lie within 65536 of each other, as they do
// in matrices from meshes and in many others. It has its smallest column and, beside the 32-bit
// column ids of the paper, 16-bit offsets from that column. A product reads the offsets in place of
// the ids: 10 bytes per nonzero in place of 12 (FP64), 4 in place of 6 (FP16). The column 0 of
// padding counts like any other column, so that every offset is valid.
//
// A task of a long row is near where its columns are consecutive. It has no offsets: a product
// reads 8 bytes per nonzero (FP64), 2 (FP16). Padding does not count, because no product reads its
// x.
#include <climits>

#include "base/half.hpp"
#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "kernels/dasp/device_layout.hpp"
#include "kernels/dasp/tuning.hpp"

namespace trireme::dasp {
namespace {

constexpr int kWarps = kThreads / 32;
constexpr std::int32_t kReach = 65536;

struct Columns {
  std::int32_t* __restrict__ cid;
  std::uint16_t* __restrict__ offset;
};
struct AllColumns {
  Columns regular, irregular, shorts;
  std::int64_t first_one;  // index of the first single entry in `shorts`
};

// Calls body(columns, i) for each stored entry of a medium or short task; the lanes of the warp
// share the entries.
template <class Body>
__device__ void for_each_column(const Task& task, const AllColumns& all, Body&& body) {
  const auto run = [&](const Columns& columns, std::int64_t begin, std::int64_t count) {
    for (std::int64_t i = begin + threadIdx.x % 32; i < begin + count; i += 32) body(columns, i);
  };
  const int size = task.size();
  switch (task.work()) {
    case Work::rows32:
    case Work::rows8: {
      const int rows = items_per_task(task.work());
      run(all.regular, std::int64_t{task.stored} * 32, rows * (size / 4 * 4));
      run(all.irregular, task.irregular, rows * (size % 4));
      break;
    }
    case Work::pieces_13:
    case Work::pieces_4:
      run(all.shorts, kPiece * std::int64_t{task.stored}, kPiece * size);
      break;
    case Work::pieces_22:
      run(all.shorts, kPiece * std::int64_t{task.stored}, kPiece * ((size + 1) / 2));
      break;
    case Work::ones:
      run(all.shorts, all.first_one + task.stored, size);
      break;
    default:  // Long rows have a function of their own; mixed8 tasks are few.
      break;
  }
}

struct LongRows {
  const std::int32_t* __restrict__ cid;
  const std::int32_t* __restrict__ group_ptr;
  const std::int32_t* __restrict__ row_order;
  const std::int32_t* __restrict__ row_ptr;  // of the caller's CSR
};

// The first column of a task of a long row, or -1 where its columns are not consecutive. All lanes
// return it.
__device__ std::int32_t first_of_consecutive(const Task& task, const LongRows& rows) {
  const std::int32_t* row = rows.row_ptr + rows.row_order[task.irregular];
  const std::int32_t before = (task.stored - rows.group_ptr[task.irregular]) * 64;
  const std::int32_t count = min(task.size() * 64, row[1] - row[0] - before);
  const std::int32_t* cid = rows.cid + std::int64_t{task.stored} * 64;
  const std::int32_t first = cid[0];
  bool consecutive = true;
  for (std::int32_t i = threadIdx.x % 32; i < count; i += 32) consecutive &= cid[i] == first + i;
  return __all_sync(kFullWarp, consecutive) ? first : -1;
}

struct NearEntries {
  unsigned long long with_offsets, consecutive;  // those of long rows
};

// Counts the entries of near tasks and sets base[t] to the smallest column of task t, or to -1
// where the task is not near.
__global__ void __launch_bounds__(kThreads)
    find_bases(std::int32_t tasks, const Task* __restrict__ task, AllColumns all,
               LongRows long_rows, std::int32_t* __restrict__ base,
               NearEntries* __restrict__ near_entries) {
  const std::int32_t warp = blockIdx.x * kWarps + threadIdx.x / 32;
  int entries = 0, consecutive = 0;
  if (warp < tasks && task[warp].work() == Work::long_groups) {
    const std::int32_t first = first_of_consecutive(task[warp], long_rows);
    if (threadIdx.x % 32 == 0) {
      base[warp] = first;
      consecutive = first < 0 ? 0 : task[warp].size() * 64;
    }
  } else if (warp < tasks) {
    std::int32_t lowest = INT_MAX;
    std::int32_t highest = -1;
    for_each_column(task[warp], all, [&](const Columns& columns, std::int64_t i) {
      lowest = min(lowest, columns.cid[i]);
      highest = max(highest, columns.cid[i]);
      ++entries;
    });
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      lowest = min(lowest, __shfl_xor_sync(kFullWarp, lowest, lanes));
      highest = max(highest, __shfl_xor_sync(kFullWarp, highest, lanes));
    }
    const bool is_near = highest >= 0 && highest - lowest < kReach;
    if (!is_near) entries = 0;
    if (threadIdx.x % 32 == 0) base[warp] = is_near ? lowest : -1;
  }
  const int near_here = block_sum<kThreads>(entries);
  if (threadIdx.x == 0 && near_here > 0) atomicAdd(&near_entries->with_offsets, near_here);
  __syncthreads();  // block_sum() uses its shared memory again.
  const int consecutive_here = block_sum<kThreads>(consecutive);
  if (threadIdx.x == 0 && consecutive_here > 0)
    atomicAdd(&near_entries->consecutive, consecutive_here);
}

__global__ void __launch_bounds__(kThreads)
    write_offsets(std::int32_t tasks, const Task* __restrict__ task, AllColumns all,
                  const std::int32_t* __restrict__ bases) {
  const std::int32_t warp = blockIdx.x * kWarps + threadIdx.x / 32;
  if (warp >= tasks || bases[warp] < 0) return;
  const std::int32_t base = bases[warp];
  for_each_column(task[warp], all, [&](const Columns& columns, std::int64_t i) {
    columns.offset[i] = static_cast<std::uint16_t>(columns.cid[i] - base);
  });
}

}  // namespace

template <class Stored>
void narrow_columns(DeviceLayout<Stored>& layout, DeviceSpan<const std::int32_t> row_ptr,
                    StreamRef stream) {
  const auto tasks = static_cast<std::int32_t>(layout.tasks.size());
  if (tasks == 0) return;
  AllColumns all{.regular = {layout.reg_cid.data(), nullptr},
                 .irregular = {layout.irreg_cid.data(), nullptr},
                 .shorts = {layout.short_cid.data(), nullptr},
                 .first_one = kPiece * layout.counts.pieces()};
  const unsigned blocks = (tasks + kWarps - 1) / kWarps;
  DeviceBuffer<std::int32_t> base(tasks, stream);
  ScratchBuffer<NearEntries> near_entries(1, stream);
  fill_zero(near_entries.span(), stream);
  const LongRows long_rows{layout.long_cid.data(), layout.group_ptr.data(), layout.row_order.data(),
                           row_ptr.data()};
  find_bases<<<blocks, kThreads, 0, stream>>>(tasks, layout.tasks.data(), all, long_rows,
                                              base.data(), near_entries.data());
  check_launch();
  const NearEntries found = read_back(near_entries.data(), stream);
  const auto near_total = static_cast<std::int64_t>(found.with_offsets);
  const auto consecutive = static_cast<std::int64_t>(found.consecutive);
  const auto long_entries = static_cast<std::int64_t>(layout.long_val.size());
  if (2 * near_total < layout.stored_entries() - long_entries &&
      2 * consecutive < layout.stored_entries())
    return;
  layout.near_entries = near_total;
  layout.consecutive_entries = consecutive;
  layout.column_base = std::move(base);
  layout.reg_offset = DeviceBuffer<std::uint16_t>(layout.reg_cid.size(), stream);
  layout.irreg_offset = DeviceBuffer<std::uint16_t>(layout.irreg_cid.size(), stream);
  layout.short_offset = DeviceBuffer<std::uint16_t>(layout.short_cid.size(), stream);
  all.regular.offset = layout.reg_offset.data();
  all.irregular.offset = layout.irreg_offset.data();
  all.shorts.offset = layout.short_offset.data();
  write_offsets<<<blocks, kThreads, 0, stream>>>(tasks, layout.tasks.data(), all,
                                                 layout.column_base.data());
  check_launch();
}

template void narrow_columns(DeviceLayout<double>&, DeviceSpan<const std::int32_t>, StreamRef);
template void narrow_columns(DeviceLayout<float>&, DeviceSpan<const std::int32_t>, StreamRef);
template void narrow_columns(DeviceLayout<Half>&, DeviceSpan<const std::int32_t>, StreamRef);

}  // namespace trireme::dasp
