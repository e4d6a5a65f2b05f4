// SPDX-License-Identifier: BSD-3-Clause
// The function of device_ordering.hpp in a build without CUDA: it fails.
#include "base/error.hpp"
#include "ordering/device_ordering.hpp"

namespace trireme {

DeviceBuffer<std::int32_t> cluster_order(const DeviceCsr<double>& /*a*/, StreamRef /*stream*/) {
  fail(ExitCode::resource, "this Trireme was built without CUDA; use device: cpu");
}

}  // namespace trireme
