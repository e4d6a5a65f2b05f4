// SPDX-License-Identifier: BSD-3-Clause
// How the host observes and stops a loop that runs on the GPU: scalars, norms, the wish to stop.
#pragma once

#include <chrono>
#include <cstdint>

#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "solvers/executors/cuda_control.cuh"
#include "solvers/solver.hpp"

namespace trireme::solvers {

// Owns the memory through which the loop and the host communicate; lives as long as the solver.
// The loop writes norms into a ring in device memory. The host copies them in a separate stream, so
// that the loop never waits for the bus.
class LoopWindow {
 public:
  // For vectors of `rows` rows. `dot_partials` is the number of partial sums that the system's
  // product with x.y writes, or 0.
  LoopWindow(std::int64_t rows, std::size_t dot_partials, StreamRef stream);

  Control* control() const { return control_.data(); }
  History history() const { return {history_.data(), static_cast<std::int64_t>(history_.size())}; }
  // pass_kernel()'s count of finished blocks.
  unsigned* tickets() const { return tickets_.data(); }
  // The number of blocks of a pass with sums, and of one without.
  int blocks() const { return blocks_; }
  int most_blocks() const { return most_blocks_; }
  // Memory for the partial sums of pending item k.
  double* partials(int k) const { return partials_.data() + k * partials_stride_; }
  // Memory for the totals of all pending sums and the wish to stop.
  double* totals() const { return totals_.data(); }
  // Whether the GPU, and the code compiled for it, can start a kernel before the previous kernel
  // has ended.
  bool launches_may_overlap() const { return launches_may_overlap_; }

  // The number of the next solve, for the persistent kernel, which sets up the Control itself.
  std::int64_t next_serial() { return serial_ + 1; }
  // The place in the host's memory, as a device address, where the persistent kernel writes its
  // result.
  DeviceResult* result() const { return result_there_; }
  // Waits for the result of a persistent kernel that was launched with next_serial(), and returns
  // its state. Meanwhile tells the observer of iterations, and passes on its wish to stop. Throws
  // Error{internal} if the kernel ended without a result.
  const State& wait_for_result(StreamRef stream, const IterationObserver& observer);

  // Queues the start of a new solve from `state`.
  void start(const State& state, StreamRef stream);
  // Replaces the state within a solve, and waits until that is done.
  void set(const State& state, StreamRef stream);
  // Queues the wish that the loop stops at the end of the current iteration.
  void ask_to_stop(StreamRef stream);
  // Waits until `stream` has done its work, and returns the state. With `streaming`, tells the
  // observer of iterations meanwhile, and passes on its wish to stop.
  const State& wait(StreamRef stream, const IterationObserver& observer, bool streaming);
  // Queues a copy of the state as it is after the work that `stream` holds so far. `which`, 0 or 1,
  // names the copy, so that one can be awaited while the other is queued.
  void mark(int which, StreamRef stream);
  // Waits for the copy `which` and returns it. From time to time tells the observer of iterations.
  const State& reached(int which, const IterationObserver& observer);

 private:
  // Returns when done() is true. With `streaming`, calls look_if_due() again and again.
  template <class Done>
  void watch(const IterationObserver& observer, bool streaming, const Done& done);
  // Calls look() where some time has passed since the last call.
  void look_if_due(const IterationObserver& observer);
  // Passes on the observer's wish to stop, and tells the observer of the iterations so far.
  void look(const IterationObserver& observer);
  // Tells the observer of the iterations that `seen` has published since the last call. `result`:
  // what has the last norms on the host; null: they are in the ring.
  void tell(const IterationObserver& observer, const Control& seen,
            const DeviceResult* result = nullptr);

  int blocks_, most_blocks_;
  bool launches_may_overlap_;
  std::size_t partials_stride_;
  DeviceBuffer<Control> control_;
  DeviceBuffer<double> history_, partials_, totals_;
  DeviceBuffer<unsigned> tickets_;
  // [0]: the Control when the stream's work is done; [1]: while the work runs; [2]: a state for the
  // device; [3]: the wish to stop for the device.
  PinnedBuffer<Control> host_;
  PinnedBuffer<Control> marks_;
  Event marked_[2] = {Event(Timing::no), Event(Timing::no)};
  std::chrono::steady_clock::time_point next_look_{};
  PinnedBuffer<DeviceResult> result_;
  DeviceResult* result_there_;  // its device address
  std::int64_t serial_ = 0;
  PinnedBuffer<double> norms_;  // some of the ring
  Stream side_;                 // carries the copies that must not wait for the loop
  Event done_{Timing::no};
  std::int64_t told_ = 0;  // the observer was told of all iterations before this one
};

}  // namespace trireme::solvers
