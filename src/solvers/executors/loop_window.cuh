// SPDX-License-Identifier: BSD-3-Clause
// The host's window on a loop that runs on the GPU: scalars, history, the wish to stop.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "solvers/executors/cuda_control.cuh"
#include "solvers/solver.hpp"

namespace trireme::solvers {

// Lives as long as the solver. The loop writes norms into a ring in device memory; the host copies
// them in a stream of its own, so that the loop never waits for the bus.
class LoopWindow {
 public:
  LoopWindow(std::int64_t rows, std::size_t dot_partials, StreamRef stream);

  Control* control() const { return control_.data(); }
  History history() const { return {history_.data(), static_cast<std::int64_t>(history_.size())}; }
  unsigned* tickets() const { return tickets_.data(); }
  int blocks() const { return blocks_; }  // of a pass
  // Room for the partial sums of pending item k.
  double* partials(int k) const { return partials_.data() + k * partials_stride_; }
  double* totals() const { return totals_.data(); }
  // The GPU and the code for it can launch a kernel before the one before it has ended.
  bool launches_may_overlap() const { return launches_may_overlap_; }

  // A new solve by a kernel that does all of it and sets up the Control itself: its number, and
  // where it leaves its result, in the host's memory as the device sees it.
  std::int64_t next_serial() { return serial_ + 1; }
  DeviceResult* result() const { return result_.device_span().data(); }
  // Waits for that result, after the launch; otherwise as wait().
  const State& wait_for_result(StreamRef stream, const IterationObserver& observer);

  // A new solve; a changed state within one.
  void start(const State& state, StreamRef stream);
  void set(const State& state, StreamRef stream);
  void ask_to_stop(StreamRef stream);  // at the end of the iteration
  // Waits until `stream` has done its work. With `streaming`, tells the observer of iterations
  // meanwhile, and hands on its wish to stop.
  const State& wait(StreamRef stream, const IterationObserver& observer, bool streaming);
  // The state after what `stream` holds so far, to be asked for while later work is queued:
  // `which` is 0 or 1. Tells the observer at times.
  void mark(int which, StreamRef stream);
  const State& reached(int which, const IterationObserver& observer);

 private:
  template <class Done>
  void watch(const IterationObserver& observer, bool streaming, const Done& done);
  void look(const IterationObserver& observer);
  void tell(const IterationObserver& observer, const Control& seen);

  int blocks_;
  bool launches_may_overlap_;
  std::size_t partials_stride_;
  DeviceBuffer<Control> control_;
  DeviceBuffer<double> history_, partials_, totals_;
  DeviceBuffer<unsigned> tickets_;
  PinnedBuffer<Control> host_;  // [0]: after the work, [1]: meanwhile, [2], [3]: to the device
  PinnedBuffer<Control> marks_;
  Event marked_[2] = {Event(Timing::no), Event(Timing::no)};
  std::chrono::steady_clock::time_point next_look_{};
  PinnedBuffer<DeviceResult> result_;
  std::int64_t serial_ = 0;
  std::vector<double> norms_;
  Stream side_;
  Event done_{Timing::no};
  std::int64_t told_ = 0;
};

}  // namespace trireme::solvers
