// SPDX-License-Identifier: BSD-3-Clause
// The functions of narrow_kernel.hpp in a build without CUDA: they all fail.
#include "device/no_cuda.hpp"
#include "kernels/narrow_kernel.hpp"

namespace trireme {

void round_to_fp32(DeviceSpan<const double>, DeviceSpan<float>, StreamRef) { no_cuda(); }
NarrowKernel::NarrowKernel(std::string_view, const DeviceCsr<double>&, DeviceSpan<const float>,
                           StreamRef) {
  no_cuda();
}
bool NarrowKernel::exists(std::string_view) { return false; }
void NarrowKernel::multiply(DeviceSpan<const float>, DeviceSpan<float>, DeviceSpan<double>,
                            StreamRef) {
  no_cuda();
}
void NarrowKernel::update_values(DeviceSpan<const double>, StreamRef) { no_cuda(); }

}  // namespace trireme
