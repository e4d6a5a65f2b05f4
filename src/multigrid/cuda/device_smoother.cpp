// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/cuda/device_smoother.hpp"

#include <algorithm>
#include <cmath>

#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/refusals.hpp"

namespace trireme::multigrid {

void set_smoother(DeviceLevel& level, const Options& options, const SmoothedLevel& task,
                  StreamRef stream, const RankOfRows& rank) {
  const DeviceCsr<double>& a = level.a;
  const Smoother smoother = chosen_smoother(options, task);
  if (smoother == Smoother::block_jacobi) level.block_size = task.node_size;
  const auto numbers = static_cast<std::size_t>(a.rows * level.block_size);
  if (level.inverse.size() != numbers) level.inverse = ScratchBuffer<double>(numbers, stream);
  const DeviceSpan<double> inverse = level.inverse.span();
  invert_diagonal(a, task.number, inverse.subspan(0, static_cast<std::size_t>(a.rows)), stream,
                  rank);
  if (smoother == Smoother::l1_jacobi) invert_l1_diagonal(a, inverse, stream);
  if (smoother == Smoother::block_jacobi)
    invert_blocks(a, task.node_size, task.number, inverse, stream, rank);
  const std::int32_t degree = task.coarsest ? kMaxDegree : options.degree;
  if (smoother == Smoother::l1_jacobi) {
    level.spectral_radius = 1;
    level.smoothing = jacobi_smoothing(degree, 1);
    return;
  }
  double radius = 0;
  if (task.symmetric && task.radius > 0 && smoother != Smoother::block_jacobi)
    radius = task.radius;
  else if (task.symmetric)
    radius = estimate_radius(a, inverse, level.block_size, stream, rank, task.node_size);
  double high = kMargin * radius;
  if (smoother != Smoother::block_jacobi) {
    double bound = largest_row_sum(a, inverse, stream);
    if (!rank.alone()) bound = rank.ghosts->max(bound);
    radius = radius > 0 ? std::min(radius, bound) : bound;
    high = std::min(kMargin * radius, bound);
  }
  const bool has_rows = a.rows > 0 || !rank.alone();
  if (has_rows && (!(high > 0) || !std::isfinite(high))) refuse_spectrum(task.number);
  level.spectral_radius = radius;
  level.smoothing = smoothing_up_to(high, smoother, degree, task.coarsest);
}

}  // namespace trireme::multigrid
