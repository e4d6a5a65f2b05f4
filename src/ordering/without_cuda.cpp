// SPDX-License-Identifier: BSD-3-Clause
// The function of device_ordering.hpp in a build without CUDA: it fails.
#include "device/no_cuda.hpp"
#include "ordering/device_ordering.hpp"

namespace trireme {

DeviceBuffer<std::int32_t> cluster_order(const DeviceCsr<double>& /*a*/, StreamRef /*stream*/) {
  no_cuda();
}

}  // namespace trireme
