// SPDX-License-Identifier: BSD-3-Clause
// The host executor: each thread multiplies its part, then the heads are added in order.
//
// The result is deterministic: the layout and the SIMD target fix the order of every sum. The
// layout has one part per thread, so that another number of threads gives other bits.
#include <omp.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/free_memory.hpp"
#include "base/stopwatch.hpp"
#include "kernels/albus/albus.hpp"
#include "kernels/albus/build.hpp"
#include "kernels/albus/multiply_part.hpp"
#include "kernels/host_sum.hpp"
#include "kernels/row_product.hpp"
#include "sparse/exact.hpp"

namespace trireme {
namespace {

// Below this many nonzeros a part costs less than waking its thread.
constexpr std::int64_t kMinNonzerosPerPart = 1024;
// Of parts whose number does not follow the threads.
constexpr std::int64_t kNonzerosPerFixedPart = 8192;
constexpr std::int64_t kMaxFixedParts = 256;
// Of the values, to tell most of those that FP32 does not represent before a copy is made.
constexpr std::size_t kSample = 4096;

// Borrows the caller's values, or owns a copy in FP32: in mixed precision, and where FP32
// represents every value of a matrix beyond the cache exactly, which moves fewer bytes and gives
// the same bits.
template <class Value>
class AlbusHost final : public HostKernel<Value>, public RowProduct<Value> {
  static constexpr bool kIsDouble = std::is_same_v<Value, double>;

 public:
  explicit AlbusHost(const CsrView<Value>& matrix, Precision precision = Precision::full)
      : AlbusHost(matrix, precision,
                  std::clamp<std::int64_t>(matrix.nnz() / kMinNonzerosPerPart, 1,
                                           omp_get_max_threads())) {}
  AlbusHost(const CsrView<Value>& matrix, Precision precision, std::int64_t parts)
      : mixed_(precision == Precision::mixed) {
    static_cast<albus::Pattern&>(layout_) = albus::build(matrix, parts, statistics_.steps);
    const Stopwatch watch;
    take(matrix.values);
    statistics_.steps.push_back({"values", watch.seconds()});
    result_mid_.resize(parts);
  }

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    const bool add = accumulate == Accumulate::yes;
    with_layout([&](const auto& layout) {
      const auto parts = static_cast<std::int64_t>(layout.parts.size());
#pragma omp parallel for schedule(static) if (parts > 1)
      for (std::int64_t t = 0; t < parts; ++t)
        result_mid_[t] = albus::multiply_part(layout, layout.parts[t], x.data(), y.data(), add);
      AddShares<Value> shares;
      for (std::int64_t t = 0; t < parts; ++t)
        if (layout.parts[t].has_head())
          shares.add(y[layout.parts[t].start - 1], static_cast<HostSumOf<Value>>(result_mid_[t]));
    });
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                      Accumulate accumulate) override {
    const bool add = accumulate == Accumulate::yes;
    with_layout([&](const auto& layout) {
      const auto parts = static_cast<std::int64_t>(layout.parts.size());
      if (std::ssize(result_mid_) < parts * x.width) result_mid_.resize(parts * x.width);
#pragma omp parallel for schedule(static) if (parts > 1)
      for (std::int64_t t = 0; t < parts; ++t)
        albus::multiply_part(layout, layout.parts[t], x, y, add, result_mid_.data() + t * x.width);
      AddShares<Value> shares;
      for (std::int64_t j = 0; j < x.width; ++j)
        for (std::int64_t t = 0; t < parts; ++t)
          if (layout.parts[t].has_head())
            shares.add(y(layout.parts[t].start - 1, j),
                       static_cast<HostSumOf<Value>>(result_mid_[t * x.width + j]));
    });
  }

  std::int64_t nonzeros_before(std::int64_t row) const override { return pattern().row_ptr[row]; }
  void multiply_and_dot(MultiVector<const Value> x, MultiVector<Value> y, std::int64_t first,
                        std::int64_t last, Value* dots) const override {
    albus::Part rows;  // whole rows, without a head and a tail
    rows.start = static_cast<std::int32_t>(first);
    rows.end = static_cast<std::int32_t>(last);
    rows.start1 = pattern().row_ptr[first];
    rows.end1 = rows.tail_begin = pattern().row_ptr[last];
    with_layout([&](const auto& layout) {
      albus::multiply_part(layout, rows, x, y, false, nullptr, dots);
    });
  }

  void update_values(std::span<const Value> values) override { take(values); }

  KernelStatistics statistics() const override { return statistics_; }

 private:
  // Calls work(layout) with the layout that has the values.
  template <class Work>
  void with_layout(Work&& work) const {
    if constexpr (kIsDouble)
      if (in_float_) return work(float_layout_);
    work(layout_);
  }

  const albus::Pattern& pattern() const {
    if (in_float_) return float_layout_;
    return layout_;
  }
  albus::Pattern& pattern() {
    if (in_float_) return float_layout_;
    return layout_;
  }

  void take(std::span<const Value> values) {
    if constexpr (kIsDouble) {
      const bool was_in_float = in_float_;
      const bool may_be_exact = pattern().beyond_core_cache &&
                                exact_in_float(values.first(std::min(values.size(), kSample)));
      in_float_ =
          (mixed_ || may_be_exact) &&
          (albus::place_values(pattern(), values, float_layout_.placed, &rounded_) || mixed_);
      if (in_float_ && !was_in_float) move_pattern(layout_, float_layout_);
      if (!in_float_ && was_in_float) move_pattern(float_layout_, layout_);
    }
    if (in_float_) {
      float_layout_.values = rounded_;
    } else {
      let_go(rounded_);
      let_go(float_layout_.placed);
      layout_.values = values;
      albus::place_values(layout_, values, layout_.placed);
    }
    statistics_.stored_bytes = stored_bytes();
  }

  template <class From, class To>
  static void move_pattern(From& from, To& to) {
    static_cast<albus::Pattern&>(to) = std::move(static_cast<albus::Pattern&>(from));
    from = {};
  }

  // What a product reads. Placed values are a copy, in whose place the CSR's are not read.
  std::int64_t stored_bytes() const {
    const auto value_bytes = static_cast<std::int64_t>(in_float_ ? sizeof(float) : sizeof(Value));
    std::int64_t bytes = value_bytes * std::ssize(pattern().col_idx);
    for (const albus::Part& part : pattern().parts) {
      bytes += static_cast<std::int64_t>(part.windows.size() * sizeof(albus::Window) +
                                         part.runs.size() * sizeof(albus::Run) +
                                         part.slots.size() * sizeof(albus::Slot));
      bytes += static_cast<std::int64_t>(part.narrow_col_idx.size() * sizeof(std::uint16_t) +
                                         part.offsets.size() * sizeof(std::int32_t));
      bytes += static_cast<std::int64_t>(part.blocks.size() * sizeof(albus::TileBlock) +
                                         part.tiles.size() * sizeof(albus::Tile) +
                                         part.tile_rows.size() * sizeof(std::uint16_t) +
                                         part.tile_columns.size() * sizeof(std::uint16_t));
      bytes +=
          static_cast<std::int64_t>(part.steps.size() * sizeof(albus::Steps) + part.masks.size() +
                                    part.slice_rows.size() * sizeof(std::uint16_t));
      if (part.placed > 0)
        bytes += value_bytes * (part.placed - (pattern().row_ptr[part.whole_rows_end()] -
                                               pattern().row_ptr[part.start]));
      auto narrow = std::ssize(part.tile_columns);  // nonzeros without a column of four bytes
      for (std::size_t i = 0; i < part.windows.size(); ++i) {
        const std::int32_t end =
            i + 1 < part.windows.size() ? part.windows[i + 1].first_nonzero : part.tail_begin;
        if (part.windows[i].narrow || part.windows[i].in_slices() ||
            part.windows[i].order == albus::RowOrder::diagonals)
          narrow += end - part.windows[i].first_nonzero;
      }
      bytes += 4 * (part.end1 - part.start1 - narrow);
    }
    return bytes;
  }

  bool mixed_;
  bool in_float_ = false;
  albus::Layout<Value> layout_;        // has the pattern and the values unless in_float_
  albus::Layout<float> float_layout_;  // has them where in_float_
  Array<float> rounded_;               // float_layout_'s values, but for placed ones of windows
  std::vector<HostLaneOf<Value>> result_mid_;  // the head of each part, one number per vector
  KernelStatistics statistics_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_host(const CsrView<Value>& matrix) {
  return std::make_unique<AlbusHost<Value>>(matrix);
}

std::unique_ptr<HostKernel<double>> build_albus_mixed_host(const CsrView<double>& matrix) {
  return std::make_unique<AlbusHost<double>>(matrix, Precision::mixed);
}

std::unique_ptr<HostKernel<double>> build_albus_fixed_host(const CsrView<double>& matrix,
                                                           Precision precision) {
  const std::int64_t parts =
      std::clamp<std::int64_t>(matrix.nnz() / kNonzerosPerFixedPart, 1, kMaxFixedParts);
  return std::make_unique<AlbusHost<double>>(matrix, precision, parts);
}

template std::unique_ptr<HostKernel<double>> build_albus_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_albus_host(const CsrView<float>&);
template std::unique_ptr<HostKernel<std::int32_t>> build_albus_host(const CsrView<std::int32_t>&);

}  // namespace trireme
