// SPDX-License-Identifier: BSD-3-Clause
// Waits for a loop on the GPU, and tells the observer of its iterations meanwhile.
#include "solvers/executors/loop_window.cuh"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include "base/error.hpp"
#include "device/check.hpp"
#include "device/device.hpp"
#include "solvers/executors/graph_kernels.cuh"

namespace trireme::solvers {
namespace {

constexpr std::int64_t kHistory = std::int64_t{1} << 20;
constexpr std::size_t kNormsAtOnce = 4096;  // that are copied to the host
constexpr int kBlocksPerMultiprocessor = 4;
// Of a pass without sums, where more blocks even out what each of them waits for.
constexpr int kMostBlocksPerMultiprocessor = 32;
// The host polls without a pause for kSpin, and then sleeps for kSleep between two polls.
constexpr auto kSpin = std::chrono::microseconds(1000);
constexpr auto kSleep = std::chrono::microseconds(50);
constexpr auto kLookEvery = std::chrono::milliseconds(10);

bool finished(EventRef event) {
  const cudaError_t status = cudaEventQuery(event);
  if (status != cudaErrorNotReady) cuda_check(status);
  return status == cudaSuccess;
}

// The blocks of a pass whose threads have so many rows each, up to a number per multiprocessor.
int blocks_for(std::int64_t rows, std::int64_t rows_per_thread, std::int64_t per_multiprocessor) {
  const std::int64_t rows_per_block = rows_per_thread * kPassThreads;
  return static_cast<int>(
      std::clamp<std::int64_t>((rows + rows_per_block - 1) / rows_per_block, 1,
                               std::int64_t{multiprocessors()} * per_multiprocessor));
}

}  // namespace

__global__ void __launch_bounds__(kFinishThreads)
    collect_kernel(const __grid_constant__ PendingSums pending, const Control* control,
                   double* totals) {
  __shared__ double sums[PeerSums::max_values];
  total<kFinishThreads>(pending, sums, [] {});
  if (threadIdx.x != 0) return;
  const int count = pending.sums();
  for (int k = 0; k < count; ++k) totals[k] = sums[k];
  totals[count] = *static_cast<const volatile std::int32_t*>(&control->stop) != 0 ? 1 : 0;
}

LoopWindow::LoopWindow(std::int64_t rows, std::size_t dot_partials, StreamRef stream)
    : blocks_(blocks_for(rows, 1, kBlocksPerMultiprocessor)),
      most_blocks_(std::max(blocks_, blocks_for(rows, 4, kMostBlocksPerMultiprocessor))),
      launches_may_overlap_(waits_for_predecessor(collect_kernel)),
      partials_stride_(std::max<std::size_t>(std::size_t(blocks_) * kMaxSums, dot_partials)),
      control_(1, stream),
      history_(kHistory, stream),
      partials_(partials_stride_ * kMaxPending, stream),
      totals_(kMaxSums * kMaxPending + 1, stream),
      tickets_(1, stream),
      host_(4),
      marks_(2),
      result_(1),
      result_there_(result_.device_span().data()),
      norms_(kNormsAtOnce) {
  *result_.data() = {};
  fill_zero(control_.span(), stream);
  fill_zero(tickets_.span(), stream);
  synchronize(stream);
}

void LoopWindow::start(const State& state, StreamRef stream) {
  told_ = state.iterations;  // a solve that goes on has no earlier iterations in the ring
  host_.data()[2] = Control{};
  host_.data()[2].state = state;
  host_.data()[2].serial = ++serial_;
  next_look_ = std::chrono::steady_clock::now() + kLookEvery;
  memory::copy(control_.data(), host_.data() + 2, sizeof(Control), stream);
}

void LoopWindow::set(const State& state, StreamRef stream) {
  host_.data()[2].state = state;
  memory::copy(&control_.data()->state, &host_.data()[2].state, sizeof(State), stream);
  synchronize(stream);
}

template <class Done>
void LoopWindow::watch(const IterationObserver& observer, bool streaming, const Done& done) {
  const auto begin = std::chrono::steady_clock::now();
  while (!done()) {
    if (std::chrono::steady_clock::now() - begin > kSpin) std::this_thread::sleep_for(kSleep);
    if (streaming) look_if_due(observer);
  }
}

const State& LoopWindow::wait(StreamRef stream, const IterationObserver& observer, bool streaming) {
  memory::copy(host_.data(), control_.data(), sizeof(Control), stream);
  done_.record(stream);
  watch(observer, streaming, [&] { return finished(done_); });
  if (!streaming) return host_.data()[0].state;
  look_if_due(observer);  // a solve may be made of loops that all end before it is due
  tell(observer, host_.data()[0]);
  return host_.data()[0].state;
}

const State& LoopWindow::wait_for_result(StreamRef stream, const IterationObserver& observer) {
  ++serial_;
  told_ = 0;
  next_look_ = std::chrono::steady_clock::now() + kLookEvery;
  done_.record(stream);
  const volatile std::int64_t& serial = result_.data()->serial;
  int looks = 0;
  watch(observer, true, [&] {
    if (serial == serial_) return true;
    if (++looks % 1024 != 0 || !finished(done_)) return false;
    if (serial != serial_) throw Error(ExitCode::internal, "the persistent kernel left no result");
    return true;
  });
  std::atomic_thread_fence(std::memory_order_acquire);
  Control& seen = host_.data()[0];
  seen.state = result_.data()->state;
  seen.published = result_.data()->published;
  seen.serial = serial_;
  tell(observer, seen, result_.data());
  return seen.state;
}

void LoopWindow::mark(int which, StreamRef stream) {
  memory::copy(marks_.data() + which, control_.data(), sizeof(Control), stream);
  marked_[which].record(stream);
}

const State& LoopWindow::reached(int which, const IterationObserver& observer) {
  marked_[which].synchronize();
  look_if_due(observer);
  return marks_.data()[which].state;
}

void LoopWindow::ask_to_stop(StreamRef stream) {
  host_.data()[3].stop = 1;
  memory::copy(&control_.data()->stop, &host_.data()[3].stop, sizeof(std::int32_t), stream);
}

void LoopWindow::look_if_due(const IterationObserver& observer) {
  if (std::chrono::steady_clock::now() < next_look_) return;
  look(observer);
  next_look_ = std::chrono::steady_clock::now() + kLookEvery;
}

void LoopWindow::look(const IterationObserver& observer) {
  if (observer.stop_requested()) ask_to_stop(side_);
  if (!observer.iteration) return;
  memory::copy(host_.data() + 1, control_.data(), sizeof(Control), side_);
  side_.synchronize();
  tell(observer, host_.data()[1]);
}

void LoopWindow::tell(const IterationObserver& observer, const Control& seen,
                      const DeviceResult* result) {
  if (!observer.iteration || seen.serial != serial_ || seen.published <= told_) return;
  State state = seen.state;
  const auto tell_norm = [&](double norm) {
    state.iterations = told_++;
    state.norm = norm;
    observer.iteration(state, Iterate{});
  };
  if (result && seen.published - told_ <= kResultNorms) {
    while (told_ < seen.published) tell_norm(result->norms[told_ % kResultNorms]);
    return;
  }
  const auto capacity = static_cast<std::int64_t>(history_.size());
  told_ = std::max(told_, seen.published - capacity);  // the ring has overwritten older norms
  while (told_ < seen.published) {
    const std::int64_t place = told_ % capacity;
    const std::int64_t count = std::min(
        {seen.published - told_, capacity - place, static_cast<std::int64_t>(norms_.size())});
    memory::copy(norms_.data(), history_.data() + place, count * sizeof(double), side_);
    side_.synchronize();
    for (std::int64_t k = 0; k < count; ++k) tell_norm(norms_.data()[k]);
  }
}

}  // namespace trireme::solvers
