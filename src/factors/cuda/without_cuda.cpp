// SPDX-License-Identifier: BSD-3-Clause
// A build without CUDA has no GPU that could make factors.
#include "base/error.hpp"
#include "factors/cuda/device_factors.hpp"

namespace trireme::factors {

std::unique_ptr<DeviceFactors> DeviceFactors::make(const FactorPattern&, const DeviceCsr<double>&,
                                                   bool, const SweepOptions&) {
  fail(ExitCode::resource, "this build has no CUDA");
}

}  // namespace trireme::factors
