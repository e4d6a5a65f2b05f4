// SPDX-License-Identifier: BSD-3-Clause
// A DistributedMatrix with this rank's rows in another order: what operators that work in the order
// share.
//
// The order P changes nothing for other ranks:
//   local block  P A P^T, columns ascending       ghost block  P G
//   halo         the same entries in the same places; they are taken from their new rows
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/choices.hpp"
#include "distributed/distributed_matrix.hpp"
#include "sparse/permuted.hpp"

namespace trireme {

class OrderedMatrix {
 public:
  // `order` has the caller's local row of each of this rank's positions. `seconds` is the time that
  // was spent on finding it. Throws Error{internal} where `order` is no permutation of the rows.
  OrderedMatrix(std::shared_ptr<DistributedMatrix> matrix, Ordering ordering,
                Array<std::int32_t> order, double seconds = 0);

  DistributedMatrix& matrix() const { return *matrix_; }  // in the caller's order
  Ordering ordering() const { return ordering_; }
  std::span<const std::int32_t> order() const { return order_; }
  // Spent on finding the order and on bringing the matrix into it.
  double seconds() const { return seconds_; }
  void add_seconds(double seconds) { seconds_ += seconds; }
  const HaloPlan& halo() const { return halo_; }
  const CsrMatrix<double>& ghost() const { return ghost_.matrix; }
  // P A P^T in host memory; made at the first call, because a GPU makes its own.
  const CsrMatrix<double>& local();
  // Brings the present values of the matrix into ghost(), and into local() if that exists.
  void refresh_values();
  // The same, unless these are the values of this version already.
  void refresh_old_values();

  std::shared_ptr<DeviceBlocks> on_device;  // null until DeviceBlocks::of() is called

 private:
  std::shared_ptr<DistributedMatrix> matrix_;
  Ordering ordering_;
  Array<std::int32_t> order_;
  double seconds_;
  std::uint64_t version_;  // of the values in host memory
  HaloPlan halo_;
  PermutedCsr ghost_;
  std::unique_ptr<PermutedCsr> local_;
};

// Finds the order of each rank's local block. The result is null for Ordering::given. With
// Device::cuda, clusters are found on this thread's current device, to which the matrix is uploaded
// if it is not there; the order is the same on both devices. Throws the same Error on every rank.
// Collective.
std::shared_ptr<OrderedMatrix> order_matrix(std::shared_ptr<DistributedMatrix> matrix,
                                            Ordering ordering, Device device = Device::cpu);

}  // namespace trireme
