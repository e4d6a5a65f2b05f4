// SPDX-License-Identifier: BSD-3-Clause
// The tentative prolongator: orthogonal factors of the near-nullspace on each aggregate.
#include <cmath>

#include "multigrid/refusals.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/members.hpp"
#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/orthogonalise_modes.hpp"
#include "multigrid/set_up/prolongator.hpp"
#include "solvers/state.hpp"

namespace trireme::multigrid {

Tentative make_tentative(const Aggregates& aggregates, const NearNullspace& modes,
                         std::int32_t block_size) {
  Tentative result;
  result.block_size = block_size;
  result.width = modes.width > 0 ? modes.width : block_size;
  if (modes.width == 0) return result;
  const auto count = static_cast<std::int64_t>(modes.values.size());
  const std::int64_t width = modes.width;
  const std::int64_t behind = HostPlace::maximum(count, std::int64_t{0}, [&](std::int64_t k) {
    return std::isfinite(modes.values[k]) ? 0 : count - k;
  });
  if (behind > 0) refuse_mode((count - behind) % width);
  result.values = modes.values;
  result.coarse_modes.width = modes.width;
  result.coarse_modes.values.assign(aggregates.count() * width * width, 0.0);
  const Members members(aggregates.of_node, aggregates.count());
  HostPlace::for_each(aggregates.count(),
                      by_one_thread<kLanesOfAggregate>(OrthogonaliseModes{
                          members.first.data(), members.member.data(), block_size, modes.width,
                          result.values.data(), result.coarse_modes.values.data()}));
  return result;
}

}  // namespace trireme::multigrid
