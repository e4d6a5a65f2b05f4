// SPDX-License-Identifier: BSD-3-Clause
// A sparse matrix of a level in GPU memory, laid out for products that end in an update of vectors.
//
// A warp multiplies a chunk of 32 / lanes consecutive rows, with `lanes` lanes per row. A step of a
// chunk is 32 entries that lie side by side, one per lane: entry e of the row goes to the lane
// e % lanes of the row in the step e / lanes of the chunk.
//
//   lanes = 8, rows of 13, 4, 9 and 2 entries (a .. d), two steps:
//   aaaaaaaa bbbb.... cccccccc dd......
//   aaaaa... ........ c....... ........
//
// This is sliced ELLPACK with several threads per row (Vazquez, Fernandez and Garzon, Concurrency
// and Computation 23, 2011). An entry takes 4 or 8 bytes for the value, and 2 bytes for the column
// where all steps have columns within 65,535 of the step's smallest one, else 4. A step takes 4 bytes
// beside that where columns take 2. A row is summed by its lanes in the order of its entries, and
// then over the lanes in a fixed order, so that every run gives the same bits.
#pragma once

#include <cstdint>

#include "base/choices.hpp"
#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "kernels/device_csr.hpp"

namespace trireme::multigrid {

// The layout, as a CUDA kernel takes it.
struct RowsView {
  std::int64_t rows = 0;
  std::int32_t chunks = 0;
  std::int32_t lanes_shift = 0;  // 2^lanes_shift lanes per row
  bool narrow = false;           // columns
  bool single = false;           // values
  const std::int32_t* step_ptr = nullptr;
  const std::int32_t* first = nullptr;
  const void* columns = nullptr;
  const void* values = nullptr;
};

class CudaRows {
 public:
  CudaRows() = default;
  // Values are stored in FP32 where `precision` is mixed. `lanes` is 1, 2, 4, 8, 16 or 32; 0 chooses
  // by the lengths of the rows. With `wide`, columns take 4 bytes. The arrays of `csr` are not needed
  // after the call, which waits for `stream`. Throws Error{resource} where the memory does not
  // suffice.
  CudaRows(const DeviceCsr<double>& csr, Precision precision, int lanes, bool wide,
           StreamRef stream);
  // Takes the values of a matrix of the same pattern. Asynchronous in `stream`.
  void update_values(const DeviceCsr<double>& csr, StreamRef stream);

  RowsView view() const;
  std::int64_t rows() const { return rows_; }
  int lanes() const { return lanes_; }
  std::int64_t bytes() const;
  // Stored entries per nonzero, less one.
  double padding() const;

 private:
  std::int64_t rows_ = 0, nnz_ = 0, chunks_ = 0, steps_ = 0;
  int lanes_ = 1;
  bool narrow_ = false;
  Precision precision_ = Precision::full;
  DeviceBuffer<std::int32_t> step_ptr_;     // chunks + 1
  DeviceBuffer<std::int32_t> first_;        // the smallest column of each step, where narrow
  DeviceBuffer<std::uint16_t> narrow_col_;  // minus the step's first_; 65535: no entry
  DeviceBuffer<std::int32_t> wide_col_;     // -1: no entry
  DeviceBuffer<float> floats_;
  DeviceBuffer<double> doubles_;
};

}  // namespace trireme::multigrid
