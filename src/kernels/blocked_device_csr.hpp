// SPDX-License-Identifier: BSD-3-Clause
// A CSR matrix in device memory in the blocks of rows of a CsrMatrix (sparse/csr.hpp). This header
// compiles without CUDA.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/span.hpp"
#include "device/uploader.hpp"
#include "kernels/device_csr.hpp"
#include "sparse/csr.hpp"

namespace trireme {

// Where a block of rows begins in the whole matrix.
struct BlockBegin {
  std::int64_t row = 0;
  std::int64_t entry = 0;  // in col_idx and values
};

// Consecutive rows of a matrix as a matrix of their own. Its columns are those of the whole matrix.
template <class Value>
struct DeviceRowBlock {
  std::int64_t first_row = 0;
  std::int64_t first_entry = 0;
  DeviceCsr<Value> csr;
};

// The blocks of a matrix, one or more. `all` has the entries of all blocks one after the other, and
// the offsets of each block, which begin at 0. `later`: where all blocks but the first one begin.
template <class Value>
std::vector<DeviceRowBlock<Value>> row_blocks(const DeviceCsr<Value>& all,
                                              std::span<const BlockBegin> later) {
  std::vector<DeviceRowBlock<Value>> result;
  BlockBegin begin;
  for (std::size_t block = 0; block <= later.size(); ++block) {
    const BlockBegin end = block < later.size() ? later[block] : BlockBegin{all.rows, all.nnz};
    const std::int64_t rows = end.row - begin.row, nnz = end.entry - begin.entry;
    result.push_back(
        {begin.row,
         begin.entry,
         {rows, all.cols, nnz, all.row_ptr.subspan(begin.row + block, rows + 1),
          all.col_idx.subspan(begin.entry, nnz), all.values.subspan(begin.entry, nnz)}});
    begin = end;
  }
  return result;
}

// The begins of all blocks of `matrix` but the first one.
template <class Value>
std::vector<BlockBegin> later_blocks(const CsrMatrix<Value>& matrix) {
  std::vector<BlockBegin> begins;
  for (const std::int64_t row : matrix.cuts) begins.push_back({row, matrix.row_begin(row)});
  return begins;
}

// Owns the arrays of all blocks.
template <class Value>
struct BlockedDeviceCsr {
  DeviceCsrMatrix<Value> arrays;  // row_ptr has one offset more for each later block
  std::vector<BlockBegin> later{};

  std::vector<DeviceRowBlock<Value>> blocks() const { return row_blocks(arrays.view(), later); }
  bool is_one_block() const { return later.empty(); }
  // The matrix as one block. Throws Error{resource} where it has several.
  DeviceCsr<Value> view() const {
    if (!is_one_block()) fail_several_blocks(static_cast<std::int64_t>(arrays.values.size()));
    return arrays.view();
  }
};

// Copies the matrix to the current device by `uploader`, as to_device() of a CsrView does.
template <class Value>
BlockedDeviceCsr<Value> to_device(const CsrMatrix<Value>& matrix, Uploader& uploader,
                                  StreamRef stream) {
  return {{matrix.rows, matrix.cols,
           uploader.to_device(std::span<const std::int32_t>(matrix.row_ptr), stream),
           uploader.to_device(std::span<const std::int32_t>(matrix.col_idx), stream),
           uploader.to_device(std::span<const Value>(matrix.values), stream)},
          later_blocks(matrix)};
}

}  // namespace trireme
