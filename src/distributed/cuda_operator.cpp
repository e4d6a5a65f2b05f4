// SPDX-License-Identifier: BSD-3-Clause
// Uploads the blocks, builds the kernels, and queues products.
#include "distributed/cuda_operator.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "distributed/float_values.hpp"
#include "kernels/blocked_cuda_kernel.hpp"
#include "kernels/permutation.hpp"
#include "parallel/collective.hpp"
#include "sparse/permuted.hpp"

namespace trireme {
CudaOperator::CudaOperator(std::shared_ptr<DistributedMatrix> matrix, std::string_view kernel,
                           const OperatorOptions& options, const ExchangeRequest& exchange)
    : Operator(std::move(matrix), kernel, options) {
  inexact_ = mixed_ && !float_values_are_exact(*matrix_);
  bool refused = false, leaves_out = false;
  collectively(matrix_->comm, [&] {
    const Entries entries = find_kernel(kernel_).cuda_copies_entries && !inexact_
                                ? Entries::where_they_fit_well
                                : Entries::needed;
    const DeviceBlocks::Shared shared =
        ordered_ ? DeviceBlocks::of(*ordered_) : DeviceBlocks::of(*matrix_, entries);
    blocks_ = shared.blocks;
    upload_seconds_ = shared.upload_seconds;
    if (ordered_) ordered_->add_seconds(shared.order_seconds);
    values_version_ = matrix_->values_version;
    Stopwatch watch;
    const auto build_both = [&](const auto& builder) {
      return Kernels{builder(kernel_, blocks_of_local()),
                     blocks_->ghost() ? build_ghost(builder, refused) : nullptr};
    };
    kernels_ = build_both([&](std::string_view name, const EachRowBlock<double>& each_block) {
      return build(name, each_block);
    });
    if (inexact_)
      exact_ = build_both([&](std::string_view, const EachRowBlock<double>& each_block) {
        return build_by_blocks<double>(each_block, [&](const DeviceCsr<double>& rows) {
          return build_cuda_kernel<double>("albus", rows, stream_);
        });
      });
    if (inexact_) find_row_defect();
    build_seconds_ = watch.lap();
    leaves_out = !blocks_->has_entries();
  });
  all_have_entries_ = !any_rank(matrix_->comm, leaves_out);
  ghost_refusals_ = sum_over_ranks(matrix_->comm, refused ? 1 : 0);
  const bool vectors = kernels_.local->multiplies_vectors() &&
                       (!kernels_.ghost || kernels_.ghost->multiplies_vectors());
  const bool floats = mixed_ && all_have_entries_ && local().is_one_block() && !blocks_->ghost() &&
                      NarrowKernel::exists(kernel_);
  takes_floats_ = !any_rank(matrix_->comm, !floats);
  all_multiply_vectors_ = sum_over_ranks(matrix_->comm, vectors ? 0 : 1) == 0;
  exchange_request_ = exchange;
  exchange_ =
      make_gpu_exchange(matrix_->comm, ordered_ ? ordered_->halo() : matrix_->halo, exchange);
}

// Most rows of a ghost block can be empty, so that a kernel that pads its rows refuses the block. A
// kernel that lacks memory for another reason fails again here.
template <class Builder>
std::unique_ptr<CudaKernel<double>> CudaOperator::build_ghost(const Builder& builder,
                                                              bool& refused) const {
  try {
    return builder(ghost_kernel_, blocks_of_ghost());
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
    refused = true;
    return builder(plain_kernel(Device::cuda).name, blocks_of_ghost());
  }
}

EachRowBlock<double> CudaOperator::blocks_of_local() const {
  return [this](const auto& visit) { blocks_->for_each_block(*matrix_, visit); };
}

EachRowBlock<double> CudaOperator::blocks_of_ghost() const {
  return [this](const auto& visit) {
    for (const DeviceRowBlock<double>& block : blocks_->ghost()->blocks()) visit(block);
  };
}

std::unique_ptr<CudaKernel<double>> CudaOperator::build(
    std::string_view kernel, const EachRowBlock<double>& each_block) const {
  return build_by_blocks<double>(each_block, [&](const DeviceCsr<double>& rows) {
    return mixed_ ? build_mixed_cuda_kernel(kernel, rows, stream_)
                  : build_cuda_kernel<double>(kernel, rows, stream_);
  });
}

void CudaOperator::choose_row_order(std::int64_t products, const PermutationRule& rule) {
  if (size_of(matrix_->comm) > 1 || inexact_ || takes_floats_ || trial_.seconds > 0 ||
      !all_have_entries_ || !local().is_one_block())
    return;
  trial_ = try_permuted(*kernels_.local, local().view(), products, rule, stream_);
  build_seconds_ += trial_.seconds;
  if (!trial_.winner) return;
  permuted_ = std::move(trial_.winner);
  if (ordered_) {
    permuted_->compose_with(order(), stream_);
    stream_.synchronize();
  }
  if (kernels_.local.use_count() == 1) kernels_.local.reset();
}

void CudaOperator::prepare_floats() {
  if (narrow_ || !takes_floats_) return;
  const Stopwatch watch;
  try {
    narrow_.emplace(kernel_, local().view(), device_row_defect_.view(), stream_);
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
  }
  takes_floats_ = !any_rank(matrix_->comm, !narrow_ || !narrow_->is_complete());
  if (!takes_floats_) narrow_.reset();
  build_seconds_ += watch.seconds();
}

std::shared_ptr<CudaKernel<double>> CudaOperator::share_local_kernel() {
  if (!kernels_.local) kernels_.local = build(kernel_, blocks_of_local());
  return kernels_.local;
}

// A BoundaryProduct holds the exact values of the ghost block, so that rounding loses nothing
// there.
void CudaOperator::find_row_defect() {
  const SplitRows& blocks = matrix_->blocks;
  row_defect_ = trireme::row_defect(blocks, !blocks_->boundary());
  Array<float> in_order = row_defect_;
  if (ordered_) permute<float>(row_defect_, ordered_->order(), in_order);
  const std::span<const float> defect(in_order);
  if (device_row_defect_.size() == defect.size())  // recorded loops hold the address
    copy_to_device(defect, device_row_defect_.span(), stream_);
  else
    device_row_defect_ = to_device(defect, stream_);
  stream_.synchronize();
}

// The time of a product leaves out the permutations of x and y, which a loop in the order of the
// kernels does not need.
void CudaOperator::multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream) {
  const auto timed = [&](const auto& work) {
    events_.begin(stream);
    work();
    events_.end(stream);
  };
  if (!kernels_.local) {
    in_order(x, y, permuted_->order(), stream, [&](auto px, auto py) {
      timed([&] {
        observed(Part::local,
                 [&] { permuted_->kernel().multiply(px, py, Accumulate::no, stream); });
      });
    });
    return;
  }
  in_order(x, y, order(), stream, [&](auto px, auto py) {
    timed([&] {
      product(kernels_, px, py, {}, stream,
              [this](Part part, const auto& work) { observed(part, work); });
    });
  });
}

template <class Product>
void CudaOperator::in_order(DeviceSpan<const double> x, DeviceSpan<double> y,
                            DeviceSpan<const std::int32_t> order, StreamRef stream,
                            const Product& product) {
  if (order.empty()) return product(x, y);
  if (permuted_x_.empty()) {
    permuted_x_ = DeviceBuffer<double>(x.size(), stream);
    permuted_y_ = DeviceBuffer<double>(y.size(), stream);
  }
  permute(x, order, permuted_x_.span(), stream);
  product(permuted_x_.view(), permuted_y_.span());
  permute_back(permuted_y_.view(), order, y, stream);
}

void CudaOperator::queue_product(DeviceSpan<const double> x, DeviceSpan<double> y,
                                 DeviceSpan<double> partials, StreamRef stream) {
  product(kernels_, x, y, partials, stream, [](Part, const auto& work) { work(); });
}

void CudaOperator::queue_exact_product(DeviceSpan<const double> x, DeviceSpan<double> y,
                                       StreamRef stream) {
  product(inexact_ ? exact_ : kernels_, x, y, {}, stream, [](Part, const auto& work) { work(); });
}

bool CudaOperator::multiplies_vectors() const {
  return all_multiply_vectors_ && loop_kernel().multiplies_vectors();
}

void CudaOperator::prepare_multi_product(std::int64_t stride, std::int64_t width) {
  if (!exchange_) return;
  MultiHalo& halo = multi_halos_[stride];
  if (halo.width >= width) return;
  halo.exchange.reset();
  collectively(matrix_->comm, [&] {
    halo.plan =
        widened(ordered_ ? ordered_->halo() : matrix_->halo, matrix_->local_rows(), stride, width);
  });
  halo.width = width;
  halo.exchange = make_gpu_exchange(matrix_->comm, halo.plan, request_for_more());
}

void CudaOperator::queue_multi_product(DeviceMultiVector<const double> x,
                                       DeviceMultiVector<double> y, StreamRef stream) {
  if (!exchange_) return kernels_.local->multi_multiply(x, y, Accumulate::no, stream);
  const MultiHalo& halo = multi_halos_.at(x.row_stride);
  const auto elements = static_cast<std::size_t>(x.rows * x.row_stride);
  halo.exchange->send({x.data, elements}, stream);
  kernels_.local->multi_multiply(x, y, Accumulate::no, stream);
  const DeviceSpan<const double> arrived = halo.exchange->receive(stream);
  const DeviceMultiVector<const double> ghosts{
      arrived.data(), ordered_ ? ordered_->halo().ghosts : matrix_->halo.ghosts, x.width,
      halo.width, 1};
  if (kernels_.ghost)
    kernels_.ghost->multi_multiply(ghosts, y, Accumulate::yes, stream);
  else if (const BoundaryProduct* boundary = blocks_->boundary())
    boundary->multi_multiply(ghosts, y, stream);
}

// A kernel of the ghost block cannot sum x . (G g), so the whole product cannot sum either.
std::size_t CudaOperator::dot_partials() const {
  const std::size_t local = kernels_.local->dot_partials();
  if (local == 0 || kernels_.ghost) return 0;
  return local + (blocks_->boundary() ? blocks_->boundary()->dot_partials() : 0);
}

std::size_t CudaOperator::float_dot_partials() const {
  const std::size_t local = narrow_ ? narrow_->dot_partials() : 0;
  if (local == 0) return 0;
  return local + (blocks_->boundary() ? blocks_->boundary()->dot_partials() : 0);
}

void CudaOperator::queue_float_product(DeviceSpan<const float> x, DeviceSpan<float> y,
                                       DeviceSpan<double> partials, StreamRef stream) {
  if (!exchange_) return narrow_->multiply(x, y, partials, stream);
  exchange_->send(x, stream);
  const std::size_t of_local = partials.empty() ? 0 : narrow_->dot_partials();
  narrow_->multiply(x, y, {partials.data(), of_local}, stream);
  const DeviceSpan<const double> ghosts = exchange_->receive(stream);
  const BoundaryProduct* boundary = blocks_->boundary();
  if (!boundary) return;
  if (partials.empty())
    boundary->multiply(ghosts, y, stream);
  else
    boundary->multiply_and_dot(ghosts, x, y, partials.subspan(of_local, partials.size() - of_local),
                               stream);
}

template <class Around>
void CudaOperator::product(Kernels& kernels, DeviceSpan<const double> x, DeviceSpan<double> y,
                           DeviceSpan<double> partials, StreamRef stream, const Around& around) {
  const bool dot = partials.size() > 0;
  const std::size_t of_local = kernels.local->dot_partials();
  if (exchange_) around(Part::halo, [&] { exchange_->send(x, stream); });
  around(Part::local, [&] {
    if (dot)
      kernels.local->multiply_and_dot(x, y, {partials.data(), of_local}, stream);
    else
      kernels.local->multiply(x, y, Accumulate::no, stream);
  });
  if (!exchange_) return;
  DeviceSpan<const double> ghosts;
  around(Part::halo, [&] { ghosts = exchange_->receive(stream); });
  const BoundaryProduct* boundary = blocks_->boundary();
  if (!kernels.ghost && !boundary) return;
  around(Part::ghost, [&] {
    if (kernels.ghost)
      kernels.ghost->multiply(ghosts, y, Accumulate::yes, stream);
    else if (dot)
      boundary->multiply_and_dot(ghosts, x, y,
                                 {partials.data() + of_local, partials.size() - of_local}, stream);
    else
      boundary->multiply(ghosts, y, stream);
  });
}

template <class Product>
double CudaOperator::staged(std::span<const double> x, std::span<double> y,
                            const Product& product) {
  if (x_.size() != x.size()) {
    x_pinned_ = PinnedBuffer<double>(x.size());
    y_pinned_ = PinnedBuffer<double>(y.size());
    x_ = DeviceBuffer<double>(x.size(), stream_);
    y_ = DeviceBuffer<double>(y.size(), stream_);
  }
  const Stopwatch watch;
  std::copy(x.begin(), x.end(), x_pinned_.data());
  copy_to_device(std::span<const double>(x_pinned_.span()), x_.span(), stream_);
  product();
  copy_to_host(y_.view(), y_pinned_.span(), stream_);
  stream_.synchronize();
  if (exchange_) exchange_->check();
  std::copy_n(y_pinned_.data(), y.size(), y.begin());
  return watch.seconds();
}

void CudaOperator::multiply(std::span<const double> x, std::span<double> y) {
  staged_seconds_ += staged(x, y, [&] { multiply(x_.view(), y_.span(), stream_); });
  ++staged_products_;
}

void CudaOperator::multiply_exactly(std::span<const double> x, std::span<double> y) {
  if (!inexact_) share_local_kernel();
  staged(x, y, [&] {
    in_order(x_.view(), y_.span(), order(), stream_,
             [&](auto px, auto py) { queue_exact_product(px, py, stream_); });
  });
}

void CudaOperator::refresh_values() {
  blocks_->refresh(*matrix_, values_version_);
  for (const Kernels* kernels : {&kernels_, &exact_})
    if (kernels->ghost)
      kernels->ghost->update_values(blocks_->ghost()->arrays.values.view(), stream_);
  if (!blocks_->has_entries()) return update_by_blocks();
  const auto values = local().arrays.values.view();
  for (const Kernels* kernels : {&kernels_, &exact_})
    if (kernels->local) kernels->local->update_values(values, stream_);
  if (permuted_) permuted_->update_values(values, stream_);
  if (narrow_) narrow_->update_values(values, stream_);
  if (inexact_) find_row_defect();
  stream_.synchronize();
}

void CudaOperator::update_by_blocks() {
  auto* const parts = dynamic_cast<BlockedCudaKernel<double>*>(kernels_.local.get());
  std::size_t number = 0;
  blocks_->for_each_block(*matrix_, [&](const DeviceRowBlock<double>& block) {
    if (parts)
      parts->update_part(number++, block.csr.values, stream_);
    else
      kernels_.local->update_values(block.csr.values, stream_);
    stream_.synchronize();
  });
}

KernelStatistics CudaOperator::statistics() const {
  const KernelStatistics local =
      kernels_.local ? kernels_.local->statistics() : permuted_->kernel().statistics();
  if (blocks_->boundary()) return combined(local, blocks_->boundary()->statistics());
  return kernels_.ghost ? combined(local, kernels_.ghost->statistics()) : local;
}

}  // namespace trireme
