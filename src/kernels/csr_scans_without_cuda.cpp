// SPDX-License-Identifier: BSD-3-Clause
// The functions of csr_scans.hpp in a build without CUDA: they all fail.
#include "base/error.hpp"
#include "kernels/csr_scans.hpp"

namespace trireme {
namespace {

[[noreturn]] void no_cuda() {
  fail(ExitCode::resource, "this Trireme was built without CUDA; use device: cpu");
}

}  // namespace

InverseDiagonal invert_diagonal(std::span<const DeviceRowBlock<double>>, StreamRef) { no_cuda(); }
SkewSums skew_sums(std::span<const DeviceRowBlock<double>>, std::int64_t, StreamRef) { no_cuda(); }

}  // namespace trireme
