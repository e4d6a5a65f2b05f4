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
#include "solvers/host_solver.hpp"

namespace trireme::solvers {

// A square matrix of which this process's GPU holds rows() rows. Calls only queue work in `stream`.
class CudaSystem {
 public:
  virtual ~CudaSystem() = default;
  virtual std::int64_t rows() const = 0;
  // y = A x, this process's part of both.
  virtual void multiply(DeviceSpan<const double> x, DeviceSpan<double> y, StreamRef stream) = 0;
  // As HostSystem's.
  virtual bool inexact() const { return false; }
  virtual DeviceSpan<const float> row_defect() const { return {}; }
  virtual void multiply_exactly(DeviceSpan<const double> x, DeviceSpan<double> y,
                                StreamRef stream) {
    multiply(x, y, stream);
  }
  // As CudaKernel's: > 0 where the product also sums x.y, of this process.
  virtual std::size_t dot_partials() const { return 0; }
  virtual void multiply_and_dot(DeviceSpan<const double> /*x*/, DeviceSpan<double> /*y*/,
                                DeviceSpan<double> /*partials*/, StreamRef /*stream*/) {}
  // All rows and columns of A in device memory, for the persistent kernel; empty: there is none.
  virtual DeviceCsr<double> csr() const { return {}; }
  // The same of this process's rows and the columns that they are numbered by, for block Jacobi.
  virtual DeviceCsr<double> local_csr() const { return csr(); }
  // Rows and columns are in this order, the caller's row for each: the solver brings b, x and the
  // diagonal into it, and x back. Empty: the caller's order. Not with block preconditioners.
  virtual DeviceSpan<const std::int32_t> order() const { return {}; }
  // Adds up over the processes, the same result on each.
  virtual void sum(DeviceSpan<double> /*values*/, StreamRef /*stream*/) {}
  virtual int processes() const { return 1; }
  // What a CUDA graph may do with the calls above.
  virtual Recording recording() const { return Recording::loop; }
  // In device memory, for kernels that add up over the processes by themselves; null: sum() does.
  virtual PeerSums* peer_sums() const { return nullptr; }
  // Throws Error{resource} where another process is lost, so that the loop ended without it.
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
  int unroll = 0;  // iterations a round of the graph's loop; 0: measured default
  // The persistent kernel's blocks exchange through L2 also where a thread-block cluster holds all.
  bool through_l2 = false;
};

class CudaSolver {
 public:
  // As HostSolver's. Works in a stream of its own on the current device.
  CudaSolver(CudaSystem& system, Method method, Variant variant, const PreconditionerSpec& spec,
             const CudaOptions& options = {});
  ~CudaSolver();

  // From host memory: b and x travel once.
  SolveResult solve(const SolveVectors& problem, const Tolerances& rule,
                    const IterationObserver& observer = {});
  // In device memory; what `producer` has queued so far is waited for, and x is complete on return.
  // While the loop runs on the device, the observer hears of iterations some milliseconds later,
  // and its iterate is empty.
  SolveResult solve(DeviceSpan<const double> b, DeviceSpan<double> x, bool zero_guess,
                    StreamRef producer, const Tolerances& rule,
                    const IterationObserver& observer = {});
  // As HostSolver's. A solve that goes on runs as a graph also where others run in the persistent
  // kernel, which can be stopped but has no code to go on.
  StoppedSolve stopped() const;
  void go_on(const StoppedSolve& stopped);

  CudaMode mode() const;
  Variant variant() const;
  const Preconditioner& preconditioner() const;  // with addresses in device memory

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace trireme::solvers
