// SPDX-License-Identifier: BSD-3-Clause
#include "factors/operation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "distributed/device_blocks.hpp"
#include "distributed/set_up_memory.hpp"
#include "parallel/collective.hpp"
#include "solvers/fp32_range.hpp"
#include "solvers/preconditioners/incomplete_factors.hpp"

namespace trireme::factors {
namespace {

// Fill is expected to double the pattern with each level. An overlapping block is a copy of the
// rows, which is made of another one.
void require_memory(const DistributedMatrix& matrix, std::int32_t levels, bool overlaps) {
  constexpr solvers::PreconditionerMemory memory = solvers::Ilu::info.memory;
  constexpr double kCopies = 24;
  const auto own = static_cast<double>(matrix.blocks.local.nnz());
  const auto nonzeros = static_cast<double>(matrix.blocks.local.nnz() << std::min(levels, 4));
  const auto rows = static_cast<double>(matrix.local_rows());
  const double bytes =
      memory.per_row * rows + memory.per_nonzero * nonzeros + (overlaps ? kCopies * own : 0);
  require_set_up_memory(matrix.comm, static_cast<std::int64_t>(bytes),
                        "setting up incomplete factors");
}

bool fit_fp32(const FactorPattern& pattern, const FactorNumbers& numbers) {
  for (std::int64_t i = 0; i < pattern.rows; ++i)
    for (std::int32_t e = pattern.row_ptr[i]; e < pattern.row_ptr[i + 1]; ++e)
      if (e != pattern.diagonal[i] && !is_normal_in_fp32(numbers.values[e])) return false;
  return true;
}

}  // namespace

void IluOperation::build(std::shared_ptr<DistributedMatrix> matrix, const IluOptions& options) {
  forget();
  const Stopwatch watch;
  definite_ = options.definite;
  const IluChoice choice = choice_for(options, exchange_.has_value());
  const std::int32_t layers = overlap_for(options, *matrix);
  require_memory(*matrix, choice.levels, layers > 0);
  matrix_ = std::move(matrix);
  try {
    if (layers > 0) overlap_.emplace(*matrix_, layers);
    collectively(matrix_->comm, [&] { pattern_ = make_pattern(block(), choice); });
    facts_.choice = choice;
    facts_.overlap = layers;
    if (exchange_)
      make_on_gpu();
    else
      make_numbers_on_host();
  } catch (...) {
    forget();
    throw;
  }
  facts_.seconds = watch.seconds();
}

std::int32_t IluOperation::overlap_for(const IluOptions& options, const DistributedMatrix& matrix) {
  const bool alone = size_of(matrix.comm) == 1;
  const bool numbered = matrix.global_rows() <= std::numeric_limits<std::int32_t>::max();
  return alone || options.definite || !numbered ? 0 : options.overlap;
}

// What this rank factors.
CsrView<double> IluOperation::block() const {
  return overlap_ ? overlap_->block.view() : matrix_->blocks.local.view();
}

DeviceCsr<double> IluOperation::block_on_device() {
  if (!overlap_) return DeviceBlocks::of(*matrix_).blocks->local().view();
  if (!overlap_->stream) overlap_->stream.emplace();
  Stream& stream = *overlap_->stream;
  const CsrView<double> block = overlap_->block.view();
  DeviceCsrMatrix<double>& copy = overlap_->on_device;
  if (copy.row_ptr.empty())
    copy = to_device(block, stream);
  else
    copy_to_device(block.values, copy.values.span(), stream);
  stream.synchronize();
  return copy.view();
}

// An error leaves no half of the factors.
void IluOperation::renew() {
  require_set_up();
  const Stopwatch watch;
  try {
    if (overlap_) overlap_->block.renew();
    if (on_gpu_) {
      on_host_ = {};
      collectively(matrix_->comm, [&] { on_gpu_->renew(block_on_device()); });
      agree_on_facts();
    } else {
      make_numbers_on_host();
    }
  } catch (...) {
    forget();
    throw;
  }
  facts_.seconds = watch.seconds();
}

void IluOperation::make_numbers_on_host() {
  FactorNumbers numbers;
  collectively(matrix_->comm, [&] {
    numbers = make_numbers(pattern_, block(), definite_);
    const auto take = [&]<class Value>(Value) {
      if (auto* const sweeps = std::get_if<HostSweeps<Value>>(&on_host_))
        sweeps->take(numbers);
      else
        on_host_.emplace<HostSweeps<Value>>(pattern_, numbers);
    };
    facts_.in_fp32 = fit_fp32(pattern_, numbers);
    if (facts_.in_fp32)
      take(float());
    else
      take(double());
  });
  facts_.replaced = numbers.replaced;
  facts_.shift = numbers.shift;
  agree_on_facts();
  if (overlap_ && !overlap_->on_host) overlap_->on_host.emplace(matrix_->comm, overlap_->block);
}

void IluOperation::make_on_gpu() {
  collectively(matrix_->comm,
               [&] { on_gpu_ = DeviceFactors::make(pattern_, block_on_device(), definite_); });
  if (overlap_)
    overlap_->on_gpu.emplace(matrix_->comm, overlap_->block, exchange_.value_or(ExchangeRequest()));
  ++device_version_;
  agree_on_facts();
}

void IluOperation::agree_on_facts() {
  if (on_gpu_) {
    const DeviceFacts found = on_gpu_->facts();
    facts_.replaced = found.replaced;
    facts_.shift = found.shift;
    facts_.in_fp32 = found.in_fp32;
  }
  MPI_Comm comm = matrix_->comm;
  facts_.nnz = sum_over_ranks(comm, pattern_.nnz());
  facts_.replaced = sum_over_ranks(comm, facts_.replaced);
  facts_.shift = max_over_ranks(comm, facts_.shift);
  facts_.in_fp32 = !any_rank(comm, !facts_.in_fp32);
  facts_.levels_of_rows = static_cast<std::int64_t>(max_over_ranks(
      comm, static_cast<double>(std::max(pattern_.lower.count(), pattern_.upper.count()))));
}

void IluOperation::require_set_up() const {
  if (!is_set_up()) fail(ExitCode::internal, "incomplete factors are applied before they are made");
}

void IluOperation::forget() {
  on_gpu_.reset();
  on_host_ = {};
  overlap_.reset();
  pattern_ = {};
  matrix_.reset();
  facts_ = {};
}

std::optional<IluFacts> IluOperation::facts() const {
  if (!is_set_up()) return std::nullopt;
  return facts_;
}

void IluOperation::apply(std::span<const double> r, std::span<double> z) {
  require_set_up();
  if (std::holds_alternative<std::monostate>(on_host_)) make_numbers_on_host();
  const auto solve = [&](std::span<const double> from, std::span<double> to) {
    if (auto* const in_fp32 = std::get_if<HostSweeps<float>>(&on_host_))
      in_fp32->apply(from, to);
    else
      std::get<HostSweeps<double>>(on_host_).apply(from, to);
  };
  if (overlap_)
    overlap_->on_host->apply(r, z, solve);
  else
    solve(r, z);
}

bool IluOperation::prepare_on_device() {
  require_set_up();
  if (!on_gpu_) make_on_gpu();
  return true;
}

void IluOperation::enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) {
  const auto solve = [&](DeviceSpan<const double> from, DeviceSpan<double> to) {
    on_gpu_->enqueue(from, to, stream);
  };
  if (overlap_)
    overlap_->on_gpu->enqueue(r, z, stream, solve);
  else
    solve(r, z);
}

void IluOperation::check_device() const {
  if (overlap_ && overlap_->on_gpu) overlap_->on_gpu->check();
}

}  // namespace trireme::factors
