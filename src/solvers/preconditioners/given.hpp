// SPDX-License-Identifier: BSD-3-Clause
// A preconditioner that the caller of a solver applies, such as a multigrid cycle. The executors of
// the host call it; those of GPUs do not offer it.
#pragma once

#include <span>

#include "base/error.hpp"
#include "solvers/preconditioners/spec.hpp"
#include "solvers/state.hpp"

namespace trireme::solvers {

// A linear operation z = M^-1 r on the rows of this process.
class GivenPreconditioner {
 public:
  virtual ~GivenPreconditioner() = default;
  GivenPreconditioner() = default;
  GivenPreconditioner(const GivenPreconditioner&) = delete;
  GivenPreconditioner& operator=(const GivenPreconditioner&) = delete;

  // r and z have the rows of this process in the caller's order, and do not overlap. The values of z
  // depend on those of r alone. Methods for symmetric matrices need a symmetric positive definite
  // M. Collective over the processes of the system.
  virtual void apply(std::span<const double> r, std::span<double> z) = 0;
};

// In a solve for many right-hand sides, the operation is called once per column.
struct Given {
  static constexpr PreconditionerInfo info{.pc_type = "",
                                           .summary = "the caller's own operation",
                                           .parameter = {},
                                           .row_order_is_free = false,
                                           .host_only = true};
  static constexpr bool pointwise = false;
  static constexpr int work_vectors = 0;
  using Prepared = Given;

  GivenPreconditioner* operation = nullptr;

  // Throws Error{internal} where spec.given is null.
  template <class Setup>
  static Given prepare(Setup&, const PreconditionerSpec& spec) {
    if (!spec.given)
      throw Error(ExitCode::internal, "a solver was given no operation as its preconditioner");
    return {spec.given};
  }

  TRIREME_EXECUTOR_TEXT
  template <class Exec>
  TRIREME_HD void apply(Exec& e, const double* r, double* z) const {
    e.apply_given(*operation, r, z);
  }
};

}  // namespace trireme::solvers
