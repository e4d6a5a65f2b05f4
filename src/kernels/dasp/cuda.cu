// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor: y = A x on the DASP layout in one launch (section 3.3 of the paper). One warp
// does one task (plan.hpp).
//
//   long_groups  The matrix unit multiplies about 512 entries of a long row. Where a row has
//                several tasks, each task stores its sum in memory. A ticket tells the task that
//                finishes last, and that task adds the sums in their order.
//   rows8        The matrix unit multiplies the 8 x 4 blocks of a row block. The irregular ends of
//                its rows, at most three entries each, are padded in registers to one more block.
//   mixed8       The same for a row block of several lengths.
//   rows32       One lane sums one row of four row blocks by fused multiply-add. These rows are
//                shorter than 32: for one to seven blocks the matrix unit would spend more on
//                arranging its operands than it saves (measured on poisson27 with 32-bit columns:
//                176 us on the matrix unit, 144 us this way). FP16 does the same for longer rows
//                where there are many (plan.hpp): the gathers of a warp are those of 32 neighbours.
//   short        One lane multiplies one piece by fused multiply-add: its 4 entries take one load
//                of columns and two loads of values.
//
// Bytes moved: per stored entry its value and 4 bytes for the column, or 2 where the columns of a
// task lie within 65536 of each other, or 0 where those of a task of a long row are consecutive
// (narrow_columns.cu); per row its entry of y and 4 bytes for the row number, or 0 where the rows
// of a task are neighbours; 20 per task. Values and columns are streamed (ld.global.cs, the cache
// bypass of the paper); x is read through the L1 cache. The tasks are in the caller's row order, so
// that neighbouring rows of different classes share cache lines of x and y.
//
// FP16 sums in FP32, by m16n8k16 in rows8, mixed8 and long rows. FP32 uses fused multiply-add,
// because TF32 would round the values. The result is deterministic: the order in which a row is
// summed depends on the layout only.
#include <algorithm>

#include "device/device.hpp"
#include "kernels/dasp/dasp.hpp"
#include "kernels/dasp/device_layout.hpp"
#include "kernels/dasp/strips.cuh"
#include "kernels/dasp/warp_tasks.cuh"

namespace trireme {
namespace dasp {
namespace {

template <class Value>
const Native<Value>* native(const Value* data) {
  return reinterpret_cast<const Native<Value>*>(data);
}

// The first blocks take the heavy tasks, one per warp. Every other block takes p.tasks_per_block
// consecutive tasks. Rows is the class that sums rows (fragments.cuh).
template <class Rows, bool with_dot, bool any_near, class Stored, class Vector>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    multiply(Product<Stored, Vector> p) {
  constexpr int warps = kThreads / 32;
  const auto block = static_cast<std::int32_t>(blockIdx.x);
  const bool heavy = block < p.heavy_blocks;
  const std::int32_t first =
      heavy ? block * warps : p.heavy_tasks + (block - p.heavy_blocks) * p.tasks_per_block;
  const std::int32_t last =
      heavy ? min(first + warps, p.heavy_tasks) : min(first + p.tasks_per_block, p.task_count);
  const Lane lane;
  Output<with_dot, Stored, Vector> out(p);
  std::int32_t mine = first + static_cast<int>(threadIdx.x) / 32;
  if (mine < last) {
    const auto base_of = [&](std::int32_t at) { return any_near ? __ldg(p.column_base + at) : -1; };
    Task task = load_task(p.tasks + mine);
    std::int32_t base = base_of(mine);
    for (;;) {
      mine += warps;
      Task next;
      std::int32_t next_base = -1;
      if (mine < last) {  // The next task is loaded before this task is done.
        next = load_task(p.tasks + mine);
        next_base = base_of(mine);
      }
      if (any_near && base >= 0)
        work_on<Rows, true>(task, base, p, lane, out);
      else
        work_on<Rows, false>(task, base, p, lane, out);
      if (mine >= last) break;
      task = next;
      base = next_base;
    }
  }
  if constexpr (with_dot) {
    const double sum = block_sum<kThreads>(out.dot());
    if (threadIdx.x == 0) p.dot_partials[blockIdx.x] = sum;
  }
}

// Tasks per block. Where tasks are small, a warp takes several of them. Enough blocks for every
// multiprocessor must remain.
std::int32_t choose_tasks_per_block(std::int64_t light_tasks, std::int64_t entries,
                                    int multiprocessors) {
  constexpr int warps = kThreads / 32;
  const std::int64_t by_size = kEntriesPerWarp * light_tasks / std::max<std::int64_t>(entries, 1);
  const std::int64_t by_count =
      light_tasks / (2LL * warps * kBlocksPerMultiprocessor * multiprocessors);
  return static_cast<std::int32_t>(
      warps * std::clamp<std::int64_t>(std::min(by_size, by_count), 1, kMaxTasksPerWarp));
}

template <class Stored, class Vector>
class DaspCuda final : public CudaKernel<Vector> {
  using Kernel = Product<Native<Stored>, Native<Vector>>;
  using Accumulator = typename Kernel::Accumulator;

 public:
  DaspCuda(const DeviceCsr<Vector>& matrix, StreamRef stream)
      : source_(matrix), layout_(build_on_device<Stored>(matrix, steps_, stream)) {
    if (layout_.long_tasks > 0) {
      partials_ = DeviceBuffer<Accumulator>(layout_.long_tasks * kMaxStrip, stream);
      tickets_ = DeviceBuffer<std::uint32_t>(layout_.counts.long_rows, stream);
      fill_zero(tickets_.span(), stream);
      synchronize(stream);
    }
    constexpr int warps = kThreads / 32;
    const DeviceProperties device = device_properties();
    matrix_unit_ = device.fp64_tensor_cores();
    const std::int64_t light_tasks = layout_.tasks.size() - layout_.heavy_tasks;
    tasks_per_block_ =
        choose_tasks_per_block(light_tasks, layout_.light_entries, device.multiprocessors);
    heavy_blocks_ = (layout_.heavy_tasks + warps - 1) / warps;
    blocks_ = heavy_blocks_ +
              static_cast<std::int32_t>((light_tasks + tasks_per_block_ - 1) / tasks_per_block_);
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    run<false>(product(x, y, accumulate, nullptr), stream);
  }

  bool multiplies_vectors() const override { return kMultipliesVectors<Vector>; }
  void multi_multiply(DeviceMultiVector<const Vector> x, DeviceMultiVector<Vector> y,
                      Accumulate accumulate, StreamRef stream) override {
    if constexpr (kMultipliesVectors<Vector>)
      multiply_strips(product({}, {}, accumulate, nullptr), x, y, accumulate, stream);
  }

  bool add_diagonal(DeviceSpan<const float> diagonal) override {
    diagonal_ = diagonal;
    return true;
  }

  std::size_t dot_partials() const override {
    return layout_.rows == layout_.cols && layout_.rows > 0 ? blocks_ + layout_.counts.long_rows
                                                            : 0;
  }
  void multiply_and_dot(DeviceSpan<const Vector> x, DeviceSpan<Vector> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    run<true>(product(x, y, Accumulate::no, partials.data()), stream);
  }

  void update_values(DeviceSpan<const Vector> values, StreamRef stream) override {
    source_.values = values;
    update_on_device(layout_, source_, stream);
  }

  KernelStatistics statistics() const override {
    // The row numbers of consecutive tasks are counted although a product does not read them.
    const DeviceLayout<Stored>& a = layout_;
    const std::int64_t columns =
        a.stored_entries() * 4 - 2 * a.near_entries - 4 * a.consecutive_entries;
    const auto tasks = static_cast<std::int64_t>(a.tasks.size() * sizeof(Task) +
                                                 a.column_base.size() * sizeof(std::int32_t));
    return {.stored_bytes = static_cast<std::int64_t>(a.stored_entries() * sizeof(Stored)) +
                            columns + a.rows * 4 + tasks,
            .padding_ratio = a.nnz == 0 ? 0 : static_cast<double>(a.stored_entries()) / a.nnz - 1,
            .steps = steps_};
  }

  DeviceBuffer<std::int32_t> row_order(StreamRef stream) const override {
    return rows_by_task(layout_, source_.row_ptr, stream);
  }
  // Rows of the same length keep their relative order in P A P^T, and the tasks keep theirs. The
  // tasks therefore have the same rows as before.
  std::unique_ptr<CudaKernel<Vector>> in_row_order(const DeviceCsr<Vector>& permuted,
                                                   StreamRef stream) const override {
    return std::make_unique<DaspCuda>(permuted, stream);
  }

 private:
  Kernel product(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                 double* dot_partials) const {
    const DeviceLayout<Stored>& a = layout_;
    return {.long_rows = {native(a.long_val.data()), a.long_cid.data(), nullptr},
            .regular = {native(a.reg_val.data()), a.reg_cid.data(), a.reg_offset.data()},
            .irregular = {native(a.irreg_val.data()), a.irreg_cid.data(), a.irreg_offset.data()},
            .short_rows = {native(a.short_val.data()), a.short_cid.data(), a.short_offset.data()},
            .rowblock_ptr = a.rowblock_ptr.data(),
            .irreg_ptr = a.irreg_ptr.data(),
            .row_order = a.row_order.data(),
            .tasks = a.tasks.data(),
            .column_base = a.column_base.data(),
            .same_columns = matrix_unit_ ? a.same_columns.data() : nullptr,
            .long_task_ptr = a.long_task_ptr.data(),
            .partials = partials_.data(),
            .tickets = tickets_.data(),
            .task_count = static_cast<std::int32_t>(a.tasks.size()),
            .tasks_per_block = tasks_per_block_,
            .first_medium = static_cast<std::int32_t>(a.counts.first_medium()),
            .first_one = kPiece * a.counts.pieces(),
            .heavy_tasks = a.heavy_tasks,
            .heavy_blocks = heavy_blocks_,
            .add = accumulate == Accumulate::yes,
            .dot_partials = dot_partials,
            .x = native(x.data()),
            .y = const_cast<Native<Vector>*>(native(y.data())),
            .diagonal = diagonal_.data()};
  }

  template <bool with_dot>
  void run(const Kernel& product, StreamRef stream) const {
    if (blocks_ == 0) return;
    if constexpr (std::is_same_v<Vector, double>) {
      if (matrix_unit_)
        launch<DoubleMmaSum, with_dot>(product, stream);
      else
        launch<FmaSum<double>, with_dot>(product, stream);
    } else if constexpr (std::is_same_v<Vector, Half>) {
      launch<HalfMmaSum, with_dot>(product, stream);
    } else {
      launch<FmaSum<Accumulator>, with_dot>(product, stream);
    }
  }
  template <class Rows, bool with_dot>
  void launch(const Kernel& product, StreamRef stream) const {
    const auto kernel = layout_.column_base.empty()
                            ? dasp::multiply<Rows, with_dot, false, Native<Stored>, Native<Vector>>
                            : dasp::multiply<Rows, with_dot, true, Native<Stored>, Native<Vector>>;
    kernel<<<blocks_, kThreads, 0, stream>>>(product);
    check_launch();
  }

  DeviceCsr<Vector> source_;
  std::vector<BuildStep> steps_;
  DeviceLayout<Stored> layout_;
  DeviceBuffer<Accumulator> partials_;
  DeviceBuffer<std::uint32_t> tickets_;
  DeviceSpan<const float> diagonal_;
  std::int32_t tasks_per_block_ = 1;
  std::int32_t heavy_blocks_ = 0;
  std::int32_t blocks_ = 0;
  bool matrix_unit_ = false;
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
