// SPDX-License-Identifier: BSD-3-Clause
#include "factors/cuda/device_factors.hpp"

#include <utility>

#include "factors/cuda/device_numbers.hpp"
#include "factors/cuda/device_sweeps.hpp"

namespace trireme::factors {
namespace {

class OwnedDeviceFactors final : public DeviceFactors {
 public:
  OwnedDeviceFactors(const FactorPattern& pattern, const DeviceCsr<double>& a, bool definite,
                     const SweepOptions& options)
      : pattern_(to_device(pattern, a, stream_)),
        definite_(definite),
        sweeps_(pattern, pattern_, options, stream_) {
    renew(a);
  }

  void renew(const DeviceCsr<double>& a) override {
    const DeviceNumbers made = make_numbers_on_device(pattern_, a, definite_, stream_);
    if (sweeps_.take(pattern_, made, stream_)) ++version_;
    stream_.synchronize();
    facts_ = {.replaced = made.replaced,
              .shift = made.shift,
              .in_fp32 = made.in_fp32,
              .kernel = sweeps_.kernel()};
  }

  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override {
    sweeps_.enqueue(r, z, stream);
  }
  std::uint64_t version() const override { return version_; }
  DeviceFacts facts() const override { return facts_; }

 private:
  Stream stream_;
  DevicePattern pattern_;
  bool definite_;
  DeviceSweeps sweeps_;
  DeviceFacts facts_;
  std::uint64_t version_ = 0;
};

}  // namespace

std::unique_ptr<DeviceFactors> DeviceFactors::make(const FactorPattern& pattern,
                                                   const DeviceCsr<double>& a, bool definite,
                                                   const SweepOptions& options) {
  return std::make_unique<OwnedDeviceFactors>(pattern, a, definite, options);
}

}  // namespace trireme::factors
