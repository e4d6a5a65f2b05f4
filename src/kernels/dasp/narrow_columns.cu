// SPDX-License-Identifier: BSD-3-Clause
// Columns in 16 bits. A near task is one whose columns lie within 65536 of each other, as they do
// in matrices from meshes and in many others. It has its smallest column and, beside the 32-bit
// column ids of the paper, 16-bit offsets from that column. A product reads the offsets in place of
// the ids: 10 bytes per nonzero in place of 12 (FP64), 4 in place of 6 (FP16). The column 0 of
// padding counts like any other column, so that every offset is valid.
#include <climits>

#include "base/half.hpp"
#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "kernels/dasp/device_layout.hpp"

namespace trireme::dasp {
namespace {

constexpr int kThreads = 256;
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
    default:  // Long rows are rarely near; mixed8 tasks are few.
      break;
  }
}

// Counts the entries of near tasks and sets base[t] to the smallest column of task t, or to -1
// where the task is not near.
__global__ void __launch_bounds__(kThreads)
    find_bases(std::int32_t tasks, const Task* __restrict__ task, AllColumns all,
               std::int32_t* __restrict__ base, unsigned long long* __restrict__ near_entries) {
  const std::int32_t warp = blockIdx.x * kWarps + threadIdx.x / 32;
  int entries = 0;
  if (warp < tasks) {
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
  if (threadIdx.x == 0 && near_here > 0) atomicAdd(near_entries, near_here);
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
void narrow_columns(DeviceLayout<Stored>& layout, StreamRef stream) {
  const auto tasks = static_cast<std::int32_t>(layout.tasks.size());
  if (tasks == 0) return;
  AllColumns all{.regular = {layout.reg_cid.data(), nullptr},
                 .irregular = {layout.irreg_cid.data(), nullptr},
                 .shorts = {layout.short_cid.data(), nullptr},
                 .first_one = kPiece * layout.counts.pieces()};
  const unsigned blocks = (tasks + kWarps - 1) / kWarps;
  DeviceBuffer<std::int32_t> base(tasks, stream);
  ScratchBuffer<unsigned long long> near_entries(1, stream);
  fill_zero(near_entries.span(), stream);
  find_bases<<<blocks, kThreads, 0, stream>>>(tasks, layout.tasks.data(), all, base.data(),
                                              near_entries.data());
  check_launch();
  const auto near_total = static_cast<std::int64_t>(read_back(near_entries.data(), stream));
  const auto long_entries = static_cast<std::int64_t>(layout.long_val.size());
  if (2 * near_total < layout.stored_entries() - long_entries) return;
  layout.near_entries = near_total;
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

template void narrow_columns(DeviceLayout<double>&, StreamRef);
template void narrow_columns(DeviceLayout<float>&, StreamRef);
template void narrow_columns(DeviceLayout<Half>&, StreamRef);

}  // namespace trireme::dasp
