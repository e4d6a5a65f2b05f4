// SPDX-License-Identifier: BSD-3-Clause
// Upload, build and the product.
#include "operators/cuda_operator.hpp"

#include <algorithm>
#include <utility>

#include "base/stopwatch.hpp"
#include "operators/gather.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

using Part = Operator::Observer::Part;

}  // namespace

DeviceBlock::DeviceBlock(const CsrMatrix<double>& block, StreamRef stream)
    : row_ptr(to_device(std::span<const std::int32_t>(block.row_ptr), stream)),
      col_idx(to_device(std::span<const std::int32_t>(block.col_idx), stream)),
      values(to_device(std::span<const double>(block.values), stream)),
      rows(block.rows),
      cols(block.cols) {}

DeviceCsr<double> DeviceBlock::view() const {
  return {.rows = rows,
          .cols = cols,
          .nnz = static_cast<std::int64_t>(values.size()),
          .row_ptr = row_ptr.view(),
          .col_idx = col_idx.view(),
          .values = values.view()};
}

CudaOperator::CudaOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel)
    : Operator(std::move(matrix), kernel) {
  const SplitRows& blocks = matrix_->blocks;
  const HaloPlan& halo = matrix_->halo;
  collectively(matrix_->comm, [&] {
    Stopwatch watch;
    local_block_ = DeviceBlock(blocks.local, stream_);
    if (blocks.ghost.nnz() > 0) ghost_block_ = DeviceBlock(blocks.ghost, stream_);
    stream_.synchronize();
    upload_seconds_ = watch.lap();
    local_ = build_cuda_kernel<double>(kernel, local_block_.view(), stream_);
    if (blocks.ghost.nnz() > 0)
      ghost_ = build_cuda_kernel<double>(kernel, ghost_block_.view(), stream_);
    build_seconds_ = watch.lap();
    send_rows_ = to_device(std::span<const std::int32_t>(halo.send_rows), stream_);
    ghosts_ = DeviceBuffer<double>(halo.ghosts, stream_);
    packed_pinned_ = PinnedBuffer<double>(halo.send_rows.size());
    ghosts_pinned_ = PinnedBuffer<double>(halo.ghosts);
    stream_.synchronize();
  });
  exchange_ = std::make_unique<HaloExchange>(matrix_->comm, halo, packed_pinned_.span(),
                                             ghosts_pinned_.span());
}

void CudaOperator::multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream) {
  const bool halo = !matrix_->halo.empty();
  events_.begin(stream);
  if (halo)
    observed(Part::halo, [&] {
      gather(x, send_rows_.view(), packed_pinned_.device_span(), stream);
      packed_.record(stream);
    });
  observed(Part::local, [&] { local_->multiply(x, y, Accumulate::no, stream); });
  if (halo)
    observed(Part::halo, [&] {
      packed_.synchronize();
      exchange_->begin();
      exchange_->end();
    });
  if (ghost_)
    observed(Part::ghost, [&] {
      copy_to_device(std::span<const double>(ghosts_pinned_.span()), ghosts_.span(), stream);
      ghost_->multiply(ghosts_.view(), y, Accumulate::yes, stream);
    });
  events_.end(stream);
}

void CudaOperator::multiply(std::span<const double> x, std::span<double> y) {
  if (x_.size() != x.size()) {
    x_pinned_ = PinnedBuffer<double>(x.size());
    y_pinned_ = PinnedBuffer<double>(y.size());
    x_ = DeviceBuffer<double>(x.size(), stream_);
    y_ = DeviceBuffer<double>(y.size(), stream_);
  }
  const Stopwatch watch;
  std::copy(x.begin(), x.end(), x_pinned_.data());
  copy_to_device(std::span<const double>(x_pinned_.span()), x_.span(), stream_);
  multiply(x_.view(), y_.span(), stream_);
  copy_to_host(y_.view(), y_pinned_.span(), stream_);
  stream_.synchronize();
  std::copy_n(y_pinned_.data(), y.size(), y.begin());
  staged_seconds_ += watch.seconds();
  ++staged_products_;
}

void CudaOperator::refresh_values() {
  const SplitRows& blocks = matrix_->blocks;
  copy_to_device(std::span<const double>(blocks.local.values), local_block_.values.span(), stream_);
  local_->update_values(local_block_.values.view(), stream_);
  if (ghost_) {
    copy_to_device(std::span<const double>(blocks.ghost.values), ghost_block_.values.span(),
                   stream_);
    ghost_->update_values(ghost_block_.values.view(), stream_);
  }
  stream_.synchronize();
}

KernelStatistics CudaOperator::statistics() const {
  return ghost_ ? combined(local_->statistics(), ghost_->statistics()) : local_->statistics();
}

ProductTimes& CudaOperator::times() {
  events_.read_into(times_);
  return times_;
}

double CudaOperator::staging_us() {
  if (staged_products_ == 0) return 0;
  const double product = summarise(times().kept(), 0).mean;
  return 1e6 * staged_seconds_ / static_cast<double>(staged_products_) - product;
}

int rank_on_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const int rank = rank_of(node);
  MPI_Comm_free(&node);
  return rank;
}

}  // namespace trireme
