// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor: y is zeroed, and the entries are added to it by a segmented reduction.
#include "base/stopwatch.hpp"
#include "kernels/peers/coo/coo.hpp"
#include "kernels/peers/coordinates.cuh"

namespace trireme {
namespace {

template <class Value>
class CooCuda final : public CudaKernel<Value> {
 public:
  CooCuda(const DeviceCsr<Value>& matrix, StreamRef stream) {
    const Stopwatch watch;
    entries_ = coordinates::DeviceCoordinates<Value>(matrix, 0, stream);
    synchronize(stream);
    seconds_ = watch.seconds();
  }

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override {
    if (accumulate == Accumulate::no) fill_zero(y, stream);
    entries_.add_product(x, y, stream);
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) override {
    entries_.update_values(values, stream);
  }

  KernelStatistics statistics() const override {
    return {.stored_bytes = entries_.bytes(),
            .padding_ratio = 0,
            .steps = {{"write the rows of the entries", seconds_}}};
  }

 private:
  coordinates::DeviceCoordinates<Value> entries_;
  double seconds_ = 0;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_coo_cuda(const DeviceCsr<Value>& matrix,
                                                  StreamRef stream) {
  return std::make_unique<CooCuda<Value>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_coo_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_coo_cuda(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
