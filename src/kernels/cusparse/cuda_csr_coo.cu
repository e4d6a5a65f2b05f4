// SPDX-License-Identifier: BSD-3-Clause
// The CSR and COO products of cuSPARSE.
#include <type_traits>

#include "kernels/cusparse/cusparse.hpp"
#include "kernels/cusparse/expand_rows.cuh"
#include "kernels/cusparse/product.hpp"
#include "kernels/numeric.cuh"

namespace trireme {
namespace {

using cusparse::data_type;
using cusparse::Library;

enum class Format { csr, coo };

// Stored is the type of the matrix values, Vector that of x and y. cuSPARSE is not called for a
// matrix without nonzeros.
template <class Stored, class Vector>
class CusparseKernel final : public CudaKernel<Vector> {
  static constexpr bool kOwnsValues = !std::is_same_v<Stored, Vector>;

 public:
  CusparseKernel(const DeviceCsr<Vector>& matrix, Format format, cusparseSpMVAlg_t algorithm,
                 StreamRef stream)
      : a_(matrix), format_(format) {
    if (a_.nnz == 0) return;
    if constexpr (kOwnsValues) {
      own_values_ = DeviceBuffer<Stored>(a_.nnz, stream);
      convert(a_.values, own_values_.span(), stream);
    }
    if (format == Format::coo) {
      row_idx_ = DeviceBuffer<std::int32_t>(a_.nnz, stream);
      cusparse::expand_rows<<<1024, 256, 0, stream>>>(a_.rows, a_.row_ptr.data(), row_idx_.data());
      check_launch();
    }
    product_ = std::make_unique<cusparse::Product<Vector>>(
        a_.rows, a_.cols, algorithm,
        [this](const Library& library, cusparseConstSpMatDescr_t* out) {
          return describe(library, out);
        },
        stream);
    synchronize(stream);
  }

  void multiply(DeviceSpan<const Vector> x, DeviceSpan<Vector> y, Accumulate accumulate,
                StreamRef stream) override {
    if (product_)
      product_->multiply(x, y, accumulate, stream);
    else if (accumulate == Accumulate::no)
      fill_zero(y, stream);
  }

  void update_values(DeviceSpan<const Vector> values, StreamRef stream) override {
    if (!product_) return;
    if constexpr (kOwnsValues) {
      convert(values, own_values_.span(), stream);
    } else {
      a_.values = values;
    }
    product_->renew(stream);
  }

  KernelStatistics statistics() const override {
    const std::int64_t row_bytes = format_ == Format::coo ? a_.nnz * sizeof(std::int32_t)
                                                          : (a_.rows + 1) * sizeof(std::int32_t);
    const std::int64_t entry_bytes = a_.nnz * (sizeof(Stored) + sizeof(std::int32_t));
    return {.stored_bytes = entry_bytes + row_bytes + (product_ ? product_->workspace_bytes() : 0),
            .padding_ratio = 0,
            .steps = {}};
  }

 private:
  cusparseStatus_t describe(const Library& library, cusparseConstSpMatDescr_t* out) const {
    const void* values = a_.values.data();
    if constexpr (kOwnsValues) values = own_values_.data();
    if (format_ == Format::coo)
      return library.create_coo(out, a_.rows, a_.cols, a_.nnz, row_idx_.data(), a_.col_idx.data(),
                                values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                data_type<Stored>());
    return library.create_csr(out, a_.rows, a_.cols, a_.nnz, a_.row_ptr.data(), a_.col_idx.data(),
                              values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_BASE_ZERO, data_type<Stored>());
  }

  DeviceCsr<Vector> a_;
  Format format_;
  DeviceBuffer<Stored> own_values_;
  DeviceBuffer<std::int32_t> row_idx_;
  std::unique_ptr<cusparse::Product<Vector>> product_;
};

}  // namespace

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_csr(const DeviceCsr<Value>& matrix,
                                                      StreamRef stream) {
  return std::make_unique<CusparseKernel<Value, Value>>(matrix, Format::csr, CUSPARSE_SPMV_CSR_ALG1,
                                                        stream);
}

std::unique_ptr<CudaKernel<double>> build_cusparse_csr_mixed(const DeviceCsr<double>& matrix,
                                                             StreamRef stream) {
  return std::make_unique<CusparseKernel<float, double>>(matrix, Format::csr,
                                                         CUSPARSE_SPMV_CSR_ALG1, stream);
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_csr_alg2(const DeviceCsr<Value>& matrix,
                                                           StreamRef stream) {
  return std::make_unique<CusparseKernel<Value, Value>>(matrix, Format::csr, CUSPARSE_SPMV_CSR_ALG2,
                                                        stream);
}

template <class Value>
std::unique_ptr<CudaKernel<Value>> build_cusparse_coo(const DeviceCsr<Value>& matrix,
                                                      StreamRef stream) {
  return std::make_unique<CusparseKernel<Value, Value>>(matrix, Format::coo, CUSPARSE_SPMV_COO_ALG1,
                                                        stream);
}

template std::unique_ptr<CudaKernel<double>> build_cusparse_csr(const DeviceCsr<double>&,
                                                                StreamRef);
template std::unique_ptr<CudaKernel<float>> build_cusparse_csr(const DeviceCsr<float>&, StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_cusparse_csr(const DeviceCsr<Half>&, StreamRef);
template std::unique_ptr<CudaKernel<double>> build_cusparse_csr_alg2(const DeviceCsr<double>&,
                                                                     StreamRef);
template std::unique_ptr<CudaKernel<float>> build_cusparse_csr_alg2(const DeviceCsr<float>&,
                                                                    StreamRef);
template std::unique_ptr<CudaKernel<Half>> build_cusparse_csr_alg2(const DeviceCsr<Half>&,
                                                                   StreamRef);
template std::unique_ptr<CudaKernel<double>> build_cusparse_coo(const DeviceCsr<double>&,
                                                                StreamRef);
template std::unique_ptr<CudaKernel<float>> build_cusparse_coo(const DeviceCsr<float>&, StreamRef);

}  // namespace trireme
