// SPDX-License-Identifier: BSD-3-Clause
// A system's rows and unknowns in another order, on the GPU: P A P^T, P b, P^T x. Compiles without
// CUDA; there every call throws Error{resource}.
//
// An order names, for each new row, the caller's row. Entries keep their order within a row,
// columns are renumbered: sums come out in the same order as before. Calls are asynchronous in
// `stream` unless they return something.
#pragma once

#include <cstdint>

#include "device/buffer.hpp"
#include "kernels/device_csr.hpp"

namespace trireme {

// P A P^T of a square A; twice A's memory traffic and some binary search. Columns may be unsorted.
DeviceCsrMatrix<double> permuted_matrix(const DeviceCsr<double>& a,
                                        DeviceSpan<const std::int32_t> order, StreamRef stream);

// New values of A, as the caller's CSR has them, to the places they have in P A P^T.
void permute_values(DeviceSpan<const std::int32_t> row_ptr, DeviceSpan<const double> values,
                    DeviceSpan<const std::int32_t> order,
                    DeviceSpan<const std::int32_t> permuted_row_ptr, DeviceSpan<double> permuted,
                    StreamRef stream);

// permuted = P x and x = P^T permuted; the two do not overlap.
void permute(DeviceSpan<const double> x, DeviceSpan<const std::int32_t> order,
             DeviceSpan<double> permuted, StreamRef stream);
void permute_back(DeviceSpan<const double> permuted, DeviceSpan<const std::int32_t> order,
                  DeviceSpan<double> x, StreamRef stream);

// How many rows do not come right after their predecessor: 0 for the caller's own order.
std::int64_t breaks_in(DeviceSpan<const std::int32_t> order, StreamRef stream);

}  // namespace trireme
