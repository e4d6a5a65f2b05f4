// SPDX-License-Identifier: BSD-3-Clause
#include "inverses/cuda/gpu_factors.hpp"

#include <string>
#include <utility>

#include "inverses/cuda/device_fsai.hpp"
#include "kernels/registry.hpp"
#include "multigrid/cuda/device_product.hpp"
#include "planning/choose.hpp"

namespace trireme::inverses {
namespace {

// Longest rows of G^T are not known without a look at it; it has as many nonzeros as G.
class OwnedFactors final : public GpuFactors {
 public:
  OwnedFactors(Stream stream, DeviceFactor&& lower)
      : stream_(std::move(stream)), lower_(std::move(lower)) {
    upper_ = multigrid::transposed(lower_.rows.view(), stream_);
    build();
  }

  bool renew(const DeviceCsr<double>& a) override {
    const bool was_in_fp32 = lower_.in_fp32;
    if (!renew_fsai_on_device(a, lower_, stream_)) return false;
    multigrid::take_values(lower_.rows, upper_.source.view(), upper_.matrix, stream_);
    if (lower_.in_fp32 == was_in_fp32) {
      of_lower_->update_values(lower_.rows.values.view(), stream_);
      of_upper_->update_values(upper_.matrix.values.view(), stream_);
      stream_.synchronize();
    } else {
      build();
    }
    return true;
  }

  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> between, DeviceSpan<double> z,
               StreamRef stream) override {
    of_lower_->multiply(r, between, Accumulate::no, stream);
    of_upper_->multiply(between, z, Accumulate::no, stream);
  }
  std::uint64_t version() const override { return version_; }
  InverseFacts facts() const override {
    return {.nnz = lower_.rows.nnz(),
            .kernel = name_,
            .kernel_of_transposed = name_,
            .in_fp32 = lower_.in_fp32,
            .made_on_gpu = true};
  }

 private:
  void build() {
    const Precision precision = lower_.in_fp32 ? Precision::mixed : Precision::full;
    name_ = choose_kernel(Device::cuda,
                          {.rows = lower_.rows.rows,
                           .nnz = lower_.rows.nnz(),
                           .longest = lower_.longest,
                           .exact_in_float = lower_.in_fp32},
                          precision);
    const auto kernel = [&](const DeviceCsr<double>& factor) {
      return lower_.in_fp32 ? build_mixed_cuda_kernel(name_, factor, stream_)
                            : build_cuda_kernel<double>(name_, factor, stream_);
    };
    of_lower_ = kernel(lower_.rows.view());
    of_upper_ = kernel(upper_.matrix.view());
    stream_.synchronize();
    ++version_;
  }

  Stream stream_;
  DeviceFactor lower_;
  multigrid::DeviceTransposed upper_;
  std::string name_;
  std::unique_ptr<CudaKernel<double>> of_lower_, of_upper_;
  std::uint64_t version_ = 0;
};

}  // namespace

std::unique_ptr<GpuFactors> GpuFactors::make(const DeviceCsr<double>& a, std::int32_t steps) {
  if (steps > kMostStepsOnGpu) return nullptr;
  Stream stream;
  std::optional<DeviceFactor> lower = make_fsai_on_device(a, steps, stream);
  if (!lower) return nullptr;
  return std::make_unique<OwnedFactors>(std::move(stream), std::move(*lower));
}

}  // namespace trireme::inverses
