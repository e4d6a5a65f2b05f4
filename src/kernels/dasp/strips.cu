// SPDX-License-Identifier: BSD-3-Clause
// Y = A X on the DASP layout: one launch per strip of 8, 16 or 32 vectors (kernels/strip.cuh). One
// warp does one task, as in a product with one vector (cuda.cu).
//
// What the matrix unit can do here. With one vector, row g of an 8 x 4 block needs its own column g
// of B, and the diagonal of C is the result. With eight vectors, the columns of B are the vectors,
// so that the 8 rows of A must share the 4 rows of X that B holds. In general they do not: 8 rows
// have 32 different columns. Two ways remain:
//
//   by lanes    A group of lanes sums one row by fused multiply-add; each lane has some of the
//               vectors. All lanes of a group load the same four entries of their row, and no lane
//               needs another lane's sum. This is the way of rows that share no columns, of short
//               rows, and of long rows, which would fill one of the 8 rows of A.
//   by blocks   Rows of one node of a mesh have the same columns. Where a row block has at most
//               four lists of columns (shared_columns.cu), each list is one matrix product, with
//               zeros in A for all other rows (shared_rows.cuh). X is read once per list in place
//               of once per row, which is what counts: arithmetic is not the limit of any product
//               here.
//
// One matrix product per row of a block would do without lists, but reads as much of X as the first
// way does.
//
// Bytes moved (FP64, N vectors in strips): per stored entry and strip 10 or 12, as with one vector;
// per row 16 N for X and Y. From the L1 cache each entry takes 8 N bytes of X in the first way, and
// lists / 8 of that in the second. Values and columns are streamed, and a task asks the L2 cache
// for all of its own at its start. The result is deterministic: the order in which a row is summed
// depends on the layout and on the widths of the strips only.
#include "kernels/dasp/strips.cuh"

#include "kernels/dasp/strip_tasks.cuh"

namespace trireme::dasp {
namespace {

constexpr int kWarps = kThreads / 32;

// One warp does one task.
template <class Stored, class Strip>
__global__ void __launch_bounds__(kThreads, kBlocksOfStrips<Strip>)
    multiply_strip(const __grid_constant__ Product<Stored, typename Strip::Vector> p,
                   const __grid_constant__ Strip strip) {
  const auto mine = static_cast<std::int32_t>(blockIdx.x * kWarps + threadIdx.x / 32);
  if (mine >= p.task_count) return;
  const Task task = load_task(p.tasks + mine);
  const std::int32_t base = p.column_base == nullptr ? -1 : __ldg(p.column_base + mine);
  const std::uint32_t same = p.same_columns == nullptr ? 0 : __ldg(p.same_columns + mine);
  multiply_task(task, base, same, p, strip, Group<Strip>());
}

}  // namespace

template <class Stored, class Vector>
void multiply_strips(const Product<Stored, Vector>& product, DeviceMultiVector<const Vector> x,
                     DeviceMultiVector<Vector> y, Accumulate accumulate, StreamRef stream) {
  if (product.task_count == 0) return;
  const unsigned blocks = (product.task_count + kWarps - 1) / kWarps;
  for_each_strip(x, y, accumulate, product.diagonal, [&]<class Strip>(const Strip& strip) {
    multiply_strip<Stored><<<blocks, kThreads, 0, stream>>>(product, strip);
    check_launch();
  });
}

template void multiply_strips(const Product<double, double>&, DeviceMultiVector<const double>,
                              DeviceMultiVector<double>, Accumulate, StreamRef);
template void multiply_strips(const Product<float, double>&, DeviceMultiVector<const double>,
                              DeviceMultiVector<double>, Accumulate, StreamRef);
template void multiply_strips(const Product<float, float>&, DeviceMultiVector<const float>,
                              DeviceMultiVector<float>, Accumulate, StreamRef);

}  // namespace trireme::dasp
