// SPDX-License-Identifier: BSD-3-Clause
// A build without CUDA has no device vectors to gather from.
#include "base/error.hpp"
#include "operators/gather.hpp"

namespace trireme {

void gather(DeviceSpan<const double> /*x*/, DeviceSpan<const std::int32_t> /*rows*/,
            DeviceSpan<double> /*to*/, StreamRef /*stream*/) {
  fail(ExitCode::resource, "this Trireme was built without CUDA; use device: cpu");
}

}  // namespace trireme
