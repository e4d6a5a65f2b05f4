// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor: all rows are padded to the longest one, which the device finds.
#include "base/stopwatch.hpp"
#include "kernels/peers/ell/ell.hpp"
#include "kernels/peers/ell/memory.hpp"
#include "kernels/peers/padded_rows.cuh"

namespace trireme {
namespace {

using padded::blocks_for;
using padded::kThreads;

// Sets *longest, which is 0 before, to the length of the longest row. Maxima of integers do not
// depend on their order.
__global__ void find_longest(std::int64_t rows, const std::int32_t* row_ptr,
                             std::int32_t* longest) {
  const std::int64_t row = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x;
  const std::int32_t length = row < rows ? row_ptr[row + 1] - row_ptr[row] : 0;
  const std::int32_t of_warp = __reduce_max_sync(0xffffffffu, length);
  if (threadIdx.x % 32 == 0 && of_warp > 0) atomicMax(longest, of_warp);
}

template <class Value>
std::int64_t longest_row(const DeviceCsr<Value>& a, StreamRef stream) {
  if (a.rows == 0) return 0;
  const ScratchBuffer<std::int32_t> longest(1, stream);
  fill_zero(longest.span(), stream);
  find_longest<<<blocks_for(a.rows), kThreads, 0, stream>>>(a.rows, a.row_ptr.data(),
                                                            longest.data());
  check_launch();
  return read_back(longest.data(), stream);
}

template <class Value>
class EllCuda final : public CudaKernel<Value> {
 public:
  EllCuda(const DeviceCsr<Value>& matrix, StreamRef stream) : nnz_(matrix.nnz) {
    Stopwatch watch;
    const std::int64_t width = longest_row(matrix, stream);
    ell::require_memory(matrix.rows, matrix.nnz, width, sizeof(Value));
    steps_.push_back({"find the longest row", watch.lap()});
    rows_ = padded::DevicePaddedRows<Value>(matrix, width, stream);
    synchronize(stream);
    steps_.push_back({"pad rows", watch.lap()});
  }

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override {
    rows_.multiply(x, y, accumulate, stream);
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) override {
    rows_.update_values(values, stream);
  }

  KernelStatistics statistics() const override {
    const auto nnz = static_cast<double>(nnz_);
    return {.stored_bytes = rows_.bytes(),
            .padding_ratio = nnz > 0 ? static_cast<double>(rows_.entries()) / nnz - 1 : 0,
            .steps = steps_};
  }

 private:
  std::int64_t nnz_;
  padded::DevicePaddedRows<Value> rows_;
  std::vector<BuildStep> steps_;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_ell_cuda(const DeviceCsr<Value>& matrix,
                                                  StreamRef stream) {
  return std::make_unique<EllCuda<Value>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_ell_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_ell_cuda(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
