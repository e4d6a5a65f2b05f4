// SPDX-License-Identifier: BSD-3-Clause
// The functions of permutation.hpp in a build without CUDA: they all fail.
#include "device/no_cuda.hpp"
#include "kernels/permutation.hpp"

namespace trireme {

DeviceCsrMatrix<double> permuted_matrix(const DeviceCsr<double>&, DeviceSpan<const std::int32_t>,
                                        StreamRef) {
  no_cuda();
}
SortedPermutedMatrix sorted_permuted_matrix(const DeviceCsr<double>&,
                                            DeviceSpan<const std::int32_t>, StreamRef) {
  no_cuda();
}
void compose(DeviceSpan<const std::int32_t>, DeviceSpan<const std::int32_t>,
             DeviceSpan<std::int32_t>, StreamRef) {
  no_cuda();
}
void permute_values(DeviceSpan<const std::int32_t>, DeviceSpan<const double>,
                    DeviceSpan<const std::int32_t>, DeviceSpan<const std::int32_t>,
                    DeviceSpan<double>, StreamRef) {
  no_cuda();
}
void permute(DeviceSpan<const double>, DeviceSpan<const std::int32_t>, DeviceSpan<double>,
             StreamRef) {
  no_cuda();
}
void permute_back(DeviceSpan<const double>, DeviceSpan<const std::int32_t>, DeviceSpan<double>,
                  StreamRef) {
  no_cuda();
}
std::int64_t breaks_in(DeviceSpan<const std::int32_t>, StreamRef) { no_cuda(); }

}  // namespace trireme
