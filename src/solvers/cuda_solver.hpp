// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on a GPU, which holds the vectors and the scalars and decides when the loop
// ends. This header compiles without CUDA; in such a build CudaSolver's constructor throws
// Error{resource}.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/multi_vector.hpp"
#include "device/peer_sums.hpp"
#include "device/recording.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/blocked_device_csr.hpp"
#include "solvers/solver.hpp"

namespace trireme::solvers {

// A square matrix, distributed by rows over processes with one GPU each. A function that takes a
// stream only queues work in that stream.
class CudaSystem {
 public:
  virtual ~CudaSystem() = default;
  // The number of rows that this process's GPU holds.
  virtual std::int64_t rows() const = 0;
  // y = A x. x and y are this process's parts, rows() long.
  virtual void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream) = 0;
  // Whether multiply() uses an approximation of A, such as A with its values in FP32.
  virtual bool inexact() const { return false; }
  // If inexact(): what rounding took from the sum of each row, A 1 - A32 1, rows() long.
  virtual DeviceSpan<const float> row_defect() const { return {}; }
  // y = A x with the exact values of A. Residuals are corrected by this product.
  virtual void multiply_exactly(DeviceSpan<const double> x, DeviceSpan<double> y,
                                StreamRef stream) {
    multiply(x, y, stream);
  }
  // Whether multiply_floats() exists: the product of a loop whose vectors are in FP32. It has the
  // values in FP32 too, with what rounding took from the sum of each row given back, and sums them
  // in FP64. Where it does, prepare_floats() comes before the first product. Throws
  // Error{resource} where the memory does not suffice. Collective.
  virtual bool takes_floats() const { return false; }
  virtual void prepare_floats() {}
  // The number of partial sums of multiply_floats(); 0: it cannot sum x.y.
  virtual std::size_t float_dot_partials() const { return 0; }
  // y = A x. Where `partials` is not empty, it becomes float_dot_partials() numbers whose sum is
  // this process's x.y.
  virtual void multiply_floats(DeviceSpan<const float> /*x*/, DeviceSpan<float> /*y*/,
                               DeviceSpan<double> /*partials*/, StreamRef /*stream*/) {}
  // Whether multi_multiply() exists. Where it does, it computes Y = A X by the product of
  // multiply(), for up to `width` vectors side by side (vector_stride 1) in rows of `stride`
  // elements, once prepare_multi_product(stride, width) was called. That call is collective.
  virtual bool multiplies_vectors() const { return false; }
  virtual void prepare_multi_product(std::int64_t /*stride*/, std::int64_t /*width*/) {}
  virtual void multi_multiply(DeviceMultiVector<const double> /*x*/,
                              DeviceMultiVector<double> /*y*/, StreamRef /*stream*/) {}
  // Whether multi_multiply_floats() exists, which is known after prepare_floats(): Y = A X by the
  // product of multiply_floats(), for vectors side by side as in multi_multiply().
  virtual bool multiplies_float_vectors() const { return false; }
  virtual void multi_multiply_floats(DeviceMultiVector<const float> /*x*/,
                                     DeviceMultiVector<float> /*y*/, StreamRef /*stream*/) {}
  // The number of partial sums that multiply_and_dot() writes; 0 if the system does not have that
  // function.
  virtual std::size_t dot_partials() const { return 0; }
  // y = A x. `partials` becomes dot_partials() numbers whose sum is this process's x.y.
  virtual void multiply_and_dot(DeviceSpan<const double> /*x*/, DeviceSpan<double> /*y*/,
                                DeviceSpan<double> /*partials*/, StreamRef /*stream*/) {}
  // All rows and columns of A in device memory, for the persistent kernel. Empty: the system has no
  // such CSR, and the persistent kernel cannot serve it.
  virtual DeviceCsr<double> csr() const { return {}; }
  // The diagonal block of this process in device memory, for Jacobi: this process's rows in one or
  // more blocks, and the columns with the same numbers. Without rows: the system has no such CSR.
  virtual std::vector<DeviceRowBlock<double>> local_blocks() const { return {{0, 0, csr()}}; }
  // The order of the system's rows and columns: order()[i] is the caller's number of row i. The
  // solver brings b, x and the diagonal into this order, and x back. Empty: the caller's order.
  // Block preconditioners need the caller's order.
  virtual DeviceSpan<const std::int32_t> order() const { return {}; }
  // Adds each value over the processes. The result is the same on every process. Collective.
  virtual void sum(DeviceSpan<double> /*values*/, StreamRef /*stream*/) {}
  virtual int processes() const { return 1; }
  // How a CUDA graph may record multiply() and the other functions that take a stream.
  virtual Recording recording() const { return Recording::loop; }
  // The structure in device memory by which kernels add sums over the processes themselves. Null:
  // sum() adds them.
  virtual PeerSums* peer_sums() const { return nullptr; }
  // Throws Error{resource} if the loop ended because another process was lost.
  virtual void check() const {}
  // Whether classic CG, with two points of sums per iteration and fewer values moved, is faster
  // than single-reduction CG. The answer is the same on every process.
  virtual bool sums_are_cheap() const { return processes() == 1; }
};

enum class CudaMode {
  automatic,   // persistent if the system fits into shared memory, else graph
  graph,       // a CUDA graph that loops on the device, or batches that the host replays
  persistent,  // one kernel runs the whole solve, and its blocks exchange data with each other
  stepped      // the host launches each kernel and looks at every iteration
};

struct CudaOptions {
  CudaMode mode = CudaMode::automatic;
  int unroll = 0;  // iterations per round of the graph's loop; 0: the measured default
  // The persistent kernel never uses a thread-block cluster: its blocks exchange through L2.
  bool through_l2 = false;
  StreamRef stream = nullptr;  // of the loops, which outlives the solver; null: one of its own
};

class CudaSolver : public Solver {
 public:
  // Works on the current device. Throws Error{input} for a block that cannot be inverted,
  // Error{usage} for a preconditioner or a mode that the method or the system does not allow,
  // Error{resource} in a build without CUDA. Collective over the system's processes. `system` must
  // outlive the solver.
  CudaSolver(CudaSystem& system, Method method, Variant variant, const PreconditionerSpec& spec,
             const CudaOptions& options = {}, const MethodOptions& of_method = {});
  ~CudaSolver() override;

  // b and x are in host memory. They are copied once per solve.
  SolveResult solve(const SolveVectors& vectors, const Tolerances& rule,
                    const IterationObserver& observer = {}) override;
  // b and x are this process's rows, in device memory. The solve begins after the work that is
  // queued in `producer`; x is complete on return. While the loop runs on the device, the observer
  // hears of iterations some milliseconds later, with an empty iterate.
  SolveResult solve(DeviceSpan<const double> b, DeviceSpan<double> x, bool zero_guess,
                    StreamRef producer, const Tolerances& rule,
                    const IterationObserver& observer = {});
  void renew(const PreconditionerSpec& spec) override;
  // The same from the CSR of the system on the device, which needs nothing of the host, where the
  // preconditioner is Jacobi with an array. False: the preconditioner is another one, or a zero is
  // on the diagonal; renew() must follow. Does not communicate.
  bool renew_jacobi();
  StoppedSolve stopped() const override;
  // The next solve runs as a graph even if mode() is persistent: a solve in the persistent kernel
  // can be stopped, but that kernel has no code to go on.
  void go_on(const StoppedSolve& stopped) override;

  bool vectors_in_fp32() const override;
  // The mode in use: graph, persistent or stepped.
  CudaMode mode() const;
  Variant variant() const override;
  const PreparedPreconditioner& preconditioner() const override;
  void weigh_rows(const RowScale& scale) override;
  const RowWeights& row_weights() const override;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace trireme::solvers
