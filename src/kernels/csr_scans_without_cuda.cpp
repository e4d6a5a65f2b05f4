// SPDX-License-Identifier: BSD-3-Clause
// The functions of csr_scans.hpp in a build without CUDA: they all fail.
#include "device/no_cuda.hpp"
#include "kernels/csr_scans.hpp"

namespace trireme {

InverseDiagonal invert_diagonal(std::span<const DeviceRowBlock<double>>, StreamRef, bool) {
  no_cuda();
}
RowFacts row_facts(std::span<const DeviceRowBlock<double>>, std::int64_t,
                   DeviceSpan<const std::uint8_t>, StreamRef) {
  no_cuda();
}
RowSizeRange row_size_range(std::span<const DeviceRowBlock<double>>, StreamRef) { no_cuda(); }

}  // namespace trireme
