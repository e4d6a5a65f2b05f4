// SPDX-License-Identifier: BSD-3-Clause
// CudaHierarchy in a build without CUDA: its constructors throw Error{resource}.
#include "base/error.hpp"
#include "multigrid/cuda_hierarchy.hpp"

namespace trireme::multigrid {
namespace {

[[noreturn]] void no_cuda() {
  fail(ExitCode::resource, "this Trireme was built without CUDA; use device: cpu");
}

}  // namespace

struct CudaHierarchy::Parts {};

CudaHierarchy::CudaHierarchy(std::span<const HostLevelParts>, CycleKind, const CudaCycleOptions&) {
  no_cuda();
}
CudaHierarchy::CudaHierarchy(std::span<const DeviceLevelParts>, CycleKind,
                             const CudaCycleOptions&) {
  no_cuda();
}
CudaHierarchy::~CudaHierarchy() = default;
bool CudaHierarchy::renew(std::span<const HostLevelParts>) { no_cuda(); }
bool CudaHierarchy::renew(std::span<const DeviceLevelParts>) { no_cuda(); }
void CudaHierarchy::enqueue(DeviceSpan<const double>, DeviceSpan<double>, StreamRef) const {
  no_cuda();
}
std::int64_t CudaHierarchy::rows() const { no_cuda(); }
int CudaHierarchy::launches() const { no_cuda(); }
int CudaHierarchy::steps() const { no_cuda(); }
std::int64_t CudaHierarchy::bytes() const { no_cuda(); }
const std::vector<CudaLevelFacts>& CudaHierarchy::levels() const { no_cuda(); }
double CudaHierarchy::measure_product_us(int, int) const { no_cuda(); }

}  // namespace trireme::multigrid
