// SPDX-License-Identifier: BSD-3-Clause
// Permutes the blocks and the rows that the halo sends.
#include "distributed/ordered_matrix.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "distributed/device_blocks.hpp"
#include "ordering/device_ordering.hpp"
#include "ordering/ordering.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

void require_permutation(std::span<const std::int32_t> order, std::int64_t rows) {
  std::vector<bool> seen(rows, false);
  for (const std::int32_t row : order) {
    if (row < 0 || row >= rows || seen[row]) break;
    seen[row] = true;
  }
  if (std::ssize(order) != rows || std::find(seen.begin(), seen.end(), false) != seen.end())
    fail(ExitCode::internal, "an order of {} rows does not have each of {} rows once", order.size(),
         rows);
}

Array<std::int32_t> order_on_device(const DeviceCsr<double>& a) {
  const Stream stream;
  const DeviceBuffer<std::int32_t> order = cluster_order(a, stream);
  return to_host(order.view(), stream);
}

void gather_values(std::span<const double> values, PermutedCsr& into) {
  permute<double>(values, into.entries, into.matrix.values);
}

}  // namespace

OrderedMatrix::OrderedMatrix(std::shared_ptr<DistributedMatrix> matrix, Ordering ordering,
                             Array<std::int32_t> order, double seconds)
    : matrix_(std::move(matrix)),
      ordering_(ordering),
      order_(std::move(order)),
      seconds_(seconds),
      version_(matrix_->values_version),
      halo_(matrix_->halo) {
  const Stopwatch watch;
  require_permutation(order_, matrix_->local_rows());
  const Array<std::int32_t> inverse = inverse_of(order_);
  for (std::int32_t& row : halo_.send_rows) row = inverse[row];
  const CsrMatrix<double>& ghost = matrix_->blocks.ghost;
  if (ghost.nnz() > 0) ghost_ = permuted_rows(ghost.view(), order_);
  seconds_ += watch.seconds();
}

const CsrMatrix<double>& OrderedMatrix::local() {
  if (local_) return local_->matrix;
  const Stopwatch watch;
  local_ = std::make_unique<PermutedCsr>(permuted_square(matrix_->blocks.local.view(), order_));
  seconds_ += watch.seconds();
  return local_->matrix;
}

void OrderedMatrix::refresh_values() {
  gather_values(matrix_->blocks.ghost.values, ghost_);
  if (local_) gather_values(matrix_->blocks.local.values, *local_);
  version_ = matrix_->values_version;
}

void OrderedMatrix::refresh_old_values() {
  if (version_ != matrix_->values_version) refresh_values();
}

std::shared_ptr<OrderedMatrix> order_matrix(std::shared_ptr<DistributedMatrix> matrix,
                                            Ordering ordering, Device device) {
  std::shared_ptr<OrderedMatrix> result;
  if (ordering == Ordering::given) return result;
  const MPI_Comm comm = matrix->comm;
  collectively(comm, [&] {
    const bool on_device = device == Device::cuda && ordering == Ordering::cluster;
    const auto blocks = on_device ? DeviceBlocks::of(*matrix).blocks : nullptr;
    const Stopwatch watch;
    Array<std::int32_t> order = blocks ? order_on_device(blocks->local().view())
                                       : make_order(ordering, matrix->blocks.local.view());
    const double seconds = watch.seconds();
    result =
        std::make_shared<OrderedMatrix>(std::move(matrix), ordering, std::move(order), seconds);
  });
  return result;
}

}  // namespace trireme
