// SPDX-License-Identifier: BSD-3-Clause
// The CUDA executor: one launch per product, in which one thread block multiplies one tile of 2048
// nonzeros. kernels/multiply_tile.cuh documents the algorithm and the bytes moved.
#include "kernels/albus/albus.hpp"

#include <type_traits>

#include "base/stopwatch.hpp"
#include "kernels/multiply_tile.cuh"
#include "kernels/row_block_dot.hpp"

namespace trireme {
namespace {

using tiles::kThreads;

template <class Stored, class Vector, bool with_dot>
__global__ void __launch_bounds__(kThreads)
    multiply_tiles(tiles::TiledCsr<Stored> a, const Vector* __restrict__ x,
                   const Vector* __restrict__ x_of_rows, const float* __restrict__ diagonal,
                   Vector* __restrict__ y, bool add, double* __restrict__ partials) {
  __shared__ tiles::TileMemory<Sum<Vector>> memory;
  const auto tile = static_cast<std::int32_t>(blockIdx.x);
  const tiles::RowSink<Vector, with_dot> sink{
      x_of_rows, diagonal, y, nullptr, add, with_dot ? partials + gridDim.x : nullptr};
  double dot = tiles::multiply_tile(a, tile, x, sink, memory);
  if constexpr (with_dot) {
    dot = block_sum<kThreads>(dot);
    if (threadIdx.x == 0) partials[tile] = dot;
  }
}

template <class Stored, class Vector>
class AlbusCuda final : public CudaKernel<Vector>, public RowBlockDot<Vector> {
  static constexpr bool kOwnsValues = !std::is_same_v<Stored, Vector>;

 public:
  AlbusCuda(const DeviceCsr<Vector>& matrix, StreamRef stream) : a_(matrix) {
    const Stopwatch watch;
    cut_ = tiles::TileCut<Sum<Vector>>(a_.rows, a_.nnz, a_.row_ptr.data(), stream);
    if constexpr (kOwnsValues) {
      own_values_ = DeviceBuffer<Stored>(a_.nnz, stream);
      convert(a_.values, own_values_.span(), stream);
    }
    synchronize(stream);
    steps_.push_back({"cut into tiles", watch.seconds()});
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    if (a_.rows == 0) return;
    multiply_tiles<Stored, Vector, false>
        <<<cut_.count(), kThreads, 0, stream>>>(tiled(), x.data(), x.data(), diagonal_.data(),
                                                y.data(), accumulate == Accumulate::yes, nullptr);
    check_launch();
  }

  void update_values(DeviceSpan<const Vector> values, StreamRef stream) override {
    if constexpr (kOwnsValues)
      convert(values, own_values_.span(), stream);
    else
      a_.values = values;
  }

  KernelStatistics statistics() const override {
    return {
        .stored_bytes = static_cast<std::int64_t>(a_.nnz * (sizeof(Stored) + sizeof(std::int32_t)) +
                                                  (a_.rows + 1) * sizeof(std::int32_t)) +
                        cut_.bytes(),
        .padding_ratio = 0,
        .steps = steps_};
  }

  bool add_diagonal(DeviceSpan<const float> diagonal) override {
    diagonal_ = diagonal;
    return true;
  }

  std::size_t dot_partials() const override {
    return a_.rows == a_.cols ? block_dot_partials() : 0;
  }
  void multiply_and_dot(DeviceSpan<const Vector> x, DeviceSpan<Vector> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    multiply_block_and_dot(x, x, y, partials, stream);
  }
  std::size_t block_dot_partials() const override {
    return 2 * static_cast<std::size_t>(cut_.count());
  }
  void multiply_block_and_dot(DeviceSpan<const Vector> x, DeviceSpan<const Vector> x_of_rows,
                              DeviceSpan<Vector> y, DeviceSpan<double> partials,
                              StreamRef stream) override {
    multiply_tiles<Stored, Vector, true><<<cut_.count(), kThreads, 0, stream>>>(
        tiled(), x.data(), x_of_rows.data(), diagonal_.data(), y.data(), false, partials.data());
    check_launch();
  }

 private:
  tiles::TiledCsr<Stored> tiled() const {
    if constexpr (kOwnsValues)
      return cut_.template view<Stored>(a_.row_ptr.data(), a_.col_idx.data(), own_values_.data());
    else
      return cut_.template view<Stored>(a_.row_ptr.data(), a_.col_idx.data(), a_.values.data());
  }

  DeviceCsr<Vector> a_;
  tiles::TileCut<Sum<Vector>> cut_;
  DeviceBuffer<Stored> own_values_;
  DeviceSpan<const float> diagonal_;
  std::vector<BuildStep> steps_;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_albus_cuda(const DeviceCsr<Value>& matrix,
                                                    StreamRef stream) {
  return std::make_unique<AlbusCuda<Value, Value>>(matrix, stream);
}

std::unique_ptr<CudaKernel<double>> build_albus_mixed_cuda(const DeviceCsr<double>& matrix,
                                                           StreamRef stream) {
  return std::make_unique<AlbusCuda<float, double>>(matrix, stream);
}

template std::unique_ptr<CudaKernel<double>> build_albus_cuda(const DeviceCsr<double>&, StreamRef);
template std::unique_ptr<CudaKernel<float>> build_albus_cuda(const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_albus_cuda(const DeviceCsr<Half>&, StreamRef);

}  // namespace trireme
