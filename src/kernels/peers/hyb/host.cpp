// SPDX-License-Identifier: BSD-3-Clause
// The host executor: the padded rows write y, and the entries with coordinates are added to it.
#include "base/stopwatch.hpp"
#include "kernels/peers/hyb/build.hpp"
#include "kernels/peers/hyb/hyb.hpp"

namespace trireme {
namespace {

template <class Value>
class HybHost final : public HostKernel<Value> {
 public:
  explicit HybHost(const CsrView<Value>& matrix) : a_(matrix) {
    Stopwatch watch;
    const std::int64_t width = a_.rows > 0 ? hyb::choose_width(a_.row_ptr) : 0;
    steps_.push_back({"choose the width", watch.lap()});
    layout_ = hyb::build(a_, width, steps_);
    carries_.resize(layout_.coo.segments());
  }

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    trireme::multiply(layout_.ell, x, y, accumulate);
    add_product<Value>(layout_.coo, x, y, carries_);
  }

  void update_values(std::span<const Value> values) override {
    a_.values = values;
    hyb::fill_values(a_, layout_);
  }

  KernelStatistics statistics() const override {
    const auto nnz = static_cast<double>(a_.nnz());
    const auto stored = static_cast<double>(layout_.ell.entries() + layout_.coo.entries());
    return {.stored_bytes = layout_.ell.bytes() + layout_.coo.bytes(),
            .padding_ratio = nnz > 0 ? stored / nnz - 1 : 0,
            .steps = steps_};
  }

 private:
  CsrView<Value> a_;
  hyb::Layout<Value> layout_;
  Array<HostSumOf<Value>> carries_;
  std::vector<BuildStep> steps_;
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_hyb_host(const CsrView<Value>& matrix) {
  return std::make_unique<HybHost<Value>>(matrix);
}

template std::unique_ptr<HostKernel<double>> build_hyb_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_hyb_host(const CsrView<float>&);

}  // namespace trireme
