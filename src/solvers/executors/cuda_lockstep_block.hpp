// SPDX-License-Identifier: BSD-3-Clause
// The vectors and scalars on a GPU of the columns of a lockstep solve. This header compiles without
// CUDA.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "device/buffer.hpp"
#include "device/multi_vector.hpp"
#include "device/stream.hpp"
#include "solvers/executors/column_control.hpp"
#include "solvers/executors/column_transfer.hpp"
#include "solvers/executors/lockstep_block.hpp"
#include "sparse/multi_vector.hpp"

namespace trireme::solvers {

// Each vector of the algorithm holds its columns side by side: element (i, j) at i * stride + j. b
// and x are copies of the caller's, in the row order of the system. Work vectors in FP32 have the
// same stride in elements; those that outlive an iteration are the first half of the memory of a
// vector each, or zeros whenever columns leave. All work is queued in `stream`.
//
// The GPU changes the scalars of the columns; columns() is the host's copy of them.
class CudaLockstepBlock {
 public:
  static constexpr int callers_vectors = 2;  // b and x, which come before the work vectors

  // `order` is CudaSystem::order(). Both references must outlive the block.
  CudaLockstepBlock(std::int64_t rows, DeviceSpan<const std::int32_t> order, StreamRef stream);
  ~CudaLockstepBlock();
  CudaLockstepBlock(const CudaLockstepBlock&) = delete;
  CudaLockstepBlock& operator=(const CudaLockstepBlock&) = delete;

  // The columns of memory, rows() long each, that a block of `width` columns with `vectors` vectors
  // takes.
  static std::int64_t columns_of_memory(std::int64_t width, int vectors);
  // Allocates that memory. Throws Error{resource} where it cannot be had, or for more than
  // kMaxColumns columns.
  void reserve(std::int64_t width, int vectors);

  // Calls visit(stride) for the rows of vectors, and for those of narrow_x() and narrow_y().
  template <class Visit>
  void each_stride(const Visit& visit) const {
    visit(stride_);
    if (narrow_ != stride_) visit(narrow_);
  }

  // Takes `columns` out of the caller's B and X, which are in host memory (MultiVector) or on this
  // GPU (DeviceMultiVector). With `zero_guess`, x = 0 and the caller's X is not
  // read. All other vectors become 0; with `in_fp32`, what they hold from one iteration to the next
  // is in FP32.
  template <template <class> class View>
  void bring(std::vector<LockstepColumn> columns, View<const double> b, View<double> x,
             bool zero_guess, bool in_fp32);
  // The columns whose state fulfils `ended` leave, and those that remain move together.
  void leave(const std::function<bool(const State&)>& ended);
  // Copies x of all columns, which must have left, to the caller's X, and waits for that.
  void give_back(MultiVector<double> x);
  void give_back(DeviceMultiVector<double> x);

  std::int64_t rows() const { return rows_; }
  std::int64_t width() const { return static_cast<std::int64_t>(columns_.size()); }
  std::vector<LockstepColumn>& columns() { return columns_; }
  const std::vector<LockstepColumn>& ended() const { return ended_; }
  BlockShape shape() const;
  // vector(0) is b, vector(1) is x.
  double* vector(int k) const { return memory_.data() + k * elements(); }
  std::int64_t elements() const { return rows_ * stride_; }  // of a vector
  template <class T>
  DeviceMultiVector<T> columns_of(T* vector) const {
    return {vector, rows_, width(), stride_, 1};
  }

  // Copies the columns `places` of `vector` to narrow_x(), or narrow_y() to these columns. The
  // narrow vectors, of numbers of the same type (double or float), have rows of `stride` elements,
  // which must be narrow_stride(), or 1 for one column.
  std::int64_t narrow_stride() const { return narrow_; }
  template <class T>
  void gather(const T* vector, std::span<const std::int64_t> places, std::int64_t stride) const;
  template <class T>
  void scatter(T* vector, std::span<const std::int64_t> places, std::int64_t stride) const;
  template <class T>
  T* narrow_x() const {
    return reinterpret_cast<T*>(memory_.data() + vectors_ * rows_ * stride_);
  }
  template <class T>
  T* narrow_y() const {
    return reinterpret_cast<T*>(narrow_x<double>() + rows_ * narrow_);
  }

  BlockControls* controls() const { return controls_.data(); }
  const std::int32_t* stop_flags() const { return stop_.data(); }
  // Waits for the stream, brings columns() up to date and tells the observers of iterations.
  void refresh();
  // Queues a copy of columns() to the GPU.
  void upload();
  // Queues a copy of what the GPU has when the work so far is done. `which`, 0 or 1, names the
  // copy.
  void mark(int which);
  // Waits for the copy `which`, tells the observers of iterations, queues the wishes to stop, and
  // returns the number of columns whose loop goes on.
  std::int64_t reached(int which);

 private:
  void tell(const BlockControls& seen);
  const std::int32_t* rows_order() const { return order_.empty() ? nullptr : order_.data(); }
  template <class T>
  void rearrange(T* vectors, int count, std::int64_t distance,
                 std::span<const std::int64_t> places) const;
  void take_in_order(DeviceMultiVector<const double> from, double* vector) const;
  // The numbers of the columns.
  std::vector<std::int64_t> give_in_order(DeviceMultiVector<double> to) const;
  DeviceMultiVector<double> scratch(std::int64_t width) const;  // in the memory of vector(2)
  DeviceMultiVector<const double> on_gpu(MultiVector<const double> columns);
  static DeviceMultiVector<const double> on_gpu(DeviceMultiVector<const double> columns) {
    return columns;
  }

  std::int64_t rows_, stride_ = 0, narrow_ = 0;
  int vectors_ = 0;
  bool in_fp32_ = false;
  DeviceSpan<const std::int32_t> order_;
  StreamRef stream_;
  DeviceBuffer<double> memory_;
  DeviceBuffer<BlockControls> controls_;
  DeviceBuffer<std::int32_t> stop_;
  PinnedBuffer<BlockControls> host_;  // 0 and 1: the marks; 2: refresh(); 3: upload()
  PinnedBuffer<std::int32_t> stop_asked_;
  Event marked_[2] = {Event(Timing::no), Event(Timing::no)};
  Event uploaded_{Timing::no};  // upload() has read host_[3]
  ColumnTransfer transfer_;
  std::vector<LockstepColumn> columns_;
  std::vector<LockstepColumn> ended_;  // in the order of their places behind columns_
  std::int64_t told_ = 0;              // entries of the log that the observers were told of
};

}  // namespace trireme::solvers
