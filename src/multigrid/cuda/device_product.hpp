// SPDX-License-Identifier: BSD-3-Clause
// Products and transposes of sparse matrices in GPU memory: the functions of sparse_product.hpp on
// a device, with the same bits.
#pragma once

#include <cstdint>

#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "multigrid/cuda/device_csr_rows.hpp"

namespace trireme::multigrid {

// A B with ascending columns; see ProductRules of sparse_product.hpp for `diagonal` and `run`. No
// column comes twice in a row of B. Throws Error{resource} for more than 2^31-1 nonzeros, or where
// the GPU memory does not suffice. Waits for the stream.
//
// Where `node` is above 1, its multiples begin nodes of so many rows of A with the same columns,
// which are multiplied together. With `diagonal`, it is `run`.
DeviceRows multiply(const DeviceCsr<double>& a, const DeviceCsr<double>& b, bool diagonal,
                    std::int32_t run, StreamRef stream, std::int32_t node = 1);

// Computes the numbers of `product` again, asynchronously in the stream. Its array of values is
// allocated where it is empty.
void multiply_again(const DeviceCsr<double>& a, const DeviceCsr<double>& b, bool diagonal,
                    std::int32_t run, DeviceRows& product, StreamRef stream, std::int32_t node = 1);

// Whether all rows of each node of `size` rows have the same columns in the same order. Waits for
// the stream.
bool nodes_share_columns(const DeviceCsr<double>& a, std::int32_t size, StreamRef stream);

// A^T with ascending columns. matrix.values[k] is values[source[k]] of A.
struct DeviceTransposed {
  DeviceRows matrix;
  ScratchBuffer<std::int32_t> source;
};
DeviceTransposed transposed(const DeviceCsr<double>& a, StreamRef stream);

// Takes the values of A again, asynchronously in the stream.
void take_values(const DeviceRows& a, DeviceSpan<const std::int32_t> source, DeviceRows& transposed,
                 StreamRef stream);

// A matrix without values, whose row c has the rows of A in which column c comes.
DeviceRows transposed_pattern(std::int64_t cols, DeviceSpan<const std::int32_t> row_ptr,
                              DeviceSpan<const std::int32_t> col_idx, StreamRef stream);

}  // namespace trireme::multigrid
