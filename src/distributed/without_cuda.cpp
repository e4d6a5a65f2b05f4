// SPDX-License-Identifier: BSD-3-Clause
// What a build without CUDA has in place of the CUDA files: errors.
#include "device/no_cuda.hpp"
#include "distributed/boundary_product.hpp"
#include "distributed/gpu_exchange.hpp"

namespace trireme {

std::unique_ptr<GpuExchange> make_gpu_exchange(MPI_Comm /*comm*/, const HaloPlan& /*halo*/,
                                               const ExchangeRequest& /*request*/) {
  no_cuda();
}
BoundaryProduct::BoundaryProduct(const CsrMatrix<double>& /*ghost*/, StreamRef /*stream*/) {
  no_cuda();
}
template <class Value>
void BoundaryProduct::multiply(DeviceSpan<const double> /*ghosts*/, DeviceSpan<Value> /*y*/,
                               StreamRef /*stream*/) const {
  no_cuda();
}
template <class Value>
void BoundaryProduct::multiply_and_dot(DeviceSpan<const double> /*ghosts*/,
                                       DeviceSpan<const Value> /*x*/, DeviceSpan<Value> /*y*/,
                                       DeviceSpan<double> /*partials*/,
                                       StreamRef /*stream*/) const {
  no_cuda();
}
TRIREME_BOUNDARY_PRODUCTS
void BoundaryProduct::multi_multiply(DeviceMultiVector<const double> /*ghosts*/,
                                     DeviceMultiVector<double> /*y*/, StreamRef /*stream*/) const {
  no_cuda();
}
void BoundaryProduct::update_values(std::span<const double> /*values*/, StreamRef /*stream*/) {
  no_cuda();
}
KernelStatistics BoundaryProduct::statistics() const { no_cuda(); }

}  // namespace trireme
