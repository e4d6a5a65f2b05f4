// SPDX-License-Identifier: BSD-3-Clause
// What the baselines of ALBUS have in common: they borrow the caller's CSR.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/host_sum.hpp"
#include "kernels/kernel.hpp"
#include "sparse/csr.hpp"

namespace trireme::albus {

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
  HostSumOf<Value> sum(std::int32_t begin, std::int32_t end, std::span<const Value> x) const {
    HostSumOf<Value> total{};
    for (std::int32_t k = begin; k < end; ++k) total += term_of_sum(a_.values[k], x[a_.col_idx[k]]);
    return total;
  }

  CsrView<Value> a_;
};

}  // namespace trireme::albus
