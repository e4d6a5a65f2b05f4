// SPDX-License-Identifier: BSD-3-Clause
// The products of several vectors of cuSPARSE, in CSR, with each of its algorithms.
#include "kernels/cusparse/cusparse.hpp"
#include "kernels/cusparse/vectors_product.hpp"

namespace trireme {
namespace {

// cuSPARSE is not called for a matrix without nonzeros. A change of the number of vectors, of the
// layout or of the values makes descriptors and preprocesses again, at the next product.
template <class Value>
class CusparseSpmm final : public CudaKernel<Value> {
 public:
  CusparseSpmm(const DeviceCsr<Value>& matrix, cusparseSpMMAlg_t algorithm, StreamRef stream)
      : a_(matrix) {
    if (a_.nnz == 0) return;
    product_ = std::make_unique<cusparse::VectorsProduct<Value>>(matrix, algorithm);
    prepare_for_one(stream);
  }

  void multiply(DeviceSpan<const Value> x, DeviceSpan<Value> y, Accumulate accumulate,
                StreamRef stream) override {
    multi_multiply({x.data(), a_.cols, 1}, {y.data(), a_.rows, 1}, accumulate, stream);
  }

  bool multiplies_vectors() const override { return true; }
  // The vectors may also lie one after the other.
  void multi_multiply(DeviceMultiVector<const Value> x, DeviceMultiVector<Value> y,
                      Accumulate accumulate, StreamRef stream) override {
    if (x.width == 0 || a_.rows == 0) return;
    if (product_) return product_->multiply(x, y, accumulate, stream);
    if (accumulate == Accumulate::no) clear(y, stream);
  }

  void update_values(DeviceSpan<const Value> values, StreamRef stream) override {
    if (!product_) return;
    product_->update_values(values);
    prepare_for_one(stream);
  }

  KernelStatistics statistics() const override {
    return {
        .stored_bytes = static_cast<std::int64_t>(a_.nnz * (sizeof(Value) + sizeof(std::int32_t)) +
                                                  (a_.rows + 1) * sizeof(std::int32_t)) +
                        (product_ ? product_->workspace_bytes() : 0),
        .padding_ratio = 0,
        .steps = {}};
  }

 private:
  // multiply() allocates nothing after that.
  void prepare_for_one(StreamRef stream) {
    ScratchBuffer<Value> x(a_.cols, stream), y(a_.rows, stream);
    fill_zero(x.span(), stream);
    multiply(x.view(), y.span(), Accumulate::no, stream);
    synchronize(stream);
  }

  // Writes nothing between the vectors.
  static void clear(DeviceMultiVector<Value> y, StreamRef stream) {
    const bool side = y.side_by_side();
    const std::int64_t lines = side ? y.rows : y.width, length = side ? y.width : y.rows;
    const std::int64_t stride = side ? y.row_stride : y.vector_stride;
    cuda_check(cudaMemset2DAsync(y.data, stride * sizeof(Value), 0, length * sizeof(Value), lines,
                                 stream));
  }

  DeviceCsr<Value> a_;
  std::unique_ptr<cusparse::VectorsProduct<Value>> product_;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_spmm(const DeviceCsr<Value>& matrix,
                                                       StreamRef stream) {
  return std::make_unique<CusparseSpmm<Value>>(matrix, CUSPARSE_SPMM_ALG_DEFAULT, stream);
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_spmm_alg1(const DeviceCsr<Value>& matrix,
                                                            StreamRef stream) {
  return std::make_unique<CusparseSpmm<Value>>(matrix, CUSPARSE_SPMM_CSR_ALG1, stream);
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_spmm_alg2(const DeviceCsr<Value>& matrix,
                                                            StreamRef stream) {
  return std::make_unique<CusparseSpmm<Value>>(matrix, CUSPARSE_SPMM_CSR_ALG2, stream);
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_spmm_alg3(const DeviceCsr<Value>& matrix,
                                                            StreamRef stream) {
  return std::make_unique<CusparseSpmm<Value>>(matrix, CUSPARSE_SPMM_CSR_ALG3, stream);
}

template std::unique_ptr<CudaKernel<double>> build_cusparse_spmm(const DeviceCsr<double>&,
                                                                 StreamRef);
template std::unique_ptr<CudaKernel<float>> build_cusparse_spmm(const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<double>> build_cusparse_spmm_alg1(const DeviceCsr<double>&,
                                                                      StreamRef);
template std::unique_ptr<CudaKernel<float>> build_cusparse_spmm_alg1(const DeviceCsr<float>&,
                                                                     StreamRef);
template std::unique_ptr<CudaKernel<double>> build_cusparse_spmm_alg2(const DeviceCsr<double>&,
                                                                      StreamRef);
template std::unique_ptr<CudaKernel<float>> build_cusparse_spmm_alg2(const DeviceCsr<float>&,
                                                                     StreamRef);
template std::unique_ptr<CudaKernel<double>> build_cusparse_spmm_alg3(const DeviceCsr<double>&,
                                                                      StreamRef);
template std::unique_ptr<CudaKernel<float>> build_cusparse_spmm_alg3(const DeviceCsr<float>&,
                                                                     StreamRef);

}  // namespace trireme
