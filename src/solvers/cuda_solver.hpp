// SPDX-License-Identifier: BSD-3-Clause
// The resident engine on a GPU: the loop, its scalars and its decisions stay there. Compiles
// without CUDA; there every constructor throws Error{resource}.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "device/peer_sums.hpp"
#include "device/recording.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "kernels/device_csr.hpp"
#include "solvers/solver.hpp"

namespace trireme::solvers {

// A square matrix of which this process's GPU holds rows() rows. Calls only queue work in `stream`.
class CudaSystem {
 public:
  virtual ~CudaSystem() = default;
  virtual std::int64_t rows() const = 0;
  // y = A x, this process's part of both.
  virtual void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream) = 0;
  // Whether multiply() is by a matrix near A only; see HostSystem.
  virtual bool inexact() const { return false; }
  virtual DeviceSpan<const float> row_defect() const { return {}; }
  virtual void multiply_exactly(DeviceSpan<const double> x, DeviceSpan<double> y,
                                StreamRef stream) {
    multiply(x, y, stream);
  }
  // > 0 where the product also sums x.y of this process: the number of partial sums (CudaKernel).
  virtual std::size_t dot_partials() const { return 0; }
  virtual void multiply_and_dot(DeviceSpan<const double> /*x*/, DeviceSpan<double> /*y*/,
                                DeviceSpan<double> /*partials*/, StreamRef /*stream*/) {}
  // All rows and columns of A in device memory, for the persistent kernel; empty: there is none.
  virtual DeviceCsr<double> csr() const { return {}; }
  // This process's rows, with the columns that the rows are numbered by, for block Jacobi.
  virtual DeviceCsr<double> local_csr() const { return csr(); }
  // The order of rows and columns: the caller's row for each. The solver brings b, x and the
  // diagonal into this order, and x back. Empty: the caller's order. Not with block
  // preconditioners.
  virtual DeviceSpan<const std::int32_t> order() const { return {}; }
  // Adds up over the processes; the result is the same on each.
  virtual void sum(DeviceSpan<double> /*values*/, StreamRef /*stream*/) {}
  virtual int processes() const { return 1; }
  // What a CUDA graph may do with the calls above.
  virtual Recording recording() const { return Recording::loop; }
  // In device memory, for kernels that add up over the processes by themselves; null: sum() adds
  // up.
  virtual PeerSums* peer_sums() const { return nullptr; }
  // Throws Error{resource} where another process is lost, so that the loop ended without that
  // process.
  virtual void check() const {}
  // Whether two points of sums and fewer values moved beat one point, the same on each process.
  virtual bool sums_are_cheap() const { return processes() == 1; }
};

enum class CudaMode {
  automatic,   // persistent where the system fits into shared memory, else graph
  graph,       // a CUDA graph that loops on the device, or batches that the host replays
  persistent,  // one kernel does the whole solve, its blocks exchange among themselves
  stepped      // launched from the host, which looks at each iteration
};

struct CudaOptions {
  CudaMode mode = CudaMode::automatic;
  int unroll = 0;  // iterations per round of the graph's loop; 0: the measured default
  // The persistent kernel's blocks exchange through L2 also where a thread-block cluster holds all.
  bool through_l2 = false;
};

class CudaSolver : public Solver {
 public:
  // As HostSolver's. Works in a stream of its own on the current device.
  CudaSolver(CudaSystem& system, Method method, Variant variant, const PreconditionerSpec& spec,
             const CudaOptions& options = {});
  ~CudaSolver() override;

  // From host memory: b and x travel once.
  SolveResult solve(const SolveVectors& vectors, const Tolerances& rule,
                    const IterationObserver& observer = {}) override;
  // In device memory. What `producer` has queued so far is waited for, and x is complete on return.
  // While the loop runs on the device, the observer hears of iterations some milliseconds later,
  // and its iterate is empty.
  SolveResult solve(DeviceSpan<const double> b, DeviceSpan<double> x, bool zero_guess,
                    StreamRef producer, const Tolerances& rule,
                    const IterationObserver& observer = {});
  // A solve that goes on runs as a graph also where others run in the persistent kernel, which can
  // be stopped but has no code to go on.
  StoppedSolve stopped() const override;
  void go_on(const StoppedSolve& stopped) override;

  CudaMode mode() const;
  Variant variant() const override;
  const PreparedPreconditioner& preconditioner() const override;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

}  // namespace trireme::solvers
