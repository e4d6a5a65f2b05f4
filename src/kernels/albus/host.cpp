// SPDX-License-Identifier: BSD-3-Clause
// The host executor: each thread multiplies its part, then the heads are added in order.
//
// The result is deterministic: the layout and the SIMD target fix the order of every sum. The
// layout has one part per thread, so that another number of threads gives other bits.
#include <omp.h>

#include <algorithm>

#include "base/stopwatch.hpp"
#include "kernels/albus/albus.hpp"
#include "kernels/albus/build.hpp"
#include "kernels/albus/multiply_part.hpp"
#include "kernels/row_product.hpp"

namespace trireme {
namespace {

// Below this many nonzeros a part costs less than waking its thread.
constexpr std::int64_t kMinNonzerosPerPart = 1024;
// Of parts whose number does not follow the threads.
constexpr std::int64_t kNonzerosPerFixedPart = 8192;
constexpr std::int64_t kMaxFixedParts = 256;

// Stored is the type of the matrix values. Where it is Value, the kernel borrows the caller's
// array; otherwise the kernel owns a rounded copy.
template <class Value, class Stored = Value>
class AlbusHost final : public HostKernel<Value>, public RowProduct<Value> {
 public:
  explicit AlbusHost(const CsrView<Value>& matrix)
      : AlbusHost(matrix, std::clamp<std::int64_t>(matrix.nnz() / kMinNonzerosPerPart, 1,
                                                   omp_get_max_threads())) {}
  AlbusHost(const CsrView<Value>& matrix, std::int64_t parts) {
    take(matrix.values);
    const CsrView<Stored> stored{matrix.rows, matrix.cols, matrix.row_ptr, matrix.col_idx, values_};
    layout_ = albus::build(stored, parts, statistics_.steps);
    result_mid_.resize(parts);
    statistics_.stored_bytes = stored_bytes();
  }

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    const bool add = accumulate == Accumulate::yes;
    const auto parts = static_cast<std::int64_t>(layout_.parts.size());
#pragma omp parallel for schedule(static) if (parts > 1)
    for (std::int64_t t = 0; t < parts; ++t)
      result_mid_[t] = albus::multiply_part(layout_, layout_.parts[t], x.data(), y.data(), add);
    for (std::int64_t t = 0; t < parts; ++t)
      if (layout_.parts[t].has_head()) add_to(y[layout_.parts[t].start - 1], result_mid_[t]);
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                      Accumulate accumulate) override {
    const bool add = accumulate == Accumulate::yes;
    const auto parts = static_cast<std::int64_t>(layout_.parts.size());
    if (std::ssize(result_mid_) < parts * x.width) result_mid_.resize(parts * x.width);
#pragma omp parallel for schedule(static) if (parts > 1)
    for (std::int64_t t = 0; t < parts; ++t)
      albus::multiply_part(layout_, layout_.parts[t], x, y, add, result_mid_.data() + t * x.width);
    for (std::int64_t t = 0; t < parts; ++t)
      if (layout_.parts[t].has_head())
        for (std::int64_t j = 0; j < x.width; ++j)
          add_to(y(layout_.parts[t].start - 1, j), result_mid_[t * x.width + j]);
  }

  std::int64_t nonzeros_before(std::int64_t row) const override { return layout_.row_ptr[row]; }
  void multiply_and_dot(MultiVector<const Value> x, MultiVector<Value> y, std::int64_t first,
                        std::int64_t last, Value* dots) const override {
    albus::Part rows;  // whole rows, without a head and a tail
    rows.start = static_cast<std::int32_t>(first);
    rows.end = static_cast<std::int32_t>(last);
    rows.start1 = layout_.row_ptr[first];
    rows.end1 = rows.tail_begin = layout_.row_ptr[last];
    albus::multiply_part(layout_, rows, x, y, false, nullptr, dots);
  }

  void update_values(std::span<const Value> values) override {
    take(values);
    layout_.values = values_;
  }

  KernelStatistics statistics() const override { return statistics_; }

 private:
  void take(std::span<const Value> values) {
    if constexpr (std::is_same_v<Stored, Value>) {
      values_ = values;
    } else {
      const Stopwatch watch;
      const auto count = static_cast<std::int64_t>(values.size());
      rounded_.resize(values.size());
#pragma omp parallel for schedule(static)
      for (std::int64_t k = 0; k < count; ++k) rounded_[k] = static_cast<Stored>(values[k]);
      values_ = rounded_;
      if (statistics_.steps.empty()) statistics_.steps = {{"round values", watch.seconds()}};
    }
  }

  static void add_to(Value& y, Value head) {
    if constexpr (std::is_integral_v<Value>)
      y = static_cast<Value>(static_cast<std::uint32_t>(y) + static_cast<std::uint32_t>(head));
    else
      y += head;
  }

  std::int64_t stored_bytes() const {
    std::int64_t bytes = static_cast<std::int64_t>(layout_.values.size() * sizeof(Stored));
    for (const albus::Part& part : layout_.parts) {
      bytes += static_cast<std::int64_t>(part.windows.size() * sizeof(albus::Window) +
                                         part.runs.size() * sizeof(albus::Run) +
                                         part.slots.size() * sizeof(albus::Slot));
      bytes += static_cast<std::int64_t>(part.narrow_col_idx.size() * sizeof(std::uint16_t));
      std::int64_t narrow = 0;  // nonzeros of narrow windows
      for (std::size_t i = 0; i < part.windows.size(); ++i) {
        const std::int32_t end =
            i + 1 < part.windows.size() ? part.windows[i + 1].first_nonzero : part.tail_begin;
        if (part.windows[i].narrow) narrow += end - part.windows[i].first_nonzero;
      }
      bytes += 4 * (part.end1 - part.start1 - narrow);
    }
    return bytes;
  }

  Array<Stored> rounded_;  // empty where Stored is Value
  std::span<const Stored> values_;
  albus::Layout<Stored> layout_;
  std::vector<Value> result_mid_;  // the head of each part, one number per vector
  KernelStatistics statistics_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_host(const CsrView<Value>& matrix) {
  return std::make_unique<AlbusHost<Value>>(matrix);
}

std::unique_ptr<HostKernel<double>> build_albus_mixed_host(const CsrView<double>& matrix) {
  return std::make_unique<AlbusHost<double, float>>(matrix);
}

std::unique_ptr<HostKernel<double>> build_albus_fixed_host(const CsrView<double>& matrix,
                                                           Precision precision) {
  const std::int64_t parts =
      std::clamp<std::int64_t>(matrix.nnz() / kNonzerosPerFixedPart, 1, kMaxFixedParts);
  if (precision == Precision::full) return std::make_unique<AlbusHost<double>>(matrix, parts);
  return std::make_unique<AlbusHost<double, float>>(matrix, parts);
}

template std::unique_ptr<HostKernel<double>> build_albus_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_albus_host(const CsrView<float>&);
template std::unique_ptr<HostKernel<std::int32_t>> build_albus_host(const CsrView<std::int32_t>&);

}  // namespace trireme
