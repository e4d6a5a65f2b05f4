// SPDX-License-Identifier: BSD-3-Clause
// CSR on CUDA with `width` threads per row: Bell and Garland, SC 2009, section 4. csr-scalar has
// width 1.
//
//   row r:   | e0 e1 e2 e3 | e4 e5 e6 e7 | e8 ...      width = 4: thread t adds e_t, e_t+4, ...,
//              t0 t1 t2 t3   t0 t1 t2 t3   t0          then a shuffle tree adds the 4 sums
//
// Bytes moved (double): 12 per nonzero and 12 per row. The result is deterministic: the order of
// the additions depends on the row length and the width only.
#include <algorithm>
#include <type_traits>

#include "device/block_sum.cuh"
#include "device/device.hpp"
#include "kernels/csr/csr.hpp"
#include "kernels/csr/vectors.hpp"
#include "kernels/numeric.cuh"
#include "kernels/row_block_dot.hpp"

namespace trireme {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerMultiprocessor = 8;

template <int width, bool with_dot, class Stored, class Vector>
__global__ void __launch_bounds__(kThreads)
    multiply_rows(std::int64_t rows, const std::int32_t* __restrict__ row_ptr,
                  const std::int32_t* __restrict__ col_idx, const Stored* __restrict__ values,
                  const Vector* __restrict__ x, const Vector* __restrict__ x_of_rows,
                  const float* __restrict__ diagonal, Vector* __restrict__ y, bool add,
                  double* __restrict__ partials) {
  const int lane = threadIdx.x % width;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads / width;
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kThreads) / width;
  double dot = 0;
  // All lanes of a warp do the same number of rounds, because they shuffle.
  for (std::int64_t base = first; base < rows; base += stride) {
    const std::int64_t row = base + threadIdx.x / width;
    Sum<Vector> sum{};
    if (row < rows) {
      const std::int32_t end = row_ptr[row + 1];
      for (std::int32_t k = row_ptr[row] + lane; k < end; k += width)
        sum += load<Sum<Vector>>(values + k) * load<Sum<Vector>>(x + col_idx[k]);
    }
    if constexpr (width > 1) sum = warp_sum<width>(sum);
    if (lane == 0 && row < rows) {
      sum = with_diagonal(sum, diagonal, x_of_rows, row);
      store_or_add(y + row, sum, add);
      if constexpr (with_dot) dot += static_cast<double>(sum) * load<Sum<Vector>>(x_of_rows + row);
    }
  }
  if constexpr (with_dot) {
    dot = block_sum<kThreads>(dot);
    if (threadIdx.x == 0) partials[blockIdx.x] = dot;
  }
}

template <class Stored, class Vector>
class CsrCuda final : public CudaKernel<Vector>, public RowBlockDot<Vector> {
  static constexpr bool kOwnsValues = !std::is_same_v<Stored, Vector>;
  static constexpr bool kMultipliesVectors = std::is_floating_point_v<Vector>;  // not FP16

 public:
  CsrCuda(const DeviceCsr<Vector>& matrix, int width, StreamRef stream)
      : a_(matrix), width_(width) {
    const int multiprocessors = trireme::multiprocessors();
    resident_threads_ = std::int64_t{multiprocessors} * kThreads * kBlocksPerMultiprocessor;
    const std::int64_t needed = (a_.rows * width + kThreads - 1) / kThreads;
    blocks_ = static_cast<int>(std::clamp<std::int64_t>(
        needed, 1, static_cast<std::int64_t>(multiprocessors) * kBlocksPerMultiprocessor));
    if constexpr (kOwnsValues) {
      own_values_ = DeviceBuffer<Stored>(a_.nnz, stream);
      convert(a_.values, own_values_.span(), stream);
      synchronize(stream);
    }
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    launch<false>(x, x, y, accumulate == Accumulate::yes, nullptr, stream);
  }

  // csr-scalar has one lane per row and multiplies one vector only.
  bool multiplies_vectors() const override { return kMultipliesVectors && width_ > 1; }
  void multi_multiply(DeviceMultiVector<const Vector> x, DeviceMultiVector<Vector> y,
                      Accumulate accumulate, StreamRef stream) override {
    if constexpr (kMultipliesVectors)
      multiply_vectors<Stored, Vector>({a_.rows, a_.row_ptr.data(), a_.col_idx.data(), values()},
                                       {width_, resident_threads_}, x, y,
                                       accumulate == Accumulate::yes, diagonal_, stream);
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
                                                  (a_.rows + 1) * sizeof(std::int32_t)),
        .padding_ratio = 0,
        .steps = {}};
  }

  bool add_diagonal(DeviceSpan<const float> diagonal) override {
    diagonal_ = diagonal;
    return true;
  }

  std::size_t dot_partials() const override { return a_.rows == a_.cols ? blocks_ : 0; }
  void multiply_and_dot(DeviceSpan<const Vector> x, DeviceSpan<Vector> y,
                        DeviceSpan<double> partials, StreamRef stream) override {
    launch<true>(x, x, y, false, partials.data(), stream);
  }
  std::size_t block_dot_partials() const override { return blocks_; }
  void multiply_block_and_dot(DeviceSpan<const Vector> x, DeviceSpan<const Vector> x_of_rows,
                              DeviceSpan<Vector> y, DeviceSpan<double> partials,
                              StreamRef stream) override {
    launch<true>(x, x_of_rows, y, false, partials.data(), stream);
  }

 private:
  const Stored* values() const {
    if constexpr (kOwnsValues)
      return own_values_.data();
    else
      return a_.values.data();
  }

  template <bool with_dot>
  void launch(DeviceSpan<const Vector> x, DeviceSpan<const Vector> x_of_rows, DeviceSpan<Vector> y,
              bool add, double* partials, StreamRef stream) {
    if (a_.rows == 0 && !with_dot) return;
    const auto run = [&](auto width) {
      multiply_rows<decltype(width)::value, with_dot><<<blocks_, kThreads, 0, stream>>>(
          a_.rows, a_.row_ptr.data(), a_.col_idx.data(), values(), x.data(), x_of_rows.data(),
          diagonal_.data(), y.data(), add, partials);
    };
    switch (width_) {
      case 1:
        run(std::integral_constant<int, 1>{});
        break;
      case 2:
        run(std::integral_constant<int, 2>{});
        break;
      case 4:
        run(std::integral_constant<int, 4>{});
        break;
      case 8:
        run(std::integral_constant<int, 8>{});
        break;
      case 16:
        run(std::integral_constant<int, 16>{});
        break;
      default:
        run(std::integral_constant<int, 32>{});
        break;
    }
    check_launch();
  }

  DeviceCsr<Vector> a_;
  int width_;
  int blocks_ = 1;
  std::int64_t resident_threads_ = 0;
  DeviceBuffer<Stored> own_values_;
  DeviceSpan<const float> diagonal_;
};

// The smallest power of two in [2, 32] that covers the mean row in about two rounds, or in one
// round where the matrix has too few rows to fill the GPU.
template <class Value>
int width_for(const DeviceCsr<Value>& matrix) {
  const double mean = matrix.rows ? static_cast<double>(matrix.nnz) / matrix.rows : 0;
  int width = 2;
  while (width < 32 && 2 * width < mean) width *= 2;
  const std::int64_t threads =
      std::int64_t{multiprocessors()} * kThreads * kBlocksPerMultiprocessor;
  while (width < 32 && width < mean && matrix.rows * width < threads) width *= 2;
  return width;
}

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_csr_scalar_cuda(const DeviceCsr<Value>& matrix,
                                                         StreamRef stream) {
  return std::make_unique<CsrCuda<Value, Value>>(matrix, 1, stream);
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_csr_vector_cuda(const DeviceCsr<Value>& matrix,
                                                         StreamRef stream) {
  return std::make_unique<CsrCuda<Value, Value>>(matrix, width_for(matrix), stream);
}

std::unique_ptr<CudaKernel<double>> build_csr_vector_mixed_cuda(const DeviceCsr<double>& matrix,
                                                                StreamRef stream) {
  return std::make_unique<CsrCuda<float, double>>(matrix, width_for(matrix), stream);
}

template std::unique_ptr<CudaKernel<double>> build_csr_scalar_cuda(const DeviceCsr<double>&,
                                                                   StreamRef);
template std::unique_ptr<CudaKernel<float>> build_csr_scalar_cuda(const DeviceCsr<float>&,
                                                                  StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_csr_scalar_cuda(const DeviceCsr<Half>&, StreamRef);
template std::unique_ptr<CudaKernel<double>> build_csr_vector_cuda(const DeviceCsr<double>&,
                                                                   StreamRef);
template std::unique_ptr<CudaKernel<float>> build_csr_vector_cuda(const DeviceCsr<float>&,
                                                                  StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_csr_vector_cuda(const DeviceCsr<Half>&, StreamRef);

}  // namespace trireme
