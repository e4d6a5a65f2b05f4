// SPDX-License-Identifier: BSD-3-Clause
// A preconditioner that the caller of a solver applies, such as a multigrid cycle. Executors of the
// host call it. Those of GPUs queue it in their stream, where it has a form for GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "device/span.hpp"
#include "device/stream.hpp"
#include "solvers/preconditioners/spec.hpp"
#include "solvers/state.hpp"

namespace trireme::solvers {

// What the loop of a solver on a GPU knows about a call, in device memory, the same on all
// processes.
struct LoopHints {
  // A norm of the residual that is not much larger or smaller than that of r. Null or 0: not known.
  const double* norm = nullptr;
  // Other than 0: the loop will not read z. Written before the call begins. Null: it will.
  const std::int32_t* not_needed = nullptr;
};

// A linear operation z = M^-1 r on the rows of this process.
class GivenPreconditioner {
 public:
  virtual ~GivenPreconditioner() = default;
  GivenPreconditioner() = default;
  GivenPreconditioner(const GivenPreconditioner&) = delete;
  GivenPreconditioner& operator=(const GivenPreconditioner&) = delete;

  // r and z have the rows of this process in the caller's order, and do not overlap. The values of
  // z depend on those of r alone. Methods for symmetric matrices need a symmetric positive definite
  // M. Collective over the processes of the system.
  virtual void apply(std::span<const double> r, std::span<double> z) = 0;

  // Makes the form for GPUs on the current device, or brings it up to date, which may wait for the
  // device. False: there is none. A solver on a GPU calls it before each solve and before it queues
  // enqueue(). Throws Error{resource} where the memory does not suffice.
  virtual bool prepare_on_device() { return false; }
  // Queues z = M^-1 r, in the same order of rows, with vectors in device memory that do not
  // overlap. Asynchronous in `stream`, which may be recorded as the system's recording() says, on
  // one process also into a CUDA graph that loops on the device. Allocates no memory. Needs
  // prepare_on_device().
  virtual void enqueue(DeviceSpan<const double> /*r*/, DeviceSpan<double> /*z*/,
                       StreamRef /*stream*/) {}
  // The same from within the loop of a solver.
  virtual void enqueue_in_loop(DeviceSpan<const double> r, DeviceSpan<double> z,
                               const LoopHints& /*hints*/, StreamRef stream) {
    enqueue(r, z, stream);
  }
  // A number that changes when a recorded enqueue() becomes invalid.
  virtual std::uint64_t device_version() const { return 0; }
  // Throws Error{resource} where the GPU of this process has waited for another one beyond the
  // timeout. A solver on a GPU calls it after each solve.
  virtual void check_device() const {}
};

// Makes or updates the form of `operation` for GPUs. Throws Error{usage} where it has none.
inline void require_on_device(GivenPreconditioner& operation);

// In a solve for many right-hand sides, the operation is called once per column.
struct Given {
  // The names and figures are those of multigrid, the operation that a case can name. It has the
  // memory of multigrid/forecast.cpp with one unknown per node, less the matrix.
  static constexpr PreconditionerInfo info{
      .names = {{{"multigrid", "trireme_mg", "trireme_mg", "smoothed aggregation"}}},
      .summary = "the caller's own operation",
      .data = PreconditionerData::operation,
      .parameter = {},
      .memory = {.per_row = 435, .per_nonzero = 8},
      // On two cores the set-up takes 360 to 660 products, and a cycle 8 to 15 (poisson3d 100,
      // diffusion3d 80, elasticity3d 30). On an H200 they take 360 to 600 and 5 to 9 (poisson3d 160
      // and diffusion3d 160, docs/performance/multigrid.md). Where the hierarchy is read, the
      // set-up takes 18 to 60 products on two cores (the same problems, and mesh2d 500).
      .expected = ExpectedCost{.rate = 0.5,
                               .set_up = {.products = 500, .seconds = 1e-3},
                               .iteration = {.products = 15, .seconds = 20e-6},
                               .set_up_on_gpu = ExpectedWork{.products = 400, .seconds = 8e-3},
                               .iteration_on_gpu = ExpectedWork{.products = 7, .seconds = 40e-6},
                               .set_up_found = ExpectedWork{.products = 60, .seconds = 1e-3}},
      .exchanges = true,
      .near_nullspace = true,
      .definite = true,
      .row_order_is_free = false};
  static constexpr bool pointwise = false;
  // A cycle of multigrid takes so much of an iteration that FP32 vectors save less than their
  // corrections cost (poisson3d 160 on an H100: 14.5 ms in FP64, 18.9 ms).
  static constexpr bool takes_floats = false;
  static constexpr int work_vectors = 0;
  using Prepared = Given;

  GivenPreconditioner* operation = nullptr;

  // Throws Error{internal} where spec.given is null.
  template <class Setup>
  static Given prepare(Setup&, const PreconditionerSpec& spec) {
    if (!spec.given)
      throw Error(ExitCode::internal, "a solver was given no operation as its preconditioner");
    if constexpr (!Setup::on_host) require_on_device(*spec.given);
    return {spec.given};
  }

  TRIREME_RUNS_EXECUTOR
  template <class Exec>
  TRIREME_HD void apply(Exec& e, const double* r, double* z) const {
    e.apply_given(*operation, r, z);
  }
};

inline void require_on_device(GivenPreconditioner& operation) {
  if (!operation.prepare_on_device())
    throw Error(ExitCode::usage, "preconditioner '" + std::string(Given::info.summary) +
                                     "' works on CPUs only; use device: cpu");
}

}  // namespace trireme::solvers
