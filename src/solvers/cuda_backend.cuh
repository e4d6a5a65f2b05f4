// SPDX-License-Identifier: BSD-3-Clause
// The Backend of driver.hpp on the current GPU, in its own stream or the caller's: vectors, and the
// choice between CUDA graph and persistent kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/check.hpp"
#include "device/stream.hpp"
#include "device/uploader.hpp"
#include "kernels/csr_scans.hpp"
#include "kernels/permutation.hpp"
#include "solvers/cuda_fp32_diagonal.hpp"
#include "solvers/cuda_process_sum.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/cuda_tuning.hpp"
#include "solvers/driver.hpp"
#include "solvers/executors/graph_executor.cuh"
#include "solvers/executors/loop_window.cuh"
#include "solvers/executors/persistent.hpp"
#include "solvers/memory_agreement.hpp"
#include "solvers/preconditioners/block_inverse.hpp"
#include "solvers/preconditioners/inverse_diagonal.hpp"

namespace trireme::solvers {

class CudaBackend {
 public:
  static constexpr bool on_host = false;

  CudaBackend(CudaSystem& system, const CudaOptions& options)
      : system_(system), options_(options), mode_(options.mode), rows_(system.rows()) {
    if (!options.stream) stream_ = own_stream_.emplace();
  }

  std::int64_t rows() const { return rows_; }
  StreamRef stream() const { return stream_; }
  CudaMode mode() const { return mode_; }
  double* vector(int k) const { return vectors_.data() + k * stride_; }
  DeviceSpan<double> rows_of_vector(int k) const {
    return {vector(k), static_cast<std::size_t>(rows_)};
  }
  double* preconditioner_vector(int k) const { return of_preconditioner_.data() + k * stride_; }

  void allocate(int vectors, int of_preconditioner) {
    vectors_ = zeros(vectors);
    of_preconditioner_ = zeros(of_preconditioner);
    window_.emplace(rows_, std::max(system_.dot_partials(), system_.float_dot_partials()), stream_);
  }
  void choose_floats(bool wanted) {
    floats_ = wanted && system_.takes_floats() && mode_ != CudaMode::persistent;
    if (!floats_) return;
    system_.prepare_floats();
    floats_ = system_.takes_floats();
  }
  void hold(int vectors) {
    const auto allocate = [&] {
      if (vectors_.size() >= static_cast<std::size_t>(stride_) * vectors) return;
      forget_loop();
      vectors_ = {};
      vectors_ = zeros(vectors);
    };
    const double failures = processes_without_memory(allocate, [&](double mine) {
      return process_sum(system_, mine, window_->totals(), stream_);
    });
    if (failures > 0)
      throw Error(ExitCode::resource,
                  "a GPU has not enough memory to go on in double precision, for which this one "
                  "needs " +
                      std::to_string(vectors) + " vectors of " + std::to_string(rows_) +
                      " rows; use precision double and shorter cycles (restart)");
  }

  void allocate_cycle(std::int32_t length, std::int64_t elements) {
    arrays_ = DeviceBuffer<double>(static_cast<std::size_t>(elements), stream_);
    cycle_ = {length, arrays_.data()};
  }

  // `values` are in the caller's row order; the copy on the GPU is in the system's row order.
  const double* keep_rows(Array<double> values) {
    return kept_.emplace_back(in_systems_order(values)).data();
  }
  const double* keep_row_scale(Array<double> values) {
    row_scale_ = in_systems_order(values);
    return row_scale_.data();
  }
  DeviceBuffer<double> in_systems_order(const Array<double>& values) const {
    DeviceBuffer<double> here = to_device(std::span<const double>(values), stream_);
    if (const auto order = system_.order(); !order.empty()) {
      const DeviceBuffer<double> callers = std::move(here);
      here = DeviceBuffer<double>(rows_, stream_);
      permute(callers.view(), order, here.span(), stream_);
    }
    synchronize(stream_);
    return here;
  }
  const RowGroup* keep(Array<RowGroup> groups) {
    groups_ = to_device(std::span<const RowGroup>(groups), stream_);
    synchronize(stream_);
    return groups_.data();
  }
  bool inverse_diagonal(Diagonal& place, bool magnitudes) {
    const std::vector<DeviceRowBlock<double>> blocks = system_.local_blocks();
    if (!has_rows(blocks)) return false;
    InverseDiagonal inverse = invert_diagonal(blocks, stream_, magnitudes);
    if (inverse.constant)
      place.constant = *inverse.constant;
    else
      place.values = kept_.emplace_back(std::move(inverse.values)).data();
    return true;
  }
  // Into an array of keep_rows(), so that a recorded loop stays valid. False: there is no such
  // array, or a zero is on the diagonal, or the system has no CSR.
  bool invert_diagonal_into(const double* kept, bool magnitudes) {
    const std::vector<DeviceRowBlock<double>> blocks = system_.local_blocks();
    for (const DeviceBuffer<double>& rows : kept_)
      if (rows.data() == kept && has_rows(blocks))
        return invert_diagonal_on_device(blocks, rows.span(), magnitudes, stream_) == 0;
    return false;
  }
  const double* invert_blocks(const BlockRows& blocks, const PreconditionerSpec& spec) {
    if (!system_.order().empty())
      throw Error(ExitCode::internal, "block Jacobi needs the caller's row order");
    const std::vector<DeviceRowBlock<double>> rows = system_.local_blocks();
    if (spec.blocks.empty() && !has_rows(rows) && rows_ > 0)
      throw Error(ExitCode::usage,
                  "block Jacobi needs the diagonal blocks, or a CSR on the device");
    if (rows.size() > 1) fail_several_blocks(rows.back().first_entry + rows.back().csr.nnz);
    const DeviceBuffer<double> entries = to_device(spec.blocks, stream_);
    return kept_
        .emplace_back(invert_blocks_on_device(blocks, rows.front().csr, entries.view(), stream_))
        .data();
  }

  bool vectors_in_fp32() const { return floats_ && mode_ != CudaMode::persistent; }
  bool inexact(const Tolerances& rule, bool goes_on) const {
    // The persistent kernel keeps FP64 values, and a solve that was begun there goes on with them.
    const bool keeps_its_matrix = mode_ == CudaMode::persistent;
    return (floats_ || system_.inexact()) &&
           (!keeps_its_matrix || (rule.judged_by_caller && !goes_on));
  }

  // Decides between graph and persistent kernel, and returns the variant to use there. `jacobi` is
  // null for a preconditioner that is not pointwise.
  Variant choose(Method method, Variant asked, const Jacobi* jacobi) {
    method_ = method;
    const bool single = has_variant(method, Variant::single_reduction);
    const Variant if_persistent = !single                             ? Variant::classic
                                  : asked != Variant::automatic       ? asked
                                  : rows_ <= kSingleReductionUpToRows ? Variant::single_reduction
                                                                      : Variant::classic;
    if (jacobi && options_.mode != CudaMode::graph && options_.mode != CudaMode::stepped &&
        system_.processes() == 1)
      shape_ = plan_persistent(system_.csr(), method, if_persistent, options_.through_l2, stream_);
    if (options_.mode == CudaMode::automatic)
      mode_ = shape_.blocks > 0 ? CudaMode::persistent : CudaMode::graph;
    else if (options_.mode == CudaMode::persistent && shape_.blocks == 0)
      throw Error(
          ExitCode::usage,
          "the persistent kernel needs one process, a method that does not restart, a pointwise "
          "preconditioner, and a matrix in CSR on the device that fits into shared memory; use "
          "CudaMode::automatic or graph");
    if (mode_ == CudaMode::persistent) {
      scratch_ = DeviceBuffer<char>(persistent_scratch_bytes(shape_, rows_), stream_);
      fill_zero(scratch_.span(), stream_);
      return if_persistent;
    }
    if (!single) return Variant::classic;
    if (asked != Variant::automatic) return asked;
    return system_.sums_are_cheap() ? Variant::classic : Variant::single_reduction;
  }

  // The addresses of b and x in device memory, in the system's row order.
  struct Here {
    const double* b;
    double* x;
  };
  // Copies b, and x unless the guess is zero, from host memory.
  Here bring(const SolveVectors& vectors) {
    if (b_.size() == 0 && rows_ > 0) {
      b_ = DeviceBuffer<double>(rows_, stream_);
      x_ = DeviceBuffer<double>(rows_, stream_);
    }
    uploader_.copy(vectors.b, b_.span(), stream_);
    if (!vectors.zero_guess) uploader_.copy(std::span<const double>(vectors.x), x_.span(), stream_);
    return in_order(b_.view(), x_.span(), vectors.zero_guess);
  }
  // Copies the solution to vectors.x in host memory, and waits for that.
  void give_back(const SolveVectors& vectors) {
    in_callers_order(x_.span());
    uploader_.copy_back(x_.view(), vectors.x, stream_);
  }
  // Uses b and x where they are, or copies of them in the system's row order. The work that
  // `producer` holds so far is done first.
  Here bring(DeviceSpan<const double> b, DeviceSpan<double> x, bool zero_guess,
             StreamRef producer) {
    if (producer != stream_) {
      ready_.record(producer);
      wait(stream_, ready_);
    }
    return in_order(b, x, zero_guess);
  }
  // Completes x in the caller's row order.
  void give_back(DeviceSpan<double> x) {
    if (system_.order().empty()) return;
    in_callers_order(x);
    synchronize(stream_);
  }

  // Drops the recorded loop, before a solve with another method or preconditioner.
  void forget_loop() { loop_.reset(); }
  // Drops what keep_rows(), inverse_diagonal() and invert_blocks() have stored.
  void forget_kept() { kept_.clear(); }

  template <class Algorithm, class M>
  State run(const M& m, const Job& job) {
    const NormTerm norm = norm_term(job.state.rule, job.row_weights);
    cycle_.in_fp32 = !job.exactly;
    const SystemVectors vectors{job.b, job.x, job.zero_guess, norm, cycle_};
    const WorkMemory work{vectors_.data(), stride_};
    const Algorithm algorithm = Algorithm::with(vectors, work);
    if constexpr (M::pointwise) {
      const bool persistent = mode_ == CudaMode::persistent && shape_.blocks > 0 &&
                              !job.state.rule.judged_by_caller && !job.goes_on && !job.new_space &&
                              !job.same_solve && !job.observed &&
                              norm.rows.from != RowWeights::From::array;
      if (persistent) {
        const State initial = weighed(algorithm, job);
        launch_persistent(method_, Algorithm::variant, vectors, work, m, initial, system_.csr(),
                          shape_, *window_, scratch_.data(), stream_);
        const State state = window_->wait_for_result(stream_, job.observer);
        if (can_go_on(state)) leave_directions_of_persistent(state, algorithm, m, job.observer);
        return state;
      }
    }
    if (job.zero_guess) fill_zero(DeviceSpan<double>(job.x, rows_), stream_);
    if (job.same_solve)
      window_->set(job.state, stream_);
    else
      window_->start(job.state, stream_);
    if constexpr (kHasFloats<Algorithm, M>) {
      if (floats_ && !job.exactly) {
        using Narrow = typename Algorithm::Narrow;
        return run_graph(Narrow::with(vectors, work), diagonal_in_fp32_.with_it(m, rows_, stream_),
                         job, true);
      }
    }
    return run_graph(algorithm, m, job, system_.inexact() && !job.exactly);
  }

 private:
  // Passes also read values that they multiply by beta = 0.
  DeviceBuffer<double> zeros(int vectors) const {
    DeviceBuffer<double> memory(static_cast<std::size_t>(stride_) * vectors, stream_);
    fill_zero(memory.span(), stream_);
    return memory;
  }
  // Whether these are the rows of the system, of which there is at least one.
  bool has_rows(std::span<const DeviceRowBlock<double>> blocks) const {
    return rows_ > 0 && blocks.back().first_row + blocks.back().csr.rows == rows_;
  }

  // Brings b and x into the system's row order P: the system solves P A P^T (P x) = P b.
  Here in_order(DeviceSpan<const double> b, DeviceSpan<double> x, bool zero_guess) {
    const DeviceSpan<const std::int32_t> order = system_.order();
    if (order.empty()) return {b.data(), x.data()};
    if (permuted_b_.empty()) {
      permuted_b_ = DeviceBuffer<double>(rows_, stream_);
      permuted_x_ = DeviceBuffer<double>(rows_, stream_);
    }
    permute(b, order, permuted_b_.span(), stream_);
    if (!zero_guess) permute(x, order, permuted_x_.span(), stream_);
    return {permuted_b_.data(), permuted_x_.data()};
  }
  // Brings the solution back into the caller's row order.
  void in_callers_order(DeviceSpan<double> x) {
    const DeviceSpan<const std::int32_t> order = system_.order();
    if (!order.empty()) permute_back(permuted_x_.view(), order, x, stream_);
  }

  LoopKind loop_kind(const Job& job) const {
    const Recording recording = system_.recording();
    if (mode_ == CudaMode::stepped || job.observed || job.state.rule.judged_by_caller ||
        recording == Recording::none)
      return LoopKind::stepped;
    const bool kernels_sum = system_.processes() == 1 || system_.peer_sums();
    return recording == Recording::loop && kernels_sum ? LoopKind::conditional : LoopKind::batches;
  }

  template <class Algorithm, class M>
  State run_graph(const Algorithm& algorithm, const M& m, const Job& job, bool inexact) {
    const LoopKind kind = loop_kind(job);
    LoopKey key{job.x,
                job.state.rule.norm,
                algorithm.norm.rows.from,
                algorithm.norm.rows.inverse_sizes.values,
                kind,
                job.exactly};
    if constexpr (std::is_same_v<M, Given>) {
      if (!system_.order().empty())
        throw Error(ExitCode::internal, "a given preconditioner needs the caller's row order");
      require_on_device(*m.operation);
      key.given_version = m.operation->device_version();
    }
    if (!(key == loop_key_)) loop_.reset();
    loop_key_ = key;
    constexpr bool given = std::is_same_v<M, Given>;
    const int unroll = given ? kGivenUnroll : kDefaultUnroll;
    GraphExecutor executor(system_, *window_, stream_, job.observer,
                           {.kind = kind,
                            .unroll = options_.unroll > 0 ? options_.unroll : unroll,
                            .ahead = !given,
                            .norm_is_known = job.state.rule.norm != NormKind::none},
                           loop_, inexact);
    if (job.goes_on)
      run_rest(executor, algorithm, m);
    else
      run_solve(executor, algorithm, m);
    const State state = executor.state();
    const bool came_anywhere = !job.goes_on || state.iterations > job.state.iterations;
    if (can_go_on(state) && came_anywhere) algorithm.leave_direction(executor, m);
    system_.check();
    if constexpr (std::is_same_v<M, Given>) m.operation->check_device();
    return state;
  }

  // The scalars at the beginning after weigh_rows(), which takes separate launches.
  template <class Algorithm>
  State weighed(const Algorithm& algorithm, const Job& job) {
    if (algorithm.norm.rows.from == RowWeights::From::nothing) return job.state;
    window_->set(job.state, stream_);
    GraphExecutor executor(system_, *window_, stream_, job.observer, {}, loop_, false);
    weigh_rows(executor, algorithm, job.zero_guess, algorithm.product_vector());
    return executor.state();
  }

  // By separate launches, because this code would cost the persistent kernel registers.
  template <class Algorithm, class M>
  void leave_directions_of_persistent(const State& state, const Algorithm& algorithm, const M& m,
                                      const IterationObserver& observer) {
    window_->set(state, stream_);
    GraphExecutor executor(system_, *window_, stream_, observer, {}, loop_, false);
    algorithm.leave_direction(executor, m);
  }

  CudaSystem& system_;
  CudaOptions options_;
  CudaMode mode_;
  Method method_ = Method::cg;
  std::int64_t rows_, stride_ = (rows_ + 31) / 32 * 32;
  std::optional<Stream> own_stream_;
  StreamRef stream_ = options_.stream;
  Event ready_{Timing::no};
  DeviceBuffer<double> vectors_, of_preconditioner_, b_, x_, permuted_b_, permuted_x_, arrays_;
  CudaFp32Diagonal diagonal_in_fp32_;
  bool floats_ = false;  // loops have FP32 vectors unless they run exactly
  CycleWork cycle_;
  std::list<DeviceBuffer<double>> kept_;
  DeviceBuffer<double> row_scale_;
  DeviceBuffer<RowGroup> groups_;
  DeviceBuffer<char> scratch_;
  PersistentShape shape_;
  Uploader uploader_;
  std::optional<LoopWindow> window_;
  std::optional<LoopGraph> loop_;
  LoopKey loop_key_;
};

}  // namespace trireme::solvers
