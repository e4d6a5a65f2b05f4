// SPDX-License-Identifier: BSD-3-Clause
// Copies the entries of a CSR to their places in a DASP layout on the GPU. One warp copies the
// entries of one task, as in a product. Writes are coalesced; reads are a few consecutive entries
// of each row, which neighbouring lanes share through the L1 cache.
#include "base/half.hpp"
#include "device/block_sum.cuh"
#include "device/check.hpp"
#include "kernels/dasp/device_layout.hpp"
#include "kernels/dasp/tuning.hpp"
#include "kernels/numeric.cuh"

namespace trireme::dasp {
namespace {

// Reads the caller's CSR and writes single entries of the layout.
template <class Stored, class Value>
struct Copy {
  const std::int32_t* __restrict__ row_ptr;
  const std::int32_t* __restrict__ col_idx;
  const Value* __restrict__ values;
  const std::int32_t* __restrict__ row_order;

  // Copies entry `from` to slot `to`, or writes padding where `real` is false. Without columns,
  // only real values are written.
  template <bool with_columns>
  __device__ void operator()(Stored* val, std::int32_t* cid, std::int64_t to, std::int64_t from,
                             bool real) const {
    if constexpr (with_columns) {
      store(val + to, real ? load<Sum<Stored>>(values + from) : Sum<Stored>{});
      cid[to] = real ? __ldg(col_idx + from) : 0;
    } else {
      if (real) store(val + to, load<Sum<Stored>>(values + from));
    }
  }
  __device__ std::int32_t caller_row(const Task& task, std::int32_t item) const {
    return task.consecutive() ? task.row + item : row_order[task.row + item];
  }
};

template <class Stored>
struct Arrays {
  Stored* long_val;
  std::int32_t* long_cid;
  const std::int32_t* group_ptr;
  Stored* reg_val;
  std::int32_t* reg_cid;
  Stored* irreg_val;
  std::int32_t* irreg_cid;
  Stored* short_val;
  std::int32_t* short_cid;
  std::int64_t pieces;
};

// Copies the 8 or 32 rows of a medium task. Lane i holds the begin and the length of row i.
template <bool with_columns, class Stored, class Value>
__device__ void copy_medium(const Copy<Stored, Value>& copy, const Arrays<Stored>& to,
                            const Task& task, int lane) {
  const Work work = task.work();
  const int rows = work == Work::rows32 ? 32 : 8;
  const int here = work == Work::mixed8 ? task.size() : rows;
  std::int32_t begin = 0;
  std::int32_t length = 0;
  if (lane < here) {
    const std::int32_t row = copy.caller_row(task, lane);
    begin = copy.row_ptr[row];
    length = copy.row_ptr[row + 1] - begin;
  }
  std::int32_t blocks = task.size() / 4;
  std::int32_t irregular = task.irregular + lane * (task.size() % 4);
  if (work == Work::mixed8) {
    std::int32_t lengths[8];
    for (int row = 0; row < 8; ++row) lengths[row] = __shfl_sync(kFullWarp, length, row);
    blocks = regular_blocks<8, 4>([&](int row) { return lengths[row]; });
    irregular = task.irregular;
    for (int row = 0; row < 8; ++row)
      if (row < lane && lengths[row] > 4 * blocks) irregular += lengths[row] - 4 * blocks;
  }
  for (int first = 0; first < rows; first += 8) {
    const int row = first + lane / 4;
    const std::int32_t row_begin = __shfl_sync(kFullWarp, begin, row);
    const std::int32_t row_length = __shfl_sync(kFullWarp, length, row);
    const std::int64_t base = (static_cast<std::int64_t>(task.stored) + first / 8 * blocks) * 32;
#pragma unroll 4
    for (std::int32_t block = 0; block < blocks; ++block) {
      const std::int32_t k = 4 * block + lane % 4;
      copy.template operator()<with_columns>(to.reg_val, to.reg_cid, base + block * 32 + lane,
                                             row_begin + k, k < row_length);
    }
  }
  if (work == Work::mixed8) {
    for (int row = 0; row < 8; ++row) {
      const std::int32_t row_begin = __shfl_sync(kFullWarp, begin, row) + 4 * blocks;
      const std::int32_t left = __shfl_sync(kFullWarp, length, row) - 4 * blocks;
      const std::int32_t slot = __shfl_sync(kFullWarp, irregular, row);
      for (std::int32_t k = lane; k < left; k += 32)
        copy.template operator()<with_columns>(to.irreg_val, to.irreg_cid, slot + k, row_begin + k,
                                               true);
    }
  } else if (lane < rows) {
    for (std::int32_t k = 4 * blocks; k < length; ++k)
      copy.template operator()<with_columns>(to.irreg_val, to.irreg_cid, irregular + k - 4 * blocks,
                                             begin + k, true);
  }
}

// Copies row `item` of the task to short_val from `slot` on, padded to `width` entries.
template <bool with_columns, class Stored, class Value>
__device__ void copy_short(const Copy<Stored, Value>& copy, const Arrays<Stored>& to,
                           const Task& task, int item, std::int64_t slot, int width) {
  const std::int32_t row = copy.caller_row(task, item);
  const std::int32_t begin = copy.row_ptr[row];
  const std::int32_t length = copy.row_ptr[row + 1] - begin;
  for (int k = 0; k < width; ++k)
    copy.template operator()<with_columns>(to.short_val, to.short_cid, slot + k, begin + k,
                                           k < length);
}

template <bool with_columns, class Stored, class Value>
__global__ void __launch_bounds__(kThreads)
    copy_tasks(std::int64_t tasks, const Task* __restrict__ all, Copy<Stored, Value> copy,
               Arrays<Stored> to) {
  const std::int64_t warp = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  if (warp >= tasks) return;
  const int lane = threadIdx.x % 32;
  const Task task = all[warp];
  const int size = task.size();
  switch (task.work()) {
    case Work::long_groups: {
      const std::int32_t row = copy.row_order[task.irregular];
      const std::int32_t begin = copy.row_ptr[row];
      const std::int32_t length = copy.row_ptr[row + 1] - begin;
      const std::int64_t first = task.stored - to.group_ptr[task.irregular];
#pragma unroll 4
      for (std::int32_t k = lane; k < 64 * size; k += 32) {
        const std::int64_t at = first * 64 + k;
        copy.template operator()<with_columns>(
            to.long_val, to.long_cid, std::int64_t{task.stored} * 64 + k, begin + at, at < length);
      }
      break;
    }
    case Work::rows32:
    case Work::rows8:
    case Work::mixed8:
      copy_medium<with_columns>(copy, to, task, lane);
      break;
    case Work::pieces_13:
      for (int piece = lane; piece < size; piece += 32) {
        const std::int64_t slot = kPiece * (std::int64_t{task.stored} + piece);
        copy_short<with_columns>(copy, to, task, 2 * piece, slot, 1);
        copy_short<with_columns>(copy, to, task, 2 * piece + 1, slot + 1, 3);
      }
      break;
    case Work::pieces_4:
      for (int piece = lane; piece < size; piece += 32)
        copy_short<with_columns>(copy, to, task, piece,
                                 kPiece * (std::int64_t{task.stored} + piece), kPiece);
      break;
    case Work::pieces_22:
      for (int two = lane; two < size; two += 32) {
        const bool alone = two + 1 == size && two % 2 == 0;
        copy_short<with_columns>(copy, to, task, two, kPiece * std::int64_t{task.stored} + 2 * two,
                                 alone ? kPiece : 2);
      }
      break;
    case Work::ones:
      for (int one = lane; one < size; one += 32)
        copy_short<with_columns>(copy, to, task, one, kPiece * to.pieces + task.stored + one, 1);
      break;
    case Work::empty:
      break;
  }
}

template <bool with_columns, class Stored, class Value>
void copy_all(const DeviceLayout<Stored>& layout, const DeviceCsr<Value>& matrix,
              StreamRef stream) {
  const auto tasks = static_cast<std::int64_t>(layout.tasks.size());
  if (tasks == 0) return;
  const Copy<Stored, Value> copy{matrix.row_ptr.data(), matrix.col_idx.data(), matrix.values.data(),
                                 layout.row_order.data()};
  const Arrays<Stored> to{layout.long_val.data(),  layout.long_cid.data(),  layout.group_ptr.data(),
                          layout.reg_val.data(),   layout.reg_cid.data(),   layout.irreg_val.data(),
                          layout.irreg_cid.data(), layout.short_val.data(), layout.short_cid.data(),
                          layout.counts.pieces()};
  constexpr int warps = kThreads / 32;
  const auto blocks = static_cast<unsigned>((tasks + warps - 1) / warps);
  copy_tasks<with_columns><<<blocks, kThreads, 0, stream>>>(tasks, layout.tasks.data(), copy, to);
  check_launch();
}

}  // namespace

template <class Stored, class Value>
void copy_entries(const DeviceLayout<Stored>& layout, const DeviceCsr<Value>& matrix,
                  StreamRef stream) {
  copy_all<true>(layout, matrix, stream);
}

template <class Stored, class Value>
void update_on_device(const DeviceLayout<Stored>& layout, const DeviceCsr<Value>& matrix,
                      StreamRef stream) {
  copy_all<false>(layout, matrix, stream);
}

template void copy_entries(const DeviceLayout<double>&, const DeviceCsr<double>&, StreamRef);
template void copy_entries(const DeviceLayout<float>&, const DeviceCsr<float>&, StreamRef);
template void copy_entries(const DeviceLayout<Half>&, const DeviceCsr<Half>&, StreamRef);
template void copy_entries(const DeviceLayout<float>&, const DeviceCsr<double>&, StreamRef);
template void update_on_device(const DeviceLayout<double>&, const DeviceCsr<double>&, StreamRef);
template void update_on_device(const DeviceLayout<float>&, const DeviceCsr<float>&, StreamRef);
template void update_on_device(const DeviceLayout<Half>&, const DeviceCsr<Half>&, StreamRef);
template void update_on_device(const DeviceLayout<float>&, const DeviceCsr<double>&, StreamRef);

}  // namespace trireme::dasp
