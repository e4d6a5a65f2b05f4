// SPDX-License-Identifier: BSD-3-Clause
// Finds medium rows with the same columns as the row before them in their row block. The rows of
// one node of a mesh are such rows where a node has several unknowns:
//
//   row of the row block    0 1 2 3 4 5 6 7
//   node                    a a a b b b c c
//   bit                     0 1 1 0 1 1 0 1
//
// A product with several vectors reads X once for all rows that have the same columns (strips.cu).
#include "base/half.hpp"
#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "kernels/dasp/device_layout.hpp"
#include "kernels/dasp/tuning.hpp"

namespace trireme::dasp {
namespace {

constexpr int kWarps = kThreads / 32;

// Bit `row` says that the row has the same columns as the row before it. The rows of the row block
// have 4 * blocks + irregular columns each; `cid` and `irregular_cid` begin with those of its first
// row. Every lane of a warp gets the result.
__device__ std::uint32_t same_as_row_before(const std::int32_t* cid, std::int32_t blocks,
                                            const std::int32_t* irregular_cid,
                                            std::int32_t irregular) {
  const int lane = threadIdx.x % 32;
  bool same = lane >= 4;
  const auto compare = [&](std::int32_t column) {
    same &= column == __shfl_up_sync(kFullWarp, column, 4);
  };
#pragma unroll 4
  for (std::int32_t block = 0; block < blocks; ++block) compare(cid[block * 32 + lane]);
  compare(lane % 4 < irregular ? irregular_cid[lane / 4 * irregular + lane % 4] : 0);
  const std::uint32_t lanes = __ballot_sync(kFullWarp, same);
  std::uint32_t rows = 0;
  for (int row = 0; row < 8; ++row)
    if ((lanes >> 4 * row & 15u) == 15u) rows |= 1u << row;
  return rows;
}

// Stores 8 bits for each row block of a task of equally long rows, and counts the entries of tasks
// that are worth it.
__global__ void __launch_bounds__(kThreads)
    find_same_columns(std::int32_t tasks, const Task* __restrict__ task,
                      const std::int32_t* __restrict__ cid,
                      const std::int32_t* __restrict__ irregular_cid,
                      std::uint32_t* __restrict__ same, unsigned long long* __restrict__ entries) {
  const std::int32_t warp = blockIdx.x * kWarps + threadIdx.x / 32;
  int here = 0;
  if (warp < tasks) {
    const Task mine = task[warp];
    std::uint32_t bits = 0;
    if (mine.work() == Work::rows32 || mine.work() == Work::rows8) {
      const std::int32_t blocks = mine.size() / 4;
      const std::int32_t irregular = mine.size() % 4;
      const std::int32_t row_blocks = mine.work() == Work::rows32 ? 4 : 1;
      for (std::int32_t i = 0; i < row_blocks; ++i)
        bits |= same_as_row_before(cid + (mine.stored + static_cast<std::int64_t>(i) * blocks) * 32,
                                   blocks, irregular_cid + mine.irregular + 8 * i * irregular,
                                   irregular)
                << 8 * i;
      if (share_columns(bits, row_blocks) && threadIdx.x % 32 == 0)
        here = 8 * row_blocks * mine.size();
    }
    if (threadIdx.x % 32 == 0) same[warp] = bits;
  }
  here = block_sum<kThreads>(here);
  if (threadIdx.x == 0 && here > 0) atomicAdd(entries, here);
}

}  // namespace

template <class Stored>
void find_shared_columns(DeviceLayout<Stored>& layout, StreamRef stream) {
  const auto tasks = static_cast<std::int32_t>(layout.tasks.size());
  if (tasks == 0 || layout.reg_cid.empty()) return;
  DeviceBuffer<std::uint32_t> same(tasks, stream);
  ScratchBuffer<unsigned long long> entries(1, stream);
  fill_zero(entries.span(), stream);
  find_same_columns<<<(tasks + kWarps - 1) / kWarps, kThreads, 0, stream>>>(
      tasks, layout.tasks.data(), layout.reg_cid.data(), layout.irreg_cid.data(), same.data(),
      entries.data());
  check_launch();
  const auto total = static_cast<std::int64_t>(read_back(entries.data(), stream));
  if (8 * total >= layout.stored_entries()) layout.same_columns = std::move(same);
}

template void find_shared_columns(DeviceLayout<double>&, StreamRef);
template void find_shared_columns(DeviceLayout<float>&, StreamRef);
template void find_shared_columns(DeviceLayout<Half>&, StreamRef);

}  // namespace trireme::dasp
