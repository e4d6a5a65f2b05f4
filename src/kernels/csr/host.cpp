// SPDX-License-Identifier: BSD-3-Clause
// CSR on the host: every OpenMP thread gets the same number of rows and sums one row after the
// other.
//
// Several vectors are multiplied eight at a time.
//
// Bytes moved: 12 per nonzero (double; 8 in mixed precision and float) and 12 per row. The result
// is deterministic: one thread sums each row in storage order.
#include "kernels/csr/csr.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/array.hpp"
#include "base/stopwatch.hpp"
#include "kernels/host_sum.hpp"
#include "kernels/row_product.hpp"

namespace trireme {
namespace {

// y = A x, or y += A x. Stored is Value or a narrower type.
template <class Value, class Stored>
void multiply_vector(const CsrView<Value>& a, const Stored* values, std::span<const Value> x,
                     std::span<Value> y, Accumulate accumulate) {
  const std::int32_t* row_ptr = a.row_ptr.data();
  const std::int32_t* col_idx = a.col_idx.data();
  const bool add = accumulate == Accumulate::yes;
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < a.rows; ++row) {
    HostSumOf<Value> sum{};
    for (std::int32_t k = row_ptr[row]; k < row_ptr[row + 1]; ++k)
      sum += term_of_sum(values[k], x[col_idx[k]]);
    store_or_add(y[row], sum, add);
  }
}

// Y = A X, or Y += A X, for at most kVectors vectors, in one walk through the matrix.
constexpr std::int64_t kVectors = 8;

// One row. `width` is a constant for the widest block, so that sums are unrolled.
template <class Value, class Stored, class Width>
inline void multiply_row(const CsrView<Value>& a, const Stored* values, MultiVector<const Value> x,
                         MultiVector<Value> y, bool add, Width width, std::int64_t row) {
  const std::int32_t* col_idx = a.col_idx.data();
  HostSumOf<Value> sums[kVectors] = {};
  for (std::int32_t k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
    const Value* xs = x.row(col_idx[k]);
    for (std::int64_t j = 0; j < width; ++j) sums[j] += term_of_sum(values[k], xs[j]);
  }
  Value* ys = y.row(row);
  for (std::int64_t j = 0; j < width; ++j) store_or_add(ys[j], sums[j], add);
}

// Calls walk(x, y, width) for blocks of at most kVectors vectors.
template <class Value, class Walk>
void for_each_block(MultiVector<const Value> x, MultiVector<Value> y, const Walk& walk) {
  for (std::int64_t first = 0; first < x.width; first += kVectors) {
    const std::int64_t count = std::min(kVectors, x.width - first);
    if (count == kVectors)
      walk(x.vectors(first, count), y.vectors(first, count),
           std::integral_constant<std::int64_t, kVectors>());
    else
      walk(x.vectors(first, count), y.vectors(first, count), count);
  }
}

// The same for any number of vectors.
template <class Value, class Stored>
void multiply_vectors(const CsrView<Value>& a, const Stored* values, MultiVector<const Value> x,
                      MultiVector<Value> y, Accumulate accumulate) {
  const bool add = accumulate == Accumulate::yes;
  for_each_block(x, y, [&](auto xs, auto ys, auto width) {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < a.rows; ++row)
      multiply_row(a, values, xs, ys, add, width, row);
  });
}

// The rows first .. last - 1 of Y = A X, by one thread; see RowProduct.
template <class Value, class Stored>
void multiply_rows_and_dot(const CsrView<Value>& a, const Stored* values,
                           MultiVector<const Value> x, MultiVector<Value> y, std::int64_t first,
                           std::int64_t last, Value* dots) {
  for_each_block(x, y, [&](auto xs, auto ys, auto width) {
    for (std::int64_t row = first; row < last; ++row)
      multiply_row(a, values, xs, ys, false, width, row);
  });
  if (!dots) return;
  for (std::int64_t row = first; row < last; ++row)
    for (std::int64_t j = 0; j < x.width; ++j)
      store_or_add(dots[j], term_of_sum<Value, Value>(x(row, j), y(row, j)), true);
}

template <class Value, class Stored>
std::int64_t bytes_read(const CsrView<Value>& a) {
  return static_cast<std::int64_t>(a.nnz() * (sizeof(Stored) + sizeof(std::int32_t)) +
                                   (a.rows + 1) * sizeof(std::int32_t));
}

template <class Value>
class CsrHost final : public HostKernel<Value>, public RowProduct<Value> {
 public:
  explicit CsrHost(const CsrView<Value>& matrix) : a_(matrix) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    multiply_vector(a_, a_.values.data(), x, y, accumulate);
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                      Accumulate accumulate) override {
    multiply_vectors(a_, a_.values.data(), x, y, accumulate);
  }
  std::int64_t nonzeros_before(std::int64_t row) const override { return a_.row_ptr[row]; }
  void multiply_and_dot(MultiVector<const Value> x, MultiVector<Value> y, std::int64_t first,
                        std::int64_t last, Value* dots) const override {
    multiply_rows_and_dot(a_, a_.values.data(), x, y, first, last, dots);
  }

  void update_values(std::span<const Value> values) override { a_.values = values; }

  KernelStatistics statistics() const override {
    return {.stored_bytes = bytes_read<Value, Value>(a_), .padding_ratio = 0, .steps = {}};
  }

 private:
  CsrView<Value> a_;
};

// Owns the values in FP32 and borrows the caller's pattern: 8 bytes per nonzero.
class CsrMixedHost final : public HostKernel<double>, public RowProduct<double> {
 public:
  explicit CsrMixedHost(const CsrView<double>& matrix) : a_(matrix), values_(a_.values.size()) {
    const Stopwatch watch;
    round(a_.values);
    round_seconds_ = watch.seconds();
  }

  void multiply(std::span<const double> x, std::span<double> y, Accumulate accumulate) override {
    multiply_vector(a_, values_.data(), x, y, accumulate);
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(MultiVector<const double> x, MultiVector<double> y,
                      Accumulate accumulate) override {
    multiply_vectors(a_, values_.data(), x, y, accumulate);
  }
  std::int64_t nonzeros_before(std::int64_t row) const override { return a_.row_ptr[row]; }
  void multiply_and_dot(MultiVector<const double> x, MultiVector<double> y, std::int64_t first,
                        std::int64_t last, double* dots) const override {
    multiply_rows_and_dot(a_, values_.data(), x, y, first, last, dots);
  }

  void update_values(std::span<const double> values) override { round(values); }

  KernelStatistics statistics() const override {
    return {.stored_bytes = bytes_read<double, float>(a_),
            .padding_ratio = 0,
            .steps = {{"round values", round_seconds_}}};
  }

 private:
  void round(std::span<const double> values) {
    const auto count = static_cast<std::int64_t>(values.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k) values_[k] = static_cast<float>(values[k]);
  }

  CsrView<double> a_;
  Array<float> values_;
  double round_seconds_ = 0;
};

}  // namespace

std::unique_ptr<HostKernel<double>> build_csr_mixed_host(const CsrView<double>& matrix) {
  return std::make_unique<CsrMixedHost>(matrix);
}

template <class Value>
std::unique_ptr<HostKernel<Value>> build_csr_host(const CsrView<Value>& matrix) {
  return std::make_unique<CsrHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_csr_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_csr_host(const CsrView<float>&);
template std::unique_ptr<HostKernel<std::int32_t>> build_csr_host(const CsrView<std::int32_t>&);

}  // namespace trireme
