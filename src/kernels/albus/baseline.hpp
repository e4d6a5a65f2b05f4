// SPDX-License-Identifier: BSD-3-Clause
// What the baselines of ALBUS have in common: they borrow the caller's CSR.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme::albus {

// Integer sums wrap around, which C++ defines for unsigned numbers only.
template <class Value>
using WrappingSum = std::conditional_t<std::is_integral_v<Value>, std::uint32_t, Value>;

template <class Value>
void store(Value& y, WrappingSum<Value> sum, bool add) {
  y = static_cast<Value>(add ? static_cast<WrappingSum<Value>>(y) + sum : sum);
}

template <class Value>
class Baseline : public HostKernel<Value> {
 public:
  explicit Baseline(const CsrView<Value>& matrix) : a_(matrix) {}

  void update_values(std::span<const Value> values) override { a_.values = values; }

  KernelStatistics statistics() const override {
    return {.stored_bytes =
                static_cast<std::int64_t>(a_.nnz() * (sizeof(Value) + sizeof(std::int32_t)) +
                                          (a_.rows + 1) * sizeof(std::int32_t)),
            .padding_ratio = 0,
            .steps = {}};
  }

 protected:
  // The sum of the nonzeros [begin, end), which are in one row.
  WrappingSum<Value> sum(std::int32_t begin, std::int32_t end, std::span<const Value> x) const {
    using Sum = WrappingSum<Value>;
    Sum total{};
    for (std::int32_t k = begin; k < end; ++k)
      total += static_cast<Sum>(a_.values[k]) * static_cast<Sum>(x[a_.col_idx[k]]);
    return total;
  }

  CsrView<Value> a_;
};

}  // namespace trireme::albus
