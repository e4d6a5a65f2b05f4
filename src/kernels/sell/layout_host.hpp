// SPDX-License-Identifier: BSD-3-Clause
// The host kernel of both layouts of SELL.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "kernels/kernel.hpp"
#include "kernels/lanes.hpp"
#include "sparse/csr.hpp"

namespace trireme::sell {

template <class T>
std::int64_t bytes_of(const Array<T>& array) {
  return static_cast<std::int64_t>(array.size() * sizeof(T));
}

// x[column] is a number, or the numbers of several vectors; so is a sum.
template <class X>
using SumOf = std::decay_t<decltype(std::declval<X>()[0])>;

// `Product` has the functions that differ: multiply(layout, x, put), where put(row, sum) gets the
// caller's row, and stored_bytes(layout). It owns the layout.
template <class Value, class Layout, class Product>
class LayoutHost final : public HostKernel<Value> {
 public:
  // `steps` are those of the build.
  LayoutHost(const CsrView<Value>& matrix, Layout layout, std::vector<BuildStep> steps)
      : a_(matrix), layout_(std::move(layout)), steps_(std::move(steps)) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    Product::multiply(layout_, NumbersOfX<Value>{x},
                      NumbersOfY<Value>{y, accumulate == Accumulate::yes});
  }

  bool multiplies_vectors() const override { return true; }
  void multi_multiply(MultiVector<const Value> x, MultiVector<Value> y,
                      Accumulate accumulate) override {
    in_lanes(x, y, accumulate,
             [this](const auto& xs, const auto& put) { Product::multiply(layout_, xs, put); });
  }

  void update_values(std::span<const Value> values) override {
    a_.values = values;
    fill_values(a_, layout_);
  }

  KernelStatistics statistics() const override {
    const auto stored = static_cast<double>(layout_.stored_entries());
    return {.stored_bytes = Product::stored_bytes(layout_),
            .padding_ratio = layout_.nnz ? stored / static_cast<double>(layout_.nnz) - 1 : 0.0,
            .steps = steps_};
  }

 private:
  CsrView<Value> a_;
  Layout layout_;
  std::vector<BuildStep> steps_;
};

}  // namespace trireme::sell
