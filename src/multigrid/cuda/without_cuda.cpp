// SPDX-License-Identifier: BSD-3-Clause
// Set-up and cycle on a GPU in a build without CUDA: they fail.
#include "device/no_cuda.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/cuda/device_product.hpp"
#include "multigrid/cuda/device_set_up.hpp"
#include "multigrid/cuda/rank_hierarchy.hpp"

namespace trireme::multigrid {

using Csr = DeviceCsr<double>;
using Numbers = DeviceSpan<const double>;
using Indices = DeviceSpan<const std::int32_t>;

DeviceRows multiply(const Csr&, const Csr&, bool, std::int32_t, StreamRef, std::int32_t) {
  no_cuda();
}
void multiply_again(const Csr&, const Csr&, bool, std::int32_t, DeviceRows&, StreamRef,
                    std::int32_t) {
  no_cuda();
}
bool nodes_share_columns(const Csr&, std::int32_t, StreamRef) { no_cuda(); }
DeviceTransposed transposed(const Csr&, StreamRef) { no_cuda(); }
void take_values(const DeviceRows&, Indices, DeviceRows&, StreamRef) { no_cuda(); }
DeviceRows transposed_pattern(std::int64_t, Indices, Indices, StreamRef) { no_cuda(); }

ScratchBuffer<double> checked_diagonal(const Csr&, StreamRef, const RankOfRows&) { no_cuda(); }
DeviceStrength find_strength(const Csr&, std::int32_t, double, StreamRef, const RankOfRows&) {
  no_cuda();
}
DeviceAggregates aggregate(const DeviceGraph&, bool, StreamRef) { no_cuda(); }
DeviceAggregates aggregate_twice(const DeviceGraph&, StreamRef) { no_cuda(); }
DeviceTentative make_tentative(const DeviceAggregates&, const DeviceModes&, std::int32_t,
                               StreamRef) {
  no_cuda();
}
ScratchBuffer<double> filtered_diagonal(const DeviceFiltered&, StreamRef) { no_cuda(); }
double filtered_spectral_radius(const DeviceFiltered&, Numbers, StreamRef, const RankOfRows&) {
  no_cuda();
}
ScratchBuffer<double> relaxed_constants(const Csr&, std::int32_t, StreamRef, const RankOfRows&) {
  no_cuda();
}
ScratchBuffer<double> scaled_values(const Csr&, Numbers, StreamRef) { no_cuda(); }
void scale_rows(Numbers, DeviceRows&, StreamRef) { no_cuda(); }
DeviceRows make_prolongator(const DeviceProlongatorRules&, StreamRef) { no_cuda(); }
void refill_prolongator(const DeviceProlongatorRules&, DeviceRows&, StreamRef) { no_cuda(); }
std::int64_t thin(const Csr&, std::int32_t, Indices, const Csr&, std::int32_t, double,
                  ScratchBuffer<std::uint8_t>&, StreamRef) {
  no_cuda();
}
double runs_of_terms(const Csr&, const Csr&, std::int32_t, StreamRef) { no_cuda(); }
ScratchBuffer<double> column_weights(const Csr&, Numbers, StreamRef) { no_cuda(); }
double largest_of(Numbers, StreamRef) { no_cuda(); }
std::int64_t repair_diagonal(DeviceRows&, Numbers, double, StreamRef) { no_cuda(); }
bool fits_fp32(const Csr&, bool, StreamRef) { no_cuda(); }
void invert_diagonal(const Csr&, int, DeviceSpan<double>, StreamRef, const RankOfRows&) {
  no_cuda();
}
void invert_l1_diagonal(const Csr&, DeviceSpan<double>, StreamRef) { no_cuda(); }
void invert_blocks(const Csr&, std::int64_t, int, DeviceSpan<double>, StreamRef,
                   const RankOfRows&) {
  no_cuda();
}
double largest_row_sum(const Csr&, Numbers, StreamRef) { no_cuda(); }
double estimate_radius(const Csr&, Numbers, std::int64_t, StreamRef, const RankOfRows&,
                       std::int64_t) {
  no_cuda();
}
bool is_symmetric(const Csr&, StreamRef, const RankOfRows&, std::int64_t) { no_cuda(); }
void eliminate_on_device(Elimination&, StreamRef) { no_cuda(); }

struct DeviceSetUp::Parts {};
DeviceSetUp::DeviceSetUp(const Csr&, const NearNullspace&, const Options&) { no_cuda(); }
DeviceSetUp::~DeviceSetUp() = default;
void DeviceSetUp::renew() { no_cuda(); }
const std::vector<DeviceLevel>& DeviceSetUp::levels() const { no_cuda(); }
bool DeviceSetUp::symmetric() const { no_cuda(); }
const SetUpFacts& DeviceSetUp::seconds() const { no_cuda(); }
const std::string& DeviceSetUp::remark() const { no_cuda(); }
Smoother DeviceSetUp::smoother() const { no_cuda(); }
std::int64_t DeviceSetUp::bytes() const { no_cuda(); }

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
void CudaHierarchy::enqueue(DeviceSpan<const double>, DeviceSpan<double>, StreamRef,
                            const solvers::LoopHints&) const {
  no_cuda();
}
std::int64_t CudaHierarchy::rows() const { no_cuda(); }
int CudaHierarchy::steps() const { no_cuda(); }
std::int64_t CudaHierarchy::bytes() const { no_cuda(); }
const std::vector<CudaLevelFacts>& CudaHierarchy::levels() const { no_cuda(); }
double CudaHierarchy::measure_product_us(int, int) const { no_cuda(); }

class RankBorders {};
class RankSetUp {};
RankHierarchy::RankHierarchy(const Hierarchy&, const MakeExchange&, const CudaCycleOptions&) {
  no_cuda();
}
RankHierarchy::RankHierarchy(const std::shared_ptr<DistributedMatrix>&, const NearNullspace&,
                             const Options&, const MakeExchange&, const CudaCycleOptions&) {
  no_cuda();
}
RankHierarchy::~RankHierarchy() = default;
void RankHierarchy::renew(const Hierarchy&) { no_cuda(); }
void RankHierarchy::renew() { no_cuda(); }
void RankHierarchy::enqueue(DeviceSpan<const double>, DeviceSpan<double>, StreamRef,
                            const solvers::LoopHints&) {
  no_cuda();
}
void RankHierarchy::check() const { no_cuda(); }

}  // namespace trireme::multigrid
