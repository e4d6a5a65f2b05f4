// SPDX-License-Identifier: BSD-3-Clause
// A sequence on one GPU whose surroundings run beside the solves. While step k is solved, another
// thread
//   computes ||b - A x|| of step k-1 on the host, with the values and the x of that step,
//   writes x of step k-1,
//   reads the values and the right-hand side of step k+1, checks them, and uploads them.
// Between two solves remain the kernel's update of its values from GPU memory, the guess, which is
// made there too, and a renewal of the preconditioner.
#pragma once

#include <optional>

#include "app/solves/plain_product.hpp"
#include "app/solves/step_vectors.hpp"
#include "app/solves/steps.hpp"

namespace trireme {

class StepOverlap {
 public:
  // `steps` is at step 0, on a communicator of one rank, and `matrix` has a copy on the GPU, which
  // no operator on the host shares. All must outlive this. Throws what StepVectors throws.
  StepOverlap(Steps& steps, PlainProduct& plain, DistributedMatrix& matrix);
  ~StepOverlap();

  // The solution of step 0, from which step 1 begins.
  void begin_with(std::span<const double> x) { vectors_.set_x(x); }

  // After Steps::go_on(): brings the right-hand side of the step to the GPU.
  void take_rhs();
  double rhs_norm() const { return rhs_norm_; }
  // Whether the norms of the step can be squared without scaling b.
  bool rhs_fits() const;
  // The last solution becomes the former one, from which the guess is made.
  void begin_step(bool line) { vectors_.begin_step(line); }
  // Starts the other thread. With `check`, the former solution is checked and written.
  void work_ahead(bool check);
  DeviceVectors vectors() const { return vectors_.vectors(); }

  // b - A x of the former solution, which was to be checked. Waits for the other thread.
  Residual checked();
  // The last solution, while the other thread does not work.
  Array<double> solution();
  // The solution before that, where no step has begun since.
  Array<double> former_solution();

 private:
  void measure_rhs();

  Steps& steps_;
  PlainProduct& plain_;
  DistributedMatrix& matrix_;
  StepVectors vectors_;
  double rhs_norm_ = 0;
  bool uploads_values_ = true;  // the GPU has the memory for values ahead
  // Written by the other thread.
  std::optional<Residual> checked_;
  std::optional<double> rhs_norm_ahead_;
};

}  // namespace trireme
