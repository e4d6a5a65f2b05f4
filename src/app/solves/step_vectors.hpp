// SPDX-License-Identifier: BSD-3-Clause
// b and x of a sequence, which stay in GPU memory from one step to the next.
#pragma once

#include <cstdint>
#include <span>

#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "petsc/ksp/ksp_types.hpp"

namespace trireme {

// upload_b_ahead() and copy_former() are for another thread, which runs while a solve works on
// vectors(). They must not run at the same time.
class StepVectors {
 public:
  // Throws Error{resource} where the memory of the GPU, or the pinned memory, does not suffice, and
  // in a build without CUDA.
  explicit StepVectors(std::int64_t rows);

  DeviceVectors vectors() const { return {b_.view(), x_.span(), stream_}; }

  void set_b(std::span<const double> b);
  void upload_b_ahead(std::span<const double> b);
  void take_b_ahead();  // b becomes that of upload_b_ahead()

  void set_x(std::span<const double> x);
  // x becomes the former solution. With `line`, the guess in x is then 2 x - (the former solution
  // before it); else x stays.
  void begin_step(bool line);

  // All of these return the memory of former_on_host(), and wait for the copy.
  std::span<const double> copy_former();
  std::span<const double> copy_x();
  std::span<const double> former_on_host() const { return on_host_.span(); }

 private:
  Stream stream_, ahead_;
  DeviceBuffer<double> b_, b_ahead_, x_, former_;
  PinnedBuffer<double> on_host_;
  Event b_is_taken_{Timing::no}, has_begun_{Timing::no};
};

}  // namespace trireme
