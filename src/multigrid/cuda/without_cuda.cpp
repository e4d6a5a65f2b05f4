// SPDX-License-Identifier: BSD-3-Clause
// Set-up and cycle on a GPU in a build without CUDA: they fail.
#include "base/error.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/cuda/device_product.hpp"
#include "multigrid/cuda/device_set_up.hpp"
#include "multigrid/cuda/rank_hierarchy.hpp"

namespace trireme::multigrid {
namespace {

[[noreturn]] void refuse() {
  fail(ExitCode::resource, "this Trireme was built without CUDA; use device: cpu");
}

}  // namespace

using Csr = DeviceCsr<double>;
using Numbers = DeviceSpan<const double>;
using Indices = DeviceSpan<const std::int32_t>;

DeviceRows multiply(const Csr&, const Csr&, bool, std::int32_t, StreamRef, std::int32_t) {
  refuse();
}
void multiply_again(const Csr&, const Csr&, bool, std::int32_t, DeviceRows&, StreamRef,
                    std::int32_t) {
  refuse();
}
bool nodes_share_columns(const Csr&, std::int32_t, StreamRef) { refuse(); }
DeviceTransposed transposed(const Csr&, StreamRef) { refuse(); }
void take_values(const DeviceRows&, Indices, DeviceRows&, StreamRef) { refuse(); }
DeviceRows transposed_pattern(std::int64_t, Indices, Indices, StreamRef) { refuse(); }

ScratchBuffer<double> checked_diagonal(const Csr&, StreamRef) { refuse(); }
DeviceStrength find_strength(const Csr&, std::int32_t, double, StreamRef) { refuse(); }
DeviceAggregates aggregate(const DeviceGraph&, bool, StreamRef) { refuse(); }
DeviceAggregates aggregate_twice(const DeviceGraph&, StreamRef) { refuse(); }
DeviceTentative make_tentative(const DeviceAggregates&, const DeviceModes&, std::int32_t,
                               StreamRef) {
  refuse();
}
ScratchBuffer<double> filtered_diagonal(const DeviceFiltered&, StreamRef) { refuse(); }
double filtered_spectral_radius(const DeviceFiltered&, Numbers, StreamRef) { refuse(); }
DeviceRows make_prolongator(const DeviceProlongatorRules&, StreamRef) { refuse(); }
void refill_prolongator(const DeviceProlongatorRules&, DeviceRows&, StreamRef) { refuse(); }
std::int64_t repair_diagonal(DeviceRows&, const Csr&, Numbers, StreamRef) { refuse(); }
bool fits_fp32(const Csr&, bool, StreamRef) { refuse(); }
void invert_diagonal(const Csr&, int, DeviceSpan<double>, StreamRef) { refuse(); }
void invert_l1_diagonal(const Csr&, DeviceSpan<double>, StreamRef) { refuse(); }
void invert_blocks(const Csr&, std::int64_t, int, DeviceSpan<double>, StreamRef) { refuse(); }
double largest_row_sum(const Csr&, Numbers, StreamRef) { refuse(); }
double estimate_radius(const Csr&, Numbers, std::int64_t, StreamRef) { refuse(); }
bool is_symmetric(const Csr&, StreamRef) { refuse(); }
void eliminate_on_device(Elimination&, StreamRef) { refuse(); }

struct DeviceSetUp::Parts {};
DeviceSetUp::DeviceSetUp(const Csr&, const NearNullspace&, const Options&) { refuse(); }
DeviceSetUp::~DeviceSetUp() = default;
void DeviceSetUp::renew() { refuse(); }
const std::vector<DeviceLevel>& DeviceSetUp::levels() const { refuse(); }
bool DeviceSetUp::symmetric() const { refuse(); }
const SetUpFacts& DeviceSetUp::seconds() const { refuse(); }
const std::string& DeviceSetUp::remark() const { refuse(); }
Smoother DeviceSetUp::smoother() const { refuse(); }
std::int64_t DeviceSetUp::bytes() const { refuse(); }

struct CudaHierarchy::Parts {};
CudaHierarchy::CudaHierarchy(std::span<const HostLevelParts>, CycleKind, const CudaCycleOptions&) {
  refuse();
}
CudaHierarchy::CudaHierarchy(std::span<const DeviceLevelParts>, CycleKind,
                             const CudaCycleOptions&) {
  refuse();
}
CudaHierarchy::~CudaHierarchy() = default;
bool CudaHierarchy::renew(std::span<const HostLevelParts>) { refuse(); }
bool CudaHierarchy::renew(std::span<const DeviceLevelParts>) { refuse(); }
void CudaHierarchy::enqueue(DeviceSpan<const double>, DeviceSpan<double>, StreamRef,
                            const solvers::LoopHints&) const {
  refuse();
}
std::int64_t CudaHierarchy::rows() const { refuse(); }
int CudaHierarchy::steps() const { refuse(); }
std::int64_t CudaHierarchy::bytes() const { refuse(); }
const std::vector<CudaLevelFacts>& CudaHierarchy::levels() const { refuse(); }
double CudaHierarchy::measure_product_us(int, int) const { refuse(); }

class RankBorders {};
RankHierarchy::RankHierarchy(const Hierarchy&, const MakeExchange&, const CudaCycleOptions&) {
  refuse();
}
RankHierarchy::~RankHierarchy() = default;
void RankHierarchy::renew(const Hierarchy&) { refuse(); }
void RankHierarchy::enqueue(DeviceSpan<const double>, DeviceSpan<double>, StreamRef,
                            const solvers::LoopHints&) {
  refuse();
}
void RankHierarchy::check() const { refuse(); }

}  // namespace trireme::multigrid
