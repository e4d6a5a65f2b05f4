// SPDX-License-Identifier: BSD-3-Clause
// A sparse matrix of a level in GPU memory, laid out for products that end in an update of vectors.
//
// A warp multiplies a chunk of 4 * 32 / lanes consecutive rows, with `lanes` lanes for every four
// of them. A step of a chunk is 128 entries that lie side by side, four per lane: entry e of a row
// goes to the lane e % lanes of the row's lanes in the step e / lanes of the chunk.
//
//   lanes = 1: a step is an entry of each row          lanes = 2, rows a .. d and e .. h:
//   lane 0   lane 1   lane 2  ..                       lane 0   lane 1   lane 2   lane 3 ..
//   a b c d  e f g h  i j k l ..     step 0            a b c d  a b c d  e f g h  e f g h ..
//   a b c d  e f . h  i j k l ..     step 1            a b . d  a . . d  e f g .  e . g . ..
//
// This is sliced ELLPACK (Monakov, Lokhmotov and Avetisyan, HiPEAC 2010) with several threads per
// row (Vazquez, Fernandez and Garzon, Concurrency and Computation 23, 2011) and several rows per
// thread, so that one load instruction brings a lane 16 bytes. An entry takes 8 bytes for the value
// in FP64 and 4 in FP32, or 2 where FP16 numbers times one factor are as exact as FP32, such as
// those of a stencil. It takes 2 bytes for the column. A step takes 4 bytes beside that, for its
// smallest column, and 512 more where its columns are not within 65,535 of that one. Where many
// steps are such, all columns take 4 bytes. Where a row has no entry, the value is 0 and the column
// any one. A row is summed by its lanes in the order of its entries, and then over the lanes in a
// fixed order, so that every run gives the same bits.
#pragma once

#include <cstdint>

#include "base/choices.hpp"
#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "kernels/device_csr.hpp"

namespace trireme::multigrid {

enum class StoredValues { half, single, full };

// The layout, as a CUDA kernel takes it.
struct RowsView {
  std::int64_t rows = 0;
  std::int32_t chunks = 0;
  std::int32_t lanes_shift = 0;  // 2^lanes_shift lanes per four rows
  bool narrow = false;           // columns
  StoredValues stored = StoredValues::full;
  float factor = 1;  // of values in FP16
  const std::int32_t* step_ptr = nullptr;
  const std::int32_t* first = nullptr;  // of a step k whose columns are wide_columns: ~k
  const std::int32_t* wide_columns = nullptr;
  const void* columns = nullptr;
  const void* values = nullptr;
};

class CudaRows {
 public:
  CudaRows() = default;
  // Values are stored in FP32 or, with narrow columns, in FP16 where `precision` is mixed. `lanes`,
  // per four rows, is 1, 2, 4, 8, 16 or 32; 0 chooses by the lengths of the rows. FP16 needs
  // `allow_half`. With `wide`, columns take 4 bytes. The arrays of `csr` are not needed after the
  // call, which waits for `stream`. Throws Error{resource} where the memory does not suffice.
  CudaRows(const DeviceCsr<double>& csr, Precision precision, int lanes, bool wide, bool allow_half,
           StreamRef stream);
  // Takes the values of a matrix of the same pattern, in other memory where they are stored
  // otherwise. What uses the views so far must have ended. May wait for `stream`.
  void update_values(const DeviceCsr<double>& csr, StreamRef stream);

  RowsView view() const;
  std::int64_t rows() const { return rows_; }
  int lanes() const { return lanes_; }
  std::int64_t bytes() const;
  // Stored entries per nonzero, less one.
  double padding() const;

 private:
  // Chooses how the values are stored.
  void choose_stored(const DeviceCsr<double>& csr, StreamRef stream);

  std::int64_t rows_ = 0, nnz_ = 0, chunks_ = 0, steps_ = 0;
  int lanes_ = 1;
  bool narrow_ = false;
  Precision precision_ = Precision::full;
  DeviceBuffer<std::int32_t> step_ptr_;     // chunks + 1
  DeviceBuffer<std::int32_t> first_;        // RowsView::first, where narrow
  DeviceBuffer<std::uint16_t> narrow_col_;  // minus the step's first_
  DeviceBuffer<std::int32_t>
      wide_col_;                 // of all steps, or of those whose columns are too far apart
  std::int64_t wide_steps_ = 0;  // the number of the latter
  bool allow_half_ = false;
  StoredValues stored_ = StoredValues::full;
  float factor_ = 1;
  DeviceBuffer<std::uint16_t> halves_;
  DeviceBuffer<float> floats_;
  DeviceBuffer<double> doubles_;
};

}  // namespace trireme::multigrid
