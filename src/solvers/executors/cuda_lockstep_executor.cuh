// SPDX-License-Identifier: BSD-3-Clause
// Runs a method's algorithm on a GPU for many right-hand sides at once.
//
// The algorithm is the one that the other executors run for one right-hand side. As in
// LockstepExecutor, running(), repeat() and needs_true_residual() also choose the columns that take
// part in what follows. Within repeat() the GPU decides for each column whether its loop goes on,
// by the column's state. The host queues batches of iterations, as one CUDA graph per batch where
// the system can be recorded, and looks at the states after the last batch but one. What is queued
// for a column whose loop has ended changes nothing that its true residual starts from, except that
// `always` passes and products repeat their work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "device/check.hpp"
#include "device/graph.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/executors/column_kernels.cuh"
#include "solvers/executors/cuda_lockstep_block.hpp"
#include "solvers/methods/correction.hpp"

namespace trireme::solvers {

class CudaLockstepExecutor {
 public:
  static constexpr bool has_row_weights = true;
  static constexpr StateAccess state_access = StateAccess::none;
  static constexpr int sums_per_pass = kMaxSums;

  // Iterations per batch; the log has room for those of two batches.
  static constexpr int batch = 4;

  // Memory for the sums of passes, which outlives the executor.
  class Sums {
   public:
    Sums(std::int64_t rows, StreamRef stream);
    int blocks() const { return blocks_; }
    double* partials(int k) const { return partials_.data() + k * stride_; }
    // Memory for all pending sums and the wish to stop of each column.
    double* totals() const { return totals_.data(); }

   private:
    int blocks_;
    std::int64_t stride_;
    DeviceBuffer<double> partials_, totals_;
  };

  // The references must outlive the executor. `block` holds the columns; all of them take part at
  // first. Without `inexact`, all products are the system's exact product.
  CudaLockstepExecutor(CudaSystem& system, CudaLockstepBlock& block, const Sums& sums,
                       StreamRef stream, bool inexact)
      : system_(system),
        block_(block),
        sums_(sums),
        stream_(stream),
        inexact_(inexact),
        rows_(system.rows()) {}

  std::int64_t rows() const { return rows_; }
  bool inexact() const { return inexact_; }

  bool running() {
    refresh();
    block_.leave([](const State& s) { return !solvers::running(s); });
    choose([](const State&) { return true; });
    return block_.width() > 0;
  }

  bool needs_true_residual() {
    refresh();
    return choose([](const State& s) { return solvers::needs_true_residual(s); }) > 0;
  }

  template <class Property>
  bool choose_if(const Property& property) {
    refresh();
    return choose(property) > 0;
  }

  bool ends_round() const { return ends_round_; }
  static constexpr bool records() { return true; }

  // Ends when a quarter of the columns waits for a true residual or has ended.
  template <class Body>
  void repeat(const Body& body) {
    refresh();
    const std::int64_t width = block_.width();
    const std::int64_t enough = std::max<std::int64_t>(1, width / 4);
    if (width - choose([](const State& s) { return solvers::running(s); }) >= enough) return;
    in_loop_ = true;
    const auto iterations = [&] {
      for (int k = 0; k < batch; ++k) {
        ends_round_ = k == batch - 1;
        body();
      }
    };
    std::optional<GraphExec> graph;
    if (system_.recording() != Recording::none) graph.emplace(capture_graph(stream_, iterations));
    int latest = 0;
    const auto queue_batch = [&] {
      if (graph)
        graph->launch(stream_);
      else
        iterations();
      block_.mark(latest);
      latest ^= 1;
    };
    queue_batch();
    do queue_batch();
    while (width - block_.reached(latest) < enough);
    in_loop_ = false;
    stale_ = true;
    refresh();  // the graph must not be destroyed while it runs
  }

  void product(const double* x, double* y) {
    if (!inexact_) return exact_product(x, y);
    if (system_.multiplies_vectors())
      multiply_together(x, y);
    else
      multiply_each(x, y, [this](auto from, auto to) { system_.multiply(from, to, stream_); });
    compensate(x, y);
  }
  void exact_product(const double* x, double* y) {
    if (system_.multiplies_vectors() && !system_.inexact())
      multiply_together(x, y);
    else
      multiply_each(x, y,
                    [this](auto from, auto to) { system_.multiply_exactly(from, to, stream_); });
  }
  // The product of a loop with FP32 vectors.
  void product(const float* x, float* y) { multiply_together(x, y); }

  // One column after another, each in an array of its own.
  void apply_given(GivenPreconditioner& given, const double* r, double* z) {
    multiply_each(r, z, [&](auto from, auto to) { given.enqueue(from, to, stream_); });
  }

  template <class T, class Step>
  void product_and_dot(const T* x, T* y, const Step& step) {
    product(x, y);
    pass(DotOf<T>{x, y}, step);
  }

  template <class Pass>
  void pass(const Pass& p) {
    double* const partials = sums_.partials(pending_.count);
    if (Pass::sums > 0) pending_.add(partials, sums_.blocks(), Pass::sums);
    backward_ = !backward_;
    column_pass_kernel<<<sums_.blocks(), kPassThreads, 0, stream_>>>(p, block_.shape(), backward_,
                                                                     block_.controls(), partials);
    check_launch();
  }

  template <class Pass, class Step>
  void pass(const Pass& p, const Step& step) {
    pass(p);
    finish(step);
  }

  void forget_sums() { pending_.count = 0; }

  template <class Step>
  void finish(const Step& step) {
    const auto width = static_cast<unsigned>(block_.width());
    if (system_.processes() == 1) {
      column_step_kernel<<<width, kStepThreads, 0, stream_>>>(pending_, block_.controls(),
                                                              block_.stop_flags(), step);
    } else {
      const int count = pending_.sums();
      column_collect_kernel<<<width, kStepThreads, 0, stream_>>>(pending_, block_.stop_flags(),
                                                                 sums_.totals());
      check_launch();
      system_.sum({sums_.totals(), width * (static_cast<std::size_t>(count) + 1)}, stream_);
      column_apply_kernel<<<1, width, 0, stream_>>>(sums_.totals(), count, block_.controls(), step);
    }
    check_launch();
    pending_.count = 0;
    stale_ = true;
  }

 private:
  void refresh() {
    if (stale_) block_.refresh();
    stale_ = false;
  }

  // Makes the columns with the property take part, and no others; returns how many they are.
  template <class Property>
  std::int64_t choose(const Property& property) {
    std::int64_t count = 0;
    bool differs = false;
    for (LockstepColumn& column : block_.columns()) {
      const bool takes_part = property(column.state);
      differs |= takes_part != column.takes_part;
      column.takes_part = takes_part;
      count += takes_part ? 1 : 0;
    }
    if (differs) block_.upload();
    return count;
  }

  DeviceSpan<const double> one(const double* v) const {
    return {v, static_cast<std::size_t>(rows_)};
  }
  DeviceSpan<double> one(double* v) const { return {v, static_cast<std::size_t>(rows_)}; }

  void multi_multiply(DeviceMultiVector<const double> x, DeviceMultiVector<double> y) {
    system_.multi_multiply(x, y, stream_);
  }
  void multi_multiply(DeviceMultiVector<const float> x, DeviceMultiVector<float> y) {
    system_.multi_multiply_floats(x, y, stream_);
  }

  // The places of all columns, or of those that take part where the others still need their y.
  std::vector<std::int64_t> places_to_multiply() const {
    std::vector<std::int64_t> places;
    for (std::int64_t j = 0; j < block_.width(); ++j)
      if (in_loop_ || block_.columns()[j].takes_part) places.push_back(j);
    return places;
  }

  // Y = A X of places_to_multiply().
  template <class T>
  void multiply_together(const T* x, T* y) {
    backward_ = false;  // products go through the rows in ascending order
    const std::vector<std::int64_t> places = places_to_multiply();
    if (std::ssize(places) == block_.width())
      return multi_multiply(block_.columns_of(x), block_.columns_of(y));
    const std::int64_t stride = block_.narrow_stride();
    const auto at_once = static_cast<std::size_t>(stride);
    for (std::size_t first = 0; first < places.size(); first += at_once) {
      const auto some = std::span(places).subspan(first, std::min(at_once, places.size() - first));
      const std::int64_t count = std::ssize(some);
      block_.gather(x, some, stride);
      multi_multiply(
          DeviceMultiVector<const T>{block_.template narrow_x<T>(), rows_, count, stride, 1},
          DeviceMultiVector<T>{block_.template narrow_y<T>(), rows_, count, stride, 1});
      block_.scatter(y, some, stride);
    }
  }

  // The same by multiply_one(x, y) for one column after another.
  template <class MultiplyOne>
  void multiply_each(const double* x, double* y, const MultiplyOne& multiply_one) {
    backward_ = false;
    const std::vector<std::int64_t> places = places_to_multiply();
    for (const std::int64_t& place : places) {
      const std::span<const std::int64_t> some(&place, 1);
      block_.gather(x, some, 1);
      multiply_one(one(static_cast<const double*>(block_.narrow_x<double>())),
                   one(block_.narrow_y<double>()));
      block_.scatter(y, some, 1);
    }
  }

  // y += defect x; see Compensate.
  void compensate(const double* x, double* y) {
    column_compensate_kernel<<<sums_.blocks(), kPassThreads, 0, stream_>>>(
        system_.row_defect().data(), x, y, block_.shape(), block_.controls());
    check_launch();
  }

  CudaSystem& system_;
  CudaLockstepBlock& block_;
  const Sums& sums_;
  StreamRef stream_;
  bool inexact_;
  std::int64_t rows_;
  bool ends_round_ = false;
  bool in_loop_ = false;   // the algorithm of an iteration runs
  bool backward_ = false;  // the last pass went through the rows in descending order
  bool stale_ = false;     // work that may change the states was queued after refresh()
  PendingSums pending_;
};

}  // namespace trireme::solvers
