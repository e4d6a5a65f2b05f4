// SPDX-License-Identifier: BSD-3-Clause
// ILU by cuSPARSE on the pattern of our factors, to compare with.
#pragma once

#include <cusparse.h>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "base/array.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/buffer.hpp"
#include "device/check.hpp"
#include "factors/pattern.hpp"

namespace trireme::bench {

inline void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    fail(ExitCode::internal, "cuSPARSE: {}", cusparseGetErrorString(status));
}

class Cusparse {
 public:
  explicit Cusparse(StreamRef stream) {
    check(cusparseCreate(&handle_));
    check(cusparseSetStream(handle_, stream));
  }
  ~Cusparse() { cusparseDestroy(handle_); }
  Cusparse(const Cusparse&) = delete;
  Cusparse& operator=(const Cusparse&) = delete;
  operator cusparseHandle_t() const { return handle_; }  // NOLINT(google-explicit-constructor)

 private:
  cusparseHandle_t handle_ = nullptr;
};

struct Csr {
  const factors::FactorPattern& pattern;
  const DeviceBuffer<std::int32_t>& row_ptr;
  const DeviceBuffer<std::int32_t>& col_idx;
  int rows() const { return static_cast<int>(pattern.rows); }
  int nnz() const { return static_cast<int>(pattern.nnz()); }
};

struct IluTimes {
  double analysis_ms = 0, numbers_ms = 0;
};

// Replaces the values by those of L and U. csrilu02 is deprecated, and has no successor.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
inline IluTimes make_ilu(const Cusparse& library, const Csr& a, const Array<double>& of_a,
                         const DeviceBuffer<double>& values, StreamRef stream) {
  IluTimes times;
  cusparseMatDescr_t shape = nullptr;
  csrilu02Info_t info = nullptr;
  check(cusparseCreateMatDescr(&shape));
  check(cusparseCreateCsrilu02Info(&info));
  int bytes = 0;
  check(cusparseDcsrilu02_bufferSize(library, a.rows(), a.nnz(), shape, values.data(),
                                     a.row_ptr.data(), a.col_idx.data(), info, &bytes));
  const DeviceBuffer<char> scratch(static_cast<std::size_t>(bytes) + 16, stream);
  synchronize(stream);
  for (int run = 0; run < 2; ++run) {
    copy_to_device(std::span<const double>(of_a), values.span(), stream);
    synchronize(stream);
    const Stopwatch analysis;
    check(cusparseDcsrilu02_analysis(library, a.rows(), a.nnz(), shape, values.data(),
                                     a.row_ptr.data(), a.col_idx.data(), info,
                                     CUSPARSE_SOLVE_POLICY_USE_LEVEL, scratch.data()));
    synchronize(stream);
    times.analysis_ms = analysis.seconds() * 1e3;
    const Stopwatch numbers;
    check(cusparseDcsrilu02(library, a.rows(), a.nnz(), shape, values.data(), a.row_ptr.data(),
                            a.col_idx.data(), info, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
                            scratch.data()));
    synchronize(stream);
    times.numbers_ms = numbers.seconds() * 1e3;
  }
  cusparseDestroyCsrilu02Info(info);
  cusparseDestroyMatDescr(shape);
  return times;
}
#pragma GCC diagnostic pop

// One triangle of L + U.
template <class Value>
class TriangularSolve {
 public:
  static constexpr cudaDataType kType = std::is_same_v<Value, float> ? CUDA_R_32F : CUDA_R_64F;

  TriangularSolve(const Cusparse& library, const Csr& a, const DeviceBuffer<Value>& values,
                  bool is_lower, const DeviceBuffer<Value>& right, const DeviceBuffer<Value>& x,
                  StreamRef stream)
      : library_(library) {
    const Stopwatch watch;
    check(cusparseCreateCsr(&matrix_, a.rows(), a.rows(), a.nnz(), a.row_ptr.data(),
                            a.col_idx.data(), values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, kType));
    cusparseFillMode_t fill = is_lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    cusparseDiagType_t diagonal = is_lower ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    check(cusparseCreateDnVec(&right_, a.rows(), right.data(), kType));
    check(cusparseCreateDnVec(&x_, a.rows(), x.data(), kType));
    check(cusparseSpSV_createDescr(&solve_));
    std::size_t bytes = 0;
    check(cusparseSpSV_bufferSize(library_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_,
                                  right_, x_, kType, CUSPARSE_SPSV_ALG_DEFAULT, solve_, &bytes));
    scratch_ = DeviceBuffer<char>(bytes + 16, stream);
    check(cusparseSpSV_analysis(library_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, right_,
                                x_, kType, CUSPARSE_SPSV_ALG_DEFAULT, solve_, scratch_.data()));
    synchronize(stream);
    analysis_ms_ = watch.seconds() * 1e3;
  }
  ~TriangularSolve() {
    cusparseSpSV_destroyDescr(solve_);
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(right_);
    cusparseDestroySpMat(matrix_);
  }
  TriangularSolve(const TriangularSolve&) = delete;
  TriangularSolve& operator=(const TriangularSolve&) = delete;

  void enqueue() const {
    check(cusparseSpSV_solve(library_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, right_, x_,
                             kType, CUSPARSE_SPSV_ALG_DEFAULT, solve_));
  }
  double analysis_ms() const { return analysis_ms_; }

 private:
  const Cusparse& library_;
  const Value one_ = 1;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t right_ = nullptr, x_ = nullptr;
  cusparseSpSVDescr_t solve_ = nullptr;
  DeviceBuffer<char> scratch_;
  double analysis_ms_ = 0;
};

}  // namespace trireme::bench
