// SPDX-License-Identifier: BSD-3-Clause
// Puts the rows and unknowns of a system into another order on the GPU: P A P^T, P b, P^T x. A
// build without CUDA has the same functions, which all throw Error{resource}.
//
// An order has one element per row: the caller's row at each new position. A function that returns
// a number waits for `stream`; the others are asynchronous in it.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"

namespace trireme {

// Returns P A P^T of a square A, whose columns may be unsorted. The entries of a row keep their
// order and only their columns are renumbered, so that sums are formed in the same order as before.
// The cost is about twice the memory traffic of A. Throws Error{resource} when the result does not
// fit into device memory.
DeviceCsrMatrix<double> permuted_matrix(const DeviceCsr<double>& a,
                                        DeviceSpan<const std::int32_t> order, StreamRef stream);

// P A P^T with ascending columns, as permuted_square() of sparse/permuted.hpp makes it on the host.
struct SortedPermutedMatrix {
  DeviceCsrMatrix<double> matrix;
  // The caller's entry of each entry of `matrix`: permute(values, entries, ...) takes new values.
  DeviceBuffer<std::int32_t> entries;
};
// The cost is that of sorting the entries; 24 bytes per nonzero are needed meanwhile. Throws
// Error{resource} when they do not fit into device memory.
SortedPermutedMatrix sorted_permuted_matrix(const DeviceCsr<double>& a,
                                            DeviceSpan<const std::int32_t> order, StreamRef stream);

// Copies new values of A, in the order of the caller's CSR, to their places in P A P^T.
void permute_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const double> values,
                    DeviceSpan<const std::int32_t> order,
                    DeviceSpan<const std::int32_t> permuted_row_ptr, DeviceSpan<double> permuted,
                    StreamRef stream);

// permute() computes permuted = P x, and permute_back() computes x = P^T permuted. The two vectors
// do not overlap.
void permute(DeviceSpan<const double> x, DeviceSpan<const std::int32_t> order,
             DeviceSpan<double> permuted, StreamRef stream);
void permute_back(DeviceSpan<const double> permuted, DeviceSpan<const std::int32_t> order,
                  DeviceSpan<double> x, StreamRef stream);

// composed[i] = outer[inner[i]]: the order `inner` of rows that are in the order `outer`.
void compose(DeviceSpan<const std::int32_t> outer, DeviceSpan<const std::int32_t> inner,
             DeviceSpan<std::int32_t> composed, StreamRef stream);

// The number of rows that do not directly follow the row before them in the caller's order. It is 0
// for the caller's order.
std::int64_t breaks_in(DeviceSpan<const std::int32_t> order, StreamRef stream);

}  // namespace trireme
