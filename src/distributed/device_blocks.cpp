// SPDX-License-Identifier: BSD-3-Clause
// Uploads both blocks once, and their values once per version.
#include "distributed/device_blocks.hpp"

#include "base/stopwatch.hpp"

namespace trireme {

DeviceBlocks::Shared DeviceBlocks::of(DistributedMatrix& matrix) {
  std::shared_ptr<DeviceBlocks>& blocks = matrix.on_device;
  if (blocks && blocks->version_ == matrix.values_version) return {blocks, 0};
  const Stopwatch watch;
  if (!blocks) {
    blocks = std::make_shared<DeviceBlocks>(matrix);
  } else {
    std::uint64_t seen = blocks->version_;
    blocks->refresh(matrix, seen);
  }
  return {blocks, watch.seconds()};
}

DeviceBlocks::DeviceBlocks(const DistributedMatrix& matrix) : version_(matrix.values_version) {
  const SplitRows& blocks = matrix.blocks;
  local_ = to_device(blocks.local.view(), stream_);
  const bool ghosts = blocks.ghost.nnz() > 0;
  if (ghosts && is_boundary(blocks.ghost))
    boundary_ = std::make_unique<BoundaryProduct>(blocks.ghost, stream_);
  has_ghost_ = ghosts && !boundary_;
  if (has_ghost_) ghost_ = to_device(blocks.ghost.view(), stream_);
  stream_.synchronize();
}

void DeviceBlocks::upload_values(const SplitRows& blocks) {
  copy_to_device(std::span<const double>(blocks.local.values), local_.values.span(), stream_);
  if (has_ghost_)
    copy_to_device(std::span<const double>(blocks.ghost.values), ghost_.values.span(), stream_);
  if (boundary_) boundary_->update_values(blocks.ghost.values, stream_);
  stream_.synchronize();
}

// An operator that has the present version and calls nevertheless knows of values that were
// written without a new version.
void DeviceBlocks::refresh(const DistributedMatrix& matrix, std::uint64_t& seen) {
  const bool uploaded = version_ == matrix.values_version && seen != version_;
  if (!uploaded) upload_values(matrix.blocks);
  version_ = seen = matrix.values_version;
}

}  // namespace trireme
