// SPDX-License-Identifier: BSD-3-Clause
// SIMD without threads: one thread sums one row after the other in SIMD instructions. The rest of a
// row that fills no vector is summed in scalar instructions, as in the document. The code between
// HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE is compiled once per SIMD target, as in simd.cpp.
#include "kernels/albus/baseline.hpp"
#include "kernels/albus/baselines.hpp"
#include "kernels/albus/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/albus/simd_rows.cpp"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"
#include "kernels/albus/row_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trireme::albus {
namespace HWY_NAMESPACE {
namespace {

template <class Value>
HWY_INLINE void MultiplyRows(const CsrView<Value>& a, const Value* x, Value* y, bool add) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int32_t begin = a.row_ptr[row];
    store_or_add(
        y[row],
        RowSum(a.row_ptr[row + 1] - begin, a.values.data() + begin, a.col_idx.data() + begin, x),
        add);
  }
}

}  // namespace

// The table of targets of Highway takes plain functions, not templates.
void MultiplyRowsDouble(const CsrView<double>& a, const double* x, double* y, bool add) {
  MultiplyRows(a, x, y, add);
}
void MultiplyRowsFloat(const CsrView<float>& a, const float* x, float* y, bool add) {
  MultiplyRows(a, x, y, add);
}
void MultiplyRowsInt(const CsrView<std::int32_t>& a, const std::int32_t* x, std::int32_t* y,
                     bool add) {
  MultiplyRows(a, x, y, add);
}

}  // namespace HWY_NAMESPACE
}  // namespace trireme::albus
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trireme {
namespace albus {
namespace {

HWY_EXPORT(MultiplyRowsDouble);
HWY_EXPORT(MultiplyRowsFloat);
HWY_EXPORT(MultiplyRowsInt);

void multiply_rows(const CsrView<double>& a, const double* x, double* y, bool add) {
  HWY_DYNAMIC_DISPATCH(MultiplyRowsDouble)(a, x, y, add);
}
void multiply_rows(const CsrView<float>& a, const float* x, float* y, bool add) {
  HWY_DYNAMIC_DISPATCH(MultiplyRowsFloat)(a, x, y, add);
}
void multiply_rows(const CsrView<std::int32_t>& a, const std::int32_t* x, std::int32_t* y,
                   bool add) {
  HWY_DYNAMIC_DISPATCH(MultiplyRowsInt)(a, x, y, add);
}

template <class Value>
class Simd final : public Baseline<Value> {
 public:
  using Baseline<Value>::Baseline;

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    multiply_rows(this->a_, x.data(), y.data(), accumulate == Accumulate::yes);
  }
};

}  // namespace
}  // namespace albus

template <class Value>
std::unique_ptr<HostKernel<Value>> build_albus_simd_host(const CsrView<Value>& matrix) {
  return std::make_unique<albus::Simd<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_albus_simd_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_albus_simd_host(const CsrView<float>&);
template std::unique_ptr<HostKernel<std::int32_t>> build_albus_simd_host(
    const CsrView<std::int32_t>&);

}  // namespace trireme
#endif  // HWY_ONCE
