// SPDX-License-Identifier: BSD-3-Clause
// Uploads both blocks once, and their values once per version. Without entries, every visit of a
// block of rows uploads it.
#include "distributed/device_blocks.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/device.hpp"
#include "distributed/boundary_rows.hpp"
#include "kernels/permutation.hpp"

namespace trireme {

DeviceBlocks::Shared DeviceBlocks::of(DistributedMatrix& matrix, Entries entries) {
  std::shared_ptr<DeviceBlocks>& blocks = matrix.on_device;
  if (!blocks) {
    prepare(matrix, nullptr, {}, entries);
  } else {
    const Stopwatch watch;
    if (blocks->version_ != matrix.values_version) {
      std::uint64_t seen = blocks->version_;
      blocks->refresh(matrix, seen);
    }
    if (entries == Entries::needed) blocks->bring_entries(matrix);
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

DeviceBlocks* DeviceBlocks::find(const DistributedMatrix& matrix) {
  DeviceBlocks* blocks = matrix.on_device.get();
  return blocks && blocks->version_ == matrix.values_version ? blocks : nullptr;
}

bool DeviceBlocks::left_entries_out(const DistributedMatrix& matrix) {
  return matrix.on_device && !matrix.on_device->has_entries_;
}

bool DeviceBlocks::entries_fit_well(double rows, double nnz, double free_bytes) {
  constexpr double kMostOfFreeMemory = 1.0 / 3;
  return 4 * rows + 12 * nnz <= kMostOfFreeMemory * free_bytes;
}

bool DeviceBlocks::entries_fit_well(double rows, double nnz) {
  constexpr double kLittle = 64e6;  // bytes, for which the driver need not be asked
  return entries_fit_well(rows, nnz, kLittle) ||
         entries_fit_well(rows, nnz, static_cast<double>(device_memory().free_bytes));
}

void DeviceBlocks::prepare(DistributedMatrix& matrix, std::unique_ptr<Uploader> uploader,
                           const MakeLocal& make_local, Entries entries) {
  const CsrMatrix<double>& local = matrix.blocks.local;
  const bool with_entries =
      make_local || entries == Entries::needed ||
      entries_fit_well(static_cast<double>(local.rows), static_cast<double>(local.nnz()));
  matrix.on_device =
      std::make_shared<DeviceBlocks>(matrix, std::move(uploader), make_local, with_entries);
}

DeviceBlocks::DeviceBlocks(const DistributedMatrix& matrix, std::unique_ptr<Uploader> uploader,
                           const MakeLocal& make_local, bool with_entries)
    : uploader_(std::move(uploader)), has_entries_(with_entries), version_(matrix.values_version) {
  const Stopwatch watch;
  const CsrMatrix<double>& local = matrix.blocks.local;
  if (make_local) {
    local_ = make_local(local, this->uploader(), stream_);
  } else if (has_entries_) {
    local_ = to_device(local, this->uploader(), stream_);
  } else {
    local_.arrays.rows = local.rows;
    local_.arrays.cols = local.cols;
    local_.arrays.row_ptr =
        this->uploader().to_device(std::span<const std::int32_t>(local.row_ptr), stream_);
    local_.later = later_blocks(local);
  }
  make_ghost(matrix.blocks.ghost);
  stream_.synchronize();
  uploader_.reset();  // its pinned memory serves other copies
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

const BlockedDeviceCsr<double>& DeviceBlocks::local() const {
  if (!has_entries_) fail(ExitCode::internal, "the entries of the matrix are not in GPU memory");
  return local_;
}

void DeviceBlocks::for_each_block(const DistributedMatrix& matrix, const VisitBlock& visit) {
  if (has_entries_) {
    for (const DeviceRowBlock<double>& block : local_.blocks()) visit(block);
    return;
  }
  const CsrMatrix<double>& local = matrix.blocks.local;
  DeviceRowBlock<double> block;
  std::size_t number = 0;
  for (const RowBlock<double>& rows : local.blocks()) {
    const CsrView<double>& csr = rows.csr;
    const auto column_indices = uploader().to_device(csr.col_idx, stream_);
    const auto values = uploader().to_device(csr.values, stream_);
    stream_.synchronize();
    const auto first = static_cast<std::size_t>(rows.first_row) + number++;
    block.first_row = rows.first_row;
    block.csr = {csr.rows,
                 csr.cols,
                 csr.nnz(),
                 local_.arrays.row_ptr.view().subspan(first, csr.row_ptr.size()),
                 column_indices.view(),
                 values.view()};
    visit(block);
    block.first_entry += csr.nnz();
  }
}

void DeviceBlocks::bring_entries(const DistributedMatrix& matrix) {
  if (has_entries_) return;
  const CsrMatrix<double>& local = matrix.blocks.local;
  DeviceCsrMatrix<double>& arrays = local_.arrays;  // kernels hold row_ptr
  auto values = uploader().to_device(std::span<const double>(local.values), stream_);
  arrays.col_idx = uploader().to_device(std::span<const std::int32_t>(local.col_idx), stream_);
  arrays.values = std::move(values);
  stream_.synchronize();
  has_entries_ = true;
}

Uploader& DeviceBlocks::uploader() {
  if (!uploader_) uploader_ = std::make_unique<Uploader>();
  return *uploader_;
}

void DeviceBlocks::make_ghost(const CsrMatrix<double>& ghost) {
  if (ghost.nnz() == 0) return;
  if (is_boundary(ghost)) {
    boundary_ = std::make_unique<BoundaryProduct>(ghost, stream_);
    return;
  }
  ghost_ = to_device(ghost, uploader(), stream_);
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
  } else if (has_entries_) {
    uploader().copy(std::span<const double>(matrix.blocks.local.values),
                    local_.arrays.values.span(), stream_);
  }
  const Array<double>& ghost = ordered_ ? ordered_->ghost().values : matrix.blocks.ghost.values;
  if (has_ghost_)
    uploader().copy(std::span<const double>(ghost), ghost_.arrays.values.span(), stream_);
  if (boundary_) boundary_->update_values(ghost, stream_);
  stream_.synchronize();
}

void DeviceBlocks::reserve_ahead() {
  if (!has_entries_)
    fail(ExitCode::resource, "GPU memory: there is no room for the entries of the matrix");
  uploader();  // made here for the threads of this thread
  if (!stream_ahead_) stream_ahead_.emplace();
  if (ahead_.size() != local_.arrays.values.size())
    ahead_ = DeviceBuffer<double>(local_.arrays.values.size(), *stream_ahead_);
}

void DeviceBlocks::upload_ahead(std::span<const double> values, std::uint64_t version) {
  if (ordered_ || values.size() != ahead_.size())
    throw Error(ExitCode::internal,
                "values ahead are those of a local block in the caller's order");
  version_ahead_.reset();
  uploader().copy(values, ahead_.span(), *stream_ahead_);
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
