// SPDX-License-Identifier: BSD-3-Clause
// The host executor: the OpenMP threads share blocks of sorted rows. Within a block the diagonals
// are read one after the other, up to the last one that reaches the block.
#include <algorithm>

#include "kernels/host_sum.hpp"
#include "kernels/peers/jds/build.hpp"
#include "kernels/peers/jds/jds.hpp"

namespace trireme {
namespace {

constexpr std::int64_t kSortedRowsPerBlock = 256;

// The sums of `count` sorted rows from `begin` on.
template <class Value>
void sum_rows(const jds::Layout<Value>& a, std::int64_t begin, std::int64_t count,
              std::span<const Value> x, HostSumOf<Value>* sums) {
  std::fill(sums, sums + count, HostSumOf<Value>{});
  for (std::int64_t j = 0; j < a.diagonals(); ++j) {
    const std::int64_t here = std::min(a.jds_ptr[j + 1] - a.jds_ptr[j] - begin, count);
    if (here <= 0) return;
    const std::int32_t* cols = a.cols.data() + a.jds_ptr[j] + begin;
    const Value* vals = a.vals.data() + a.jds_ptr[j] + begin;
    for (std::int64_t i = 0; i < here; ++i) sums[i] += term_of_sum(vals[i], x[cols[i]]);
  }
}

template <class Value>
class JdsHost final : public HostKernel<Value> {
 public:
  explicit JdsHost(const CsrView<Value>& matrix)
      : a_(matrix), layout_(jds::build(matrix, steps_)) {}

  // The blocks of long rows come first and take longer, so that threads take blocks as they finish.
  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    const bool add = accumulate == Accumulate::yes;
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t begin = 0; begin < layout_.rows(); begin += kSortedRowsPerBlock) {
      HostSumOf<Value> sums[kSortedRowsPerBlock];
      const std::int64_t count = std::min(kSortedRowsPerBlock, layout_.rows() - begin);
      sum_rows(layout_, begin, count, x, sums);
      for (std::int64_t i = 0; i < count; ++i)
        store_or_add(y[layout_.row_order[begin + i]], sums[i], add);
    }
  }

  void update_values(std::span<const Value> values) override {
    a_.values = values;
    jds::fill_values(a_, layout_);
  }

  KernelStatistics statistics() const override {
    const auto indices =
        std::ssize(layout_.row_order) + std::ssize(layout_.jds_ptr) + std::ssize(layout_.cols);
    return {.stored_bytes = static_cast<std::int64_t>(indices * sizeof(std::int32_t) +
                                                      layout_.vals.size() * sizeof(Value)),
            .padding_ratio = 0,
            .steps = steps_};
  }

 private:
  CsrView<Value> a_;
  std::vector<BuildStep> steps_;
  jds::Layout<Value> layout_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_jds_host(const CsrView<Value>& matrix) {
  return std::make_unique<JdsHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_jds_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_jds_host(const CsrView<float>&);

}  // namespace trireme
