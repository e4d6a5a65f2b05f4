// SPDX-License-Identifier: BSD-3-Clause
// Uploads both blocks once, and their values once per version.
#include "distributed/device_blocks.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "distributed/boundary_rows.hpp"
#include "kernels/permutation.hpp"

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

DeviceBlocks::Shared DeviceBlocks::of(OrderedMatrix& ordered) {
  Shared shared = of(ordered.matrix());
  ordered.refresh_old_values();
  const Stopwatch watch;
  std::shared_ptr<DeviceBlocks>& blocks = ordered.on_device;
  if (!blocks) {
    blocks = std::make_shared<DeviceBlocks>(ordered, std::move(shared.blocks));
  } else if (blocks->version_ != ordered.matrix().values_version) {
    std::uint64_t seen = blocks->version_;
    blocks->refresh(ordered.matrix(), seen);
  } else {
    return {blocks, shared.upload_seconds, 0};
  }
  return {blocks, shared.upload_seconds, watch.seconds()};
}

const DeviceBlocks* DeviceBlocks::find(const DistributedMatrix& matrix) {
  const DeviceBlocks* blocks = matrix.on_device.get();
  return blocks && blocks->version_ == matrix.values_version ? blocks : nullptr;
}

void DeviceBlocks::prepare(DistributedMatrix& matrix, std::unique_ptr<Uploader> uploader,
                           const MakeLocal& make_local) {
  matrix.on_device = std::make_shared<DeviceBlocks>(matrix, std::move(uploader), make_local);
}

DeviceBlocks::DeviceBlocks(const DistributedMatrix& matrix, std::unique_ptr<Uploader> uploader,
                           const MakeLocal& make_local)
    : uploader_(std::move(uploader)), version_(matrix.values_version) {
  const Stopwatch watch;
  if (!uploader_) uploader_ = std::make_unique<Uploader>();
  const CsrMatrix<double>& local = matrix.blocks.local;
  local_ =
      make_local ? make_local(local, *uploader_, stream_) : to_device(local, *uploader_, stream_);
  make_ghost(matrix.blocks.ghost);
  stream_.synchronize();
  upload_seconds_ = watch.seconds();
}

DeviceBlocks::DeviceBlocks(OrderedMatrix& ordered, std::shared_ptr<DeviceBlocks> callers)
    : version_(callers->version_),
      ordered_(&ordered),
      callers_(std::move(callers)),
      callers_version_(version_),
      order_(to_device(ordered.order(), stream_)) {
  SortedPermutedMatrix local =
      sorted_permuted_matrix(callers_->local().view(), order_.view(), stream_);
  local_ = {.arrays = std::move(local.matrix)};
  entries_ = std::move(local.entries);
  make_ghost(ordered.ghost());
  stream_.synchronize();
}

void DeviceBlocks::make_ghost(const CsrMatrix<double>& ghost) {
  if (ghost.nnz() == 0) return;
  if (is_boundary(ghost)) {
    boundary_ = std::make_unique<BoundaryProduct>(ghost, stream_);
    return;
  }
  if (!uploader_) uploader_ = std::make_unique<Uploader>();
  ghost_ = to_device(ghost, *uploader_, stream_);
  has_ghost_ = true;
}

void DeviceBlocks::upload_values(const DistributedMatrix& matrix) {
  if (ordered_) {
    callers_->refresh(matrix, callers_version_);
    ordered_->refresh_values();
    permute(callers_->local().arrays.values.view(), entries_.view(), local_.arrays.values.span(),
            stream_);
  } else if (version_ahead_ == matrix.values_version) {
    copy_on_device(ahead_.view(), local_.arrays.values.span(), stream_);
  } else {
    uploader_->copy(std::span<const double>(matrix.blocks.local.values),
                    local_.arrays.values.span(), stream_);
  }
  const Array<double>& ghost = ordered_ ? ordered_->ghost().values : matrix.blocks.ghost.values;
  if (has_ghost_)
    uploader_->copy(std::span<const double>(ghost), ghost_.arrays.values.span(), stream_);
  if (boundary_) boundary_->update_values(ghost, stream_);
  stream_.synchronize();
}

void DeviceBlocks::reserve_ahead() {
  if (!stream_ahead_) stream_ahead_.emplace();
  if (ahead_.size() != local_.arrays.values.size())
    ahead_ = DeviceBuffer<double>(local_.arrays.values.size(), *stream_ahead_);
}

void DeviceBlocks::upload_ahead(std::span<const double> values, std::uint64_t version) {
  if (ordered_ || values.size() != ahead_.size())
    throw Error(ExitCode::internal,
                "values ahead are those of a local block in the caller's order");
  version_ahead_.reset();
  uploader_->copy(values, ahead_.span(), *stream_ahead_);
  stream_ahead_->synchronize();
  version_ahead_ = version;
}

// An operator that has the present version and calls nevertheless knows of values that were
// written without a new version.
void DeviceBlocks::refresh(const DistributedMatrix& matrix, std::uint64_t& seen) {
  const bool uploaded = version_ == matrix.values_version && seen != version_;
  if (!uploaded) upload_values(matrix);
  version_ = seen = matrix.values_version;
}

}  // namespace trireme
