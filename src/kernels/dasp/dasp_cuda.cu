// SPDX-License-Identifier: BSD-3-Clause
// y = A x on the DASP layout in one launch, section 3.3 of the paper: a warp a task (plan.hpp).
//
//   long_groups  up to 512 entries of a long row on the matrix unit. Rows of several tasks: each
//   task
//                leaves its sum in memory, and the one that finds by a ticket that it is the last
//                adds them up, in their order.
//   rows8        a row block: 8 x 4 blocks on the matrix unit; the irregular ends of its rows, at
//   most
//                three entries each, are read as they lie and padded in registers to one more block
//   mixed8       the same for a row block of several lengths
//   rows32       four row blocks of short medium rows: a lane a row, on FMA. Their one to seven
//   blocks
//                would leave the matrix unit more to sort out than to multiply.
//   short        a lane a piece, on FMA: 4 entries are one load of columns and one or two of values
//
// Moves 12 bytes a stored entry (FP64), 8 of y a row and 4 of its number, none where a task's rows
// follow each other; values and columns bypass the caches' retention (ld.global.cs, the paper's), x
// is read through L1. Tasks are in the caller's row order, so that neighbouring rows of different
// classes share lines of x and y while they are in cache.
// Deterministic: each row's order of summation depends on the layout only.
#include <type_traits>

#include "device/device.hpp"
#include "kernels/dasp/dasp.hpp"
#include "kernels/dasp/device_layout.hpp"
#include "kernels/dasp/fragments.cuh"
#include "kernels/numeric.cuh"

namespace trireme {
namespace dasp {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 4;  // 64 registers a thread
constexpr int kEntriesUnderWay = 8;          // that a lane has loaded before it gathers the first x

// As the device computes with it: Half is __half.
template <class Value>
using Native = std::conditional_t<std::is_same_v<Value, Half>, __half, Value>;
template <class Value>
const Native<Value>* native(const Value* data) {
  return reinterpret_cast<const Native<Value>*>(data);
}

template <class Stored, class Vector>
struct Product {
  using Accumulator = Sum<std::conditional_t<std::is_same_v<Vector, __half>, Half, Vector>>;

  const Stored* long_val;
  const std::int32_t* long_cid;
  const Stored* reg_val;
  const std::int32_t* reg_cid;
  const std::int32_t* rowblock_ptr;
  const Stored* irreg_val;
  const std::int32_t* irreg_cid;
  const std::int32_t* irreg_ptr;
  const Stored* short_val;
  const std::int32_t* short_cid;
  const std::int32_t* row_order;
  const Task* tasks;
  const std::int32_t* long_task_ptr;
  Accumulator* partials;   // a task of long rows
  std::uint32_t* tickets;  // a long row: how many of its tasks are done; 0 between products
  std::int32_t task_count;
  std::int32_t first_medium;
  std::int64_t first_one;  // in short_val
  bool add;
  const Vector* x;
  Vector* y;

  __device__ std::int32_t caller_row(const Task& task, std::int32_t item) const {
    return task.consecutive() ? task.row + item : __ldg(row_order + task.row + item);
  }
  __device__ void put(std::int32_t row, Accumulator sum) const {
    if constexpr (std::is_same_v<Vector, __half>) {
      if (add) sum += __half2float(y[row]);
      y[row] = __float2half_rn(sum);
    } else {
      y[row] = add ? y[row] + sum : sum;
    }
  }
};

// --- streaming loads --------------------------------------------------------------------------

__device__ __forceinline__ void stream(const double* from, double (&to)[2]) {
  const double2 v = __ldcs(reinterpret_cast<const double2*>(from));
  to[0] = v.x, to[1] = v.y;
}
__device__ __forceinline__ void stream(const double* from, double (&to)[4]) {
  const double2 v = __ldcs(reinterpret_cast<const double2*>(from));
  const double2 w = __ldcs(reinterpret_cast<const double2*>(from) + 1);
  to[0] = v.x, to[1] = v.y, to[2] = w.x, to[3] = w.y;
}
__device__ __forceinline__ void stream(const float* from, float (&to)[4]) {
  const float4 v = __ldcs(reinterpret_cast<const float4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void stream(const std::int32_t* from, std::int32_t (&to)[2]) {
  const int2 v = __ldcs(reinterpret_cast<const int2*>(from));
  to[0] = v.x, to[1] = v.y;
}
__device__ __forceinline__ void stream(const std::int32_t* from, std::int32_t (&to)[4]) {
  const int4 v = __ldcs(reinterpret_cast<const int4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void stream(const __half* from, __half (&to)[4]) {
  const uint2 v = __ldcs(reinterpret_cast<const uint2*>(from));
  to[0] = __ushort_as_half(static_cast<unsigned short>(v.x));
  to[1] = __ushort_as_half(static_cast<unsigned short>(v.x >> 16));
  to[2] = __ushort_as_half(static_cast<unsigned short>(v.y));
  to[3] = __ushort_as_half(static_cast<unsigned short>(v.y >> 16));
}
template <class Number>
__device__ __forceinline__ void stream(const Number* from, Number (&to)[1]) {
  to[0] = __ldcs(from);
}

// n entries of a row: values, columns, then x. Padding, value 0, takes no x.
template <class Stored, class Vector, int n>
struct Entries {
  Stored value[n];
  std::int32_t column[n];
  Vector x[n];

  __device__ void load(const Stored* val, const std::int32_t* cid, bool real) {
    if (real) {
      stream(val, value);
      stream(cid, column);
    } else {
#pragma unroll
      for (int i = 0; i < n; ++i) value[i] = Stored(0), column[i] = 0;
    }
  }
  template <bool padded>
  __device__ void gather(const Vector* from, bool real) {
#pragma unroll
    for (int i = 0; i < n; ++i)
      x[i] = real && (!padded || value[i] != Stored(0)) ? __ldg(from + column[i]) : Vector(0);
  }
};

template <class Accumulator, class Stored, class Vector, int n>
__device__ __forceinline__ Accumulator dot(const Entries<Stored, Vector, n>& e, int first,
                                           int last) {
  Accumulator sum = 0;
#pragma unroll
  for (int i = 0; i < n; ++i)
    if (i >= first && i < last)
      sum += static_cast<Accumulator>(e.value[i]) * static_cast<Accumulator>(e.x[i]);
  return sum;
}

// --- tasks ------------------------------------------------------------------------------------

// Adds `blocks` blocks from `first` on to the row sums. Several steps' loads are under way at a
// time.
template <bool padded, class Rows, class Stored, class Vector>
__device__ __forceinline__ void add_blocks(Rows& rows, const Product<Stored, Vector>& p,
                                           const Lane& lane, std::int64_t first,
                                           std::int32_t blocks) {
  constexpr int n = kLaneEntries<Stored>;
  constexpr int steps = kEntriesUnderWay / n;
  const int mine = lane.block<Stored>();
  const std::int64_t base = (first + mine) * 32 + lane.offset<Stored>();
  for (std::int32_t done = 0; done < blocks; done += steps * n) {
    Entries<Stored, Vector, n> e[steps];
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      const std::int64_t at = base + (done + s * n) * 32;
      e[s].load(p.reg_val + at, p.reg_cid + at, done + s * n + mine < blocks);
    }
#pragma unroll
    for (int s = 0; s < steps; ++s) e[s].template gather<padded>(p.x, done + s * n + mine < blocks);
#pragma unroll
    for (int s = 0; s < steps; ++s) rows.add(e[s].value, e[s].x);
  }
}

template <class Rows, class Stored, class Vector>
__device__ __forceinline__ void rows8(const Product<Stored, Vector>& p, const Task& task,
                                      const Lane& lane) {
  const std::int32_t irregular = task.size() % 4;
  const bool has = lane.quarter < irregular;
  const std::int32_t at = task.irregular + lane.row * irregular + lane.quarter;
  Entries<Stored, Vector, 1> end;
  end.load(p.irreg_val + at, p.irreg_cid + at, has);
  const std::int32_t row = p.caller_row(task, lane.row);
  Rows rows;
  add_blocks<false>(rows, p, lane, task.stored, task.size() / 4);
  end.template gather<false>(p.x, has);
  rows.add(end.value, end.x);
  const auto sum = rows.row_sum(lane);
  if (lane.has_row_sum()) p.put(row, sum);
}

template <class Rows, class Stored, class Vector>
__device__ __forceinline__ void mixed8(const Product<Stored, Vector>& p, const Task& task,
                                       const Lane& lane) {
  const bool has_row = lane.row < task.size();
  const std::int32_t first = task.row - p.first_medium;
  const std::int32_t* rowblock = p.rowblock_ptr + first / 8;
  const std::int32_t blocks = (rowblock[1] - rowblock[0]) / 32;
  const std::int32_t begin = has_row ? p.irreg_ptr[first + lane.row] : 0;
  const std::int32_t end = has_row ? p.irreg_ptr[first + lane.row + 1] : 0;
  Rows rows;
  add_blocks<true>(rows, p, lane, task.stored, blocks);
  for (std::int32_t at = begin + lane.quarter; __any_sync(kFullWarp, at < end); at += 4) {
    Entries<Stored, Vector, 1> e;
    e.load(p.irreg_val + at, p.irreg_cid + at, at < end);
    e.template gather<false>(p.x, at < end);
    rows.add(e.value, e.x);
  }
  const auto sum = rows.row_sum(lane);
  if (has_row && lane.has_row_sum()) p.put(p.caller_row(task, lane.row), sum);
}

// A lane a row; rows of 4 * blocks + irregular entries, irregular <= 3.
template <class Stored, class Vector>
__device__ __forceinline__ void rows32(const Product<Stored, Vector>& p, const Task& task,
                                       const Lane& lane) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  const std::int32_t blocks = task.size() / 4;
  const std::int32_t irregular = task.size() % 4;
  const std::int64_t base =
      (task.stored + static_cast<std::int64_t>(lane.index / 8) * blocks) * 32 + lane.index % 8 * 4;
  const std::int32_t at = task.irregular + lane.index * irregular;
  const bool odd = blocks % 2 == 1;

  // What does not fill two blocks: one load of everything, then one gather.
  Entries<Stored, Vector, 1> end[3];
  Entries<Stored, Vector, 4> last;
#pragma unroll
  for (int i = 0; i < 3; ++i)
    end[i].load(p.irreg_val + at + i, p.irreg_cid + at + i, i < irregular);
  const std::int64_t last_at = base + (blocks - 1) * 32;
  last.load(p.reg_val + last_at, p.reg_cid + last_at, odd);
  const std::int32_t row = p.caller_row(task, lane.index);
#pragma unroll
  for (int i = 0; i < 3; ++i) end[i].template gather<false>(p.x, i < irregular);
  last.template gather<false>(p.x, odd);
  Accumulator sum = dot<Accumulator>(last, 0, 4);
#pragma unroll
  for (int i = 0; i < 3; ++i) sum += dot<Accumulator>(end[i], 0, 1);

  for (std::int32_t block = 0; block + 1 < blocks; block += 2) {
    Entries<Stored, Vector, 4> e[2];
#pragma unroll
    for (int s = 0; s < 2; ++s)
      e[s].load(p.reg_val + base + (block + s) * 32, p.reg_cid + base + (block + s) * 32, true);
#pragma unroll
    for (int s = 0; s < 2; ++s) e[s].template gather<false>(p.x, true);
#pragma unroll
    for (int s = 0; s < 2; ++s) sum += dot<Accumulator>(e[s], 0, 4);
  }
  p.put(row, sum);
}

template <class Rows, class Stored, class Vector>
__device__ __forceinline__ void long_groups(const Product<Stored, Vector>& p, const Task& task,
                                            const Lane& lane) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  constexpr int n = kLaneEntries<Stored>;
  constexpr int steps = kEntriesUnderWay / n;
  const std::int32_t count = task.size() * 64;
  const std::int64_t base = static_cast<std::int64_t>(task.stored) * 64 + lane.index * n;
  Rows rows;
  for (std::int32_t done = lane.index * n; __any_sync(kFullWarp, done < count);
       done += steps * 32 * n) {
    Entries<Stored, Vector, n> e[steps];
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      const std::int64_t at = base + (done - lane.index * n) + s * 32 * n;
      e[s].load(p.long_val + at, p.long_cid + at, done + s * 32 * n < count);
    }
#pragma unroll
    for (int s = 0; s < steps; ++s) e[s].template gather<true>(p.x, done + s * 32 * n < count);
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
  if (lane.index == 0) p.put(__ldg(p.row_order + number), sum);
}

template <class Stored, class Vector>
__device__ __forceinline__ Entries<Stored, Vector, 4> piece(const Product<Stored, Vector>& p,
                                                            const Task& task, int lane) {
  const std::int64_t at = kPiece * (static_cast<std::int64_t>(task.stored) + lane);
  Entries<Stored, Vector, 4> e;
  e.load(p.short_val + at, p.short_cid + at, true);
  return e;
}

template <class Stored, class Vector>
__device__ __forceinline__ void pieces_13(const Product<Stored, Vector>& p, const Task& task,
                                          int lane) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  if (lane >= task.size()) return;
  auto e = piece(p, task, lane);
  const std::int32_t row_of_one = p.caller_row(task, 2 * lane);
  const std::int32_t row_of_three = p.caller_row(task, 2 * lane + 1);
  e.template gather<false>(p.x, true);
  p.put(row_of_one, dot<Accumulator>(e, 0, 1));
  p.put(row_of_three, dot<Accumulator>(e, 1, 4));
}

template <class Stored, class Vector>
__device__ __forceinline__ void pieces_4(const Product<Stored, Vector>& p, const Task& task,
                                         int lane) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  if (lane >= task.size()) return;
  auto e = piece(p, task, lane);
  const std::int32_t row = p.caller_row(task, lane);
  e.template gather<true>(p.x, true);
  p.put(row, dot<Accumulator>(e, 0, 4));
}

template <class Stored, class Vector>
__device__ __forceinline__ void pieces_22(const Product<Stored, Vector>& p, const Task& task,
                                          int lane) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  if (2 * lane >= task.size()) return;
  const bool pair = 2 * lane + 1 < task.size();
  auto e = piece(p, task, lane);
  const std::int32_t first = p.caller_row(task, 2 * lane);
  const std::int32_t second = pair ? p.caller_row(task, 2 * lane + 1) : 0;
  e.template gather<true>(p.x, true);
  p.put(first, dot<Accumulator>(e, 0, 2));
  if (pair) p.put(second, dot<Accumulator>(e, 2, 4));
}

template <class Stored, class Vector>
__device__ __forceinline__ void ones(const Product<Stored, Vector>& p, const Task& task, int lane) {
  using Accumulator = typename Product<Stored, Vector>::Accumulator;
  constexpr int n = kOnesPerTask / 32;
  Entries<Stored, Vector, 1> e[n];
  std::int32_t row[n];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const int one = lane + 32 * i;
    const std::int64_t at = p.first_one + task.stored + one;
    e[i].load(p.short_val + at, p.short_cid + at, one < task.size());
    row[i] = one < task.size() ? p.caller_row(task, one) : -1;
  }
#pragma unroll
  for (int i = 0; i < n; ++i) e[i].template gather<false>(p.x, row[i] >= 0);
#pragma unroll
  for (int i = 0; i < n; ++i)
    if (row[i] >= 0) p.put(row[i], dot<Accumulator>(e[i], 0, 1));
}

template <class Stored, class Vector>
__device__ __forceinline__ void empty(const Product<Stored, Vector>& p, const Task& task,
                                      int lane) {
  for (int i = lane; i < task.size(); i += 32) p.put(p.caller_row(task, i), 0);
}

// Rows: how a warp sums rows (fragments.cuh).
template <class Rows, class Stored, class Vector>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    multiply(Product<Stored, Vector> p) {
  const std::int32_t warp = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
  if (warp >= p.task_count) return;
  const int4 words = __ldg(reinterpret_cast<const int4*>(p.tasks) + warp);
  const Task task{static_cast<std::uint32_t>(words.x), words.y, words.z, words.w};
  const Lane lane;
  switch (task.work()) {
    case Work::long_groups:
      long_groups<Rows>(p, task, lane);
      break;
    case Work::rows32:
      rows32(p, task, lane);
      break;
    case Work::rows8:
      rows8<Rows>(p, task, lane);
      break;
    case Work::mixed8:
      mixed8<Rows>(p, task, lane);
      break;
    case Work::pieces_13:
      pieces_13(p, task, lane.index);
      break;
    case Work::pieces_4:
      pieces_4(p, task, lane.index);
      break;
    case Work::pieces_22:
      pieces_22(p, task, lane.index);
      break;
    case Work::ones:
      ones(p, task, lane.index);
      break;
    case Work::empty:
      empty(p, task, lane.index);
      break;
  }
}

template <class Stored, class Vector>
class DaspCuda final : public CudaKernel<Vector> {
  using Kernel = Product<Native<Stored>, Native<Vector>>;
  using Accumulator = typename Kernel::Accumulator;

 public:
  DaspCuda(const DeviceCsr<Vector>& matrix, StreamRef stream)
      : source_(matrix), layout_(build_on_device<Stored>(matrix, steps_, stream)) {
    if (layout_.long_tasks > 0) {
      partials_ = DeviceBuffer<Accumulator>(layout_.long_tasks, stream);
      tickets_ = DeviceBuffer<std::uint32_t>(layout_.counts.long_rows, stream);
      fill_zero(tickets_.span(), stream);
      synchronize(stream);
    }
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    if (layout_.tasks.empty()) return;
    const DeviceLayout<Stored>& a = layout_;
    const Kernel product{.long_val = native(a.long_val.data()),
                         .long_cid = a.long_cid.data(),
                         .reg_val = native(a.reg_val.data()),
                         .reg_cid = a.reg_cid.data(),
                         .rowblock_ptr = a.rowblock_ptr.data(),
                         .irreg_val = native(a.irreg_val.data()),
                         .irreg_cid = a.irreg_cid.data(),
                         .irreg_ptr = a.irreg_ptr.data(),
                         .short_val = native(a.short_val.data()),
                         .short_cid = a.short_cid.data(),
                         .row_order = a.row_order.data(),
                         .tasks = a.tasks.data(),
                         .long_task_ptr = a.long_task_ptr.data(),
                         .partials = partials_.data(),
                         .tickets = tickets_.data(),
                         .task_count = static_cast<std::int32_t>(a.tasks.size()),
                         .first_medium = static_cast<std::int32_t>(a.counts.first_medium()),
                         .first_one = kPiece * a.counts.pieces(),
                         .add = accumulate == Accumulate::yes,
                         .x = native(x.data()),
                         .y = const_cast<Native<Vector>*>(native(y.data()))};
    if constexpr (std::is_same_v<Vector, double>) {
      if (matrix_unit_)
        launch<DoubleMmaSum>(product, stream);
      else
        launch<FmaSum<double>>(product, stream);
    } else if constexpr (std::is_same_v<Vector, Half>) {
      launch<HalfMmaSum>(product, stream);
    } else {
      launch<FmaSum<float>>(product, stream);
    }
  }

  void update_values(DeviceSpan<const Vector> values, StreamRef stream) override {
    source_.values = values;
    update_on_device(layout_, source_, stream);
  }

  KernelStatistics statistics() const override {
    const std::size_t indices = layout_.stored_entries() + layout_.row_order.size();
    return {.stored_bytes = static_cast<std::int64_t>(layout_.stored_entries() * sizeof(Stored) +
                                                      indices * sizeof(std::int32_t) +
                                                      layout_.tasks.size() * sizeof(Task)),
            .padding_ratio = layout_.nnz == 0
                                 ? 0
                                 : static_cast<double>(layout_.stored_entries()) / layout_.nnz - 1,
            .steps = steps_};
  }

  DeviceSpan<const std::int32_t> row_order() const override { return layout_.row_order.view(); }

 private:
  template <class Rows>
  void launch(const Kernel& product, StreamRef stream) const {
    constexpr int warps = kThreads / 32;
    const int blocks = (product.task_count + warps - 1) / warps;
    dasp::multiply<Rows><<<blocks, kThreads, 0, stream>>>(product);
    check_launch();
  }

  DeviceCsr<Vector> source_;
  std::vector<BuildStep> steps_;
  DeviceLayout<Stored> layout_;
  DeviceBuffer<Accumulator> partials_;
  DeviceBuffer<std::uint32_t> tickets_;
  bool matrix_unit_ = device_properties().fp64_tensor_cores();
};

}  // namespace
}  // namespace dasp

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_dasp_cuda(const DeviceCsr<Value>& matrix,
                                                   StreamRef stream) {
  return std::make_unique<dasp::DaspCuda<Value, Value>>(matrix, stream);
}

std::unique_ptr<CudaKernel<double>> build_dasp_mixed_cuda(const DeviceCsr<double>& matrix,
                                                          StreamRef stream) {
  return std::make_unique<dasp::DaspCuda<float, double>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_dasp_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_dasp_cuda(const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_dasp_cuda(const DeviceCsr<Half>&, StreamRef);

}  // namespace trireme
