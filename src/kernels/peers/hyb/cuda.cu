// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor: the padded rows write y, and the entries with coordinates are added to it. The
// width is that of the host (layout.hpp), from the lengths of the rows, which the device sorts.
#include <algorithm>

#include "base/stopwatch.hpp"
#include "device/check.hpp"
#include "device/sort.hpp"
#include "kernels/peers/coordinates.cuh"
#include "kernels/peers/hyb/hyb.hpp"
#include "kernels/peers/hyb/layout.hpp"
#include "kernels/peers/padded_rows.cuh"

namespace trireme {
namespace {

template <class Value>
std::int64_t choose_width(const DeviceCsr<Value>& a, StreamRef stream) {
  const std::int64_t enough = std::max(hyb::kMinRows, (a.rows + 2) / 3);
  if (a.rows < enough) return 0;
  // The kernel also writes an element after the last row, which is not sorted.
  const ScratchBuffer<std::int32_t> lengths(a.rows + 1, stream), sorted(a.rows, stream);
  coordinates::detail::
      count_entries<<<coordinates::blocks_for(a.rows + 1), coordinates::kThreads, 0, stream>>>(
          a.rows, a.row_ptr.data(), 0, lengths.data());
  check_launch();
  sort_keys_descending(lengths.view().subspan(0, a.rows), sorted.span(), stream);
  return read_back(sorted.data() + enough - 1, stream);
}

template <class Value>
class HybCuda final : public CudaKernel<Value> {
 public:
  HybCuda(const DeviceCsr<Value>& matrix, StreamRef stream) : nnz_(matrix.nnz) {
    Stopwatch watch;
    const std::int64_t width = choose_width(matrix, stream);
    steps_.push_back({"choose the width", watch.lap()});
    ell_ = padded::DevicePaddedRows<Value>(matrix, width, stream);
    synchronize(stream);
    steps_.push_back({"pad rows", watch.lap()});
    coo_ = coordinates::DeviceCoordinates<Value>(matrix, width, stream);
    synchronize(stream);
    steps_.push_back({"set entries apart", watch.lap()});
  }

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override {
    ell_.multiply(x, y, accumulate, stream);
    coo_.add_product(x, y, stream);
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) override {
    ell_.update_values(values, stream);
    coo_.update_values(values, stream);
  }

  KernelStatistics statistics() const override {
    const auto nnz = static_cast<double>(nnz_);
    const auto stored = static_cast<double>(ell_.entries() + coo_.entries());
    return {.stored_bytes = ell_.bytes() + coo_.bytes(),
            .padding_ratio = nnz > 0 ? stored / nnz - 1 : 0,
            .steps = steps_};
  }

 private:
  std::int64_t nnz_;
  padded::DevicePaddedRows<Value> ell_;
  coordinates::DeviceCoordinates<Value> coo_;
  std::vector<BuildStep> steps_;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_hyb_cuda(const DeviceCsr<Value>& matrix,
                                                  StreamRef stream) {
  return std::make_unique<HybCuda<Value>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_hyb_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_hyb_cuda(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
