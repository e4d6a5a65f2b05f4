// SPDX-License-Identifier: BSD-3-Clause
// Uploads both blocks once, and their values once per version.
#include "distributed/device_blocks.hpp"

#include <utility>

#include "base/stopwatch.hpp"

namespace trireme {

DeviceBlocks::Shared DeviceBlocks::of(DistributedMatrix& matrix) {
  std::shared_ptr<DeviceBlocks>& blocks = matrix.on_device;
  if (!blocks) {
    prepare(matrix, nullptr);
  } else if (blocks->version_ != matrix.values_version) {
    const Stopwatch watch;
    std::uint64_t seen = blocks->version_;
    blocks->refresh(matrix, seen);
    blocks->upload_seconds_ += watch.seconds();
  }
  return {blocks, std::exchange(blocks->upload_seconds_, 0)};
}

void DeviceBlocks::prepare(DistributedMatrix& matrix, std::unique_ptr<Uploader> uploader) {
  matrix.on_device = std::make_shared<DeviceBlocks>(matrix, std::move(uploader));
}

DeviceBlocks::DeviceBlocks(const DistributedMatrix& matrix, std::unique_ptr<Uploader> uploader)
    : uploader_(std::move(uploader)), version_(matrix.values_version) {
  const Stopwatch watch;
  if (!uploader_) uploader_ = std::make_unique<Uploader>();
  const SplitRows& blocks = matrix.blocks;
  local_ = to_device(blocks.local.view(), *uploader_, stream_);
  const bool ghosts = blocks.ghost.nnz() > 0;
  if (ghosts && is_boundary(blocks.ghost))
    boundary_ = std::make_unique<BoundaryProduct>(blocks.ghost, stream_);
  has_ghost_ = ghosts && !boundary_;
  if (has_ghost_) ghost_ = to_device(blocks.ghost.view(), *uploader_, stream_);
  stream_.synchronize();
  upload_seconds_ = watch.seconds();
}

void DeviceBlocks::upload_values(const SplitRows& blocks) {
  uploader_->copy(std::span<const double>(blocks.local.values), local_.values.span(), stream_);
  if (has_ghost_)
    uploader_->copy(std::span<const double>(blocks.ghost.values), ghost_.values.span(), stream_);
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
