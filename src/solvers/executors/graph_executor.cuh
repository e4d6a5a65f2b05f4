// SPDX-License-Identifier: BSD-3-Clause
// Runs a method's algorithm as kernel launches in a stream, and its loop as a CUDA graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "device/check.hpp"
#include "device/graph.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/executors/graph_kernels.cuh"
#include "solvers/executors/loop_window.cuh"
#include "solvers/methods/correction.hpp"

namespace trireme::solvers {

// The recorded loop. The solver keeps it between solves of the same algorithm on the same vectors.
struct LoopGraph {
  Graph graph;
  GraphExec exec;
  int unroll = 0;
};

// How the loop runs:
//   conditional  one graph with a while node; the GPU decides when the loop ends
//   batches      one graph with a few iterations, which the host launches again and again
//   stepped      no graph; the host launches each kernel and looks at every iteration
enum class LoopKind { conditional, batches, stepped };

// The properties of a solve that the recorded loop depends on.
struct LoopKey {
  const double* x = nullptr;
  NormKind norm = NormKind::none;
  RowWeights::From weights = RowWeights::From::nothing;
  const double* row_scale = nullptr;
  LoopKind kind = LoopKind::stepped;
  bool exactly = false;
  std::uint64_t given_version = 0;
  bool operator==(const LoopKey&) const = default;
};

struct LoopForm {
  LoopKind kind = LoopKind::stepped;
  int unroll = 1;     // iterations in the recorded graph
  bool ahead = true;  // the host launches a batch before it knows the state after the last one
  bool norm_is_known = false;  // every iteration computes a norm of its residual
};

class GraphExecutor {
 public:
  static constexpr bool has_row_weights = true;
  static constexpr StateAccess state_access = StateAccess::none;
  static constexpr int sums_per_pass = kMaxSums;

  // All references must outlive the executor. Unless `inexact`, all products are the system's exact
  // product.
  GraphExecutor(CudaSystem& system, LoopWindow& window, StreamRef stream,
                const IterationObserver& observer, const LoopForm& form,
                std::optional<LoopGraph>& loop, bool inexact)
      : system_(system),
        inexact_(inexact),
        window_(window),
        stream_(stream),
        observer_(observer),
        form_(form),
        loop_(loop),
        rows_(system.rows()) {}

  std::int64_t rows() const { return rows_; }
  bool running() { return solvers::running(state()); }
  bool needs_true_residual() { return solvers::needs_true_residual(state()); }
  template <class Property>
  bool choose_if(const Property& property) {
    return property(state());
  }

  bool inexact() const { return inexact_; }

  void product(const double* x, double* y) {
    if (!inexact_) return exact_product(x, y);
    system_.multiply(span(x), span(y), stream_);
    pass(Compensate{system_.row_defect().data(), x, y});
  }
  void exact_product(const double* x, double* y) {
    system_.multiply_exactly(span(x), span(y), stream_);
  }

  // The products of a loop with FP32 vectors.
  void product(const float* x, float* y) { system_.multiply_floats(span(x), span(y), {}, stream_); }
  template <class T, class Step>
  void product_and_dot(const T* x, T* y, const Step& step) {
    if (const std::size_t count = partials_of_product(x)) {
      multiply_and_dot(x, y, count);
      return finish(step);
    }
    if constexpr (std::is_same_v<T, double>) {
      if (inexact_) {
        system_.multiply(span(x), span(y), stream_);
        return pass(CompensateAndDot{{system_.row_defect().data(), x, y}}, step);
      }
    }
    product(x, y);
    pass(DotOf<T>{x, y}, step);
  }

  void apply_given(GivenPreconditioner& given, const double* r, double* z) {
    if (!in_loop_) return given.enqueue(span(r), span(z), stream_);
    const State& state = window_.control()->state;  // an address; the host reads no member
    const LoopHints hints{form_.norm_is_known ? &state.norm : nullptr, &state.needs_no_z};
    given.enqueue_in_loop(span(r), span(z), hints, stream_);
  }

  // `first` is applied by the pass where one GPU solves and the product sums x.y.
  template <class T, class First, class Pass, class Step>
  void product_and_pass(const T* x, T* y, const First& first, const Pass& p, const Step& step) {
    const std::size_t count = partials_of_product(x);
    if (count == 0 || count > static_cast<std::size_t>(kMaxFirstPartials) ||
        system_.processes() > 1) {
      product_and_dot(x, y, first);
      return pass(p, step);
    }
    multiply_and_dot(x, y, count);
    const PendingSums sums = std::exchange(pending_, {});
    launch(FirstStep<First>{sums.items[0].partials, sums.items[0].count, first}, p, step, 1);
    pending_ = {};
    stale_ = true;
  }

  template <class Pass>
  void pass(const Pass& p) {
    launch(NoStep{}, p, NoStep{});
  }

  template <class Pass, class Step>
  void pass(const Pass& p, const Step& step) {
    if (sums_apart()) {
      pass(p);
      return finish(step);
    }
    launch(NoStep{}, p, step);
    pending_.count = 0;
    stale_ = true;
  }

  void forget_sums() { pending_.count = 0; }

  template <class Step>
  void finish(const Step& step) {
    if (sums_apart()) {
      const int count = pending_.sums();
      collect_kernel<<<1, kFinishThreads, 0, stream_>>>(pending_, window_.control(),
                                                        window_.totals());
      check_launch();
      system_.sum({window_.totals(), static_cast<std::size_t>(count) + 1}, stream_);
      step_kernel<<<1, 1, 0, stream_>>>(window_.totals(), count, window_.control(), step,
                                        window_.history());
    } else {
      launch_after(1, kFinishThreads, finish_kernel<Step>, pending_, window_.control(),
                   system_.peer_sums(), step, window_.history(), handle_);
    }
    check_launch();
    pending_.count = 0;
    stale_ = true;
  }

  // The last iteration that is recorded, and each one that is not.
  bool ends_round() const { return ends_round_; }
  bool records() const { return form_.kind != LoopKind::stepped; }

  template <class Body>
  void repeat(const Body& iteration) {
    const auto body = [&](bool ends_round) {
      in_loop_ = true;
      ends_round_ = ends_round;
      iteration();
      in_loop_ = false;
    };
    switch (form_.kind) {
      case LoopKind::conditional:
        return run_conditional(body);
      case LoopKind::batches:
        return run_batches(body);
      case LoopKind::stepped:
        return run_stepped(body);
    }
  }

  const State& state() {
    if (stale_) state_ = window_.wait(stream_, observer_, form_.kind != LoopKind::stepped);
    stale_ = false;
    return state_;
  }

 private:
  // Whether sums over the processes need a call of their own between two kernels, because the
  // kernels cannot add up over the processes.
  bool sums_apart() const { return system_.processes() > 1 && !system_.peer_sums(); }

  template <class T>
  DeviceSpan<const T> span(const T* v) const {
    return {v, static_cast<std::size_t>(rows_)};
  }
  template <class T>
  DeviceSpan<T> span(T* v) const {
    return {v, static_cast<std::size_t>(rows_)};
  }

  // The partial sums of x.y that a product y = A x of the loop gives; 0: none.
  std::size_t partials_of_product(const float*) const { return system_.float_dot_partials(); }
  std::size_t partials_of_product(const double*) const {
    return inexact_ || system_.inexact() ? 0 : system_.dot_partials();
  }
  // y = A x, and x.y becomes pending.
  void multiply_and_dot(const float* x, float* y, std::size_t count) {
    double* partials = window_.partials(pending_.count);
    system_.multiply_floats(span(x), span(y), {partials, count}, stream_);
    pending_.add(partials, static_cast<std::int32_t>(count), 1);
  }
  void multiply_and_dot(const double* x, double* y, std::size_t count) {
    double* partials = window_.partials(pending_.count);
    system_.multiply_and_dot(span(x), span(y), {partials, count}, stream_);
    pending_.add(partials, static_cast<std::int32_t>(count), 1);
  }

  // The partial sums of the first `in_use` pending items are still read.
  template <class First, class Pass, class Step>
  void launch(const First& first, const Pass& p, const Step& step, int in_use = 0) {
    const int blocks = Pass::sums > 0 ? window_.blocks() : window_.most_blocks();
    double* partials = nullptr;
    if (Pass::sums > 0) {
      partials = window_.partials(in_use + pending_.count);
      pending_.add(partials, blocks, Pass::sums);
    }
    launch_after(blocks, kPassThreads, pass_kernel<First, Pass, Step>, first, p, rows_,
                 window_.control(), partials, pending_, window_.tickets(), system_.peer_sums(),
                 step, window_.history(), handle_);
  }

  // Launches `kernel`. On one GPU that supports programmatic stream serialization, the launch
  // overlaps with the end of the previous kernel.
  template <class... Parameters, class... Arguments>
  void launch_after(int blocks, int threads, void (*kernel)(Parameters...),
                    const Arguments&... arguments) {
    launch_overlapping(static_cast<unsigned>(blocks), static_cast<unsigned>(threads),
                       system_.processes() == 1 && window_.launches_may_overlap(), stream_, kernel,
                       arguments...);
  }

  template <class Body>
  void record(const Body& body) const {
    for (int k = 1; k <= form_.unroll; ++k) body(k == form_.unroll);
  }

  // Records `unroll` iterations into the graph of a node.
  template <class Body>
  void capture_body(cudaGraph_t into, const Body& body) {
    cuda_check(cudaStreamBeginCaptureToGraph(stream_, into, nullptr, nullptr, 0,
                                             cudaStreamCaptureModeThreadLocal));
    try {
      record(body);
    } catch (...) {
      capture::abandon_in_graph(stream_);
      throw;
    }
    cudaGraph_t captured = nullptr;
    cuda_check(cudaStreamEndCapture(stream_, &captured));
    handle_ = {};
  }

  // Runs a while node whose body is `unroll` iterations. The host takes no part until it ends.
  template <class Body>
  void run_conditional(const Body& body) {
    if (!loop_) {
      LoopGraph loop;
      cuda_check(cudaGraphConditionalHandleCreate(&handle_.handle, loop.graph, 1,
                                                  cudaGraphCondAssignDefault));
      handle_.set = true;
      cudaGraphNodeParams params{};
      params.type = cudaGraphNodeTypeConditional;
      params.conditional.handle = handle_.handle;
      params.conditional.type = cudaGraphCondTypeWhile;
      params.conditional.size = 1;
      cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
      cuda_check(cudaGraphAddNode(&node, loop.graph, nullptr, nullptr, 0, &params));
#else
      cuda_check(cudaGraphAddNode(&node, loop.graph, nullptr, 0, &params));
#endif
      try {
        capture_body(params.conditional.phGraph_out[0], body);
        loop.exec = GraphExec(loop.graph);
      } catch (...) {
        loop.graph.abandon();
        throw;
      }
      loop_ = std::move(loop);
    }
    loop_->exec.launch(stream_);
    stale_ = true;
    state();
  }

  // Runs batches of iterations. Where it may run ahead, the host launches the next batch before it
  // looks at the state after the last one. The passes of a batch that was queued after the end of
  // the loop do nothing. Every process sees the same scalars, so that all processes launch the same
  // number of batches.
  template <class Body>
  void run_batches(const Body& body) {
    if (!loop_) {
      LoopGraph loop;
      loop.graph = capture_graph(stream_, [&] { record(body); });
      loop.exec = GraphExec(loop.graph);
      loop_ = std::move(loop);
    }
    int latest = 0;
    const auto launch_batch = [&] {
      loop_->exec.launch(stream_);
      window_.mark(latest, stream_);
      latest ^= 1;
    };
    // The state that is awaited is the one before the last launch, or the one after it.
    const auto awaited = [&] { return form_.ahead ? latest : latest ^ 1; };
    if (form_.ahead) launch_batch();
    do launch_batch();
    while (solvers::running(window_.reached(awaited(), observer_)));
    stale_ = true;
    state();
  }

  template <class Body>
  void run_stepped(const Body& body) {
    if (state().iterations != told_) tell_step();
    while (running()) {
      const std::int64_t before = state_.iterations;
      if (observer_.stop_requested()) window_.ask_to_stop(stream_);
      body(true);
      if (state().iterations != before) tell_step();
    }
  }

  // Tells the observer of the current iteration; a reason that the observer returns ends the loop.
  // x is complete at this point.
  void tell_step() {
    told_ = state_.iterations;
    if (!observer_.iteration) return;
    if (!overrule(state_, observer_.iteration(state_, Iterate{}))) return;
    close_iteration(state_);
    window_.set(state_, stream_);
  }

  CudaSystem& system_;
  bool inexact_;
  LoopWindow& window_;
  StreamRef stream_;
  const IterationObserver& observer_;
  LoopForm form_;
  std::optional<LoopGraph>& loop_;
  std::int64_t rows_;
  bool in_loop_ = false, ends_round_ = false;
  std::int64_t told_ = -1;  // the last iteration of which tell_step() told the observer
  PendingSums pending_;
  LoopHandle handle_;
  State state_;        // a copy of the state on the device
  bool stale_ = true;  // work that may change the state was queued after the copy was made
};

}  // namespace trireme::solvers
