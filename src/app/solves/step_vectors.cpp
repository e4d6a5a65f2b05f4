// SPDX-License-Identifier: BSD-3-Clause
// Two streams: one for what the next solve waits for, one for what runs beside a solve.
#include "app/solves/step_vectors.hpp"

#include "solvers/next_guess.hpp"

namespace trireme {

StepVectors::StepVectors(std::int64_t rows)
    : b_(rows, stream_),
      b_ahead_(rows, stream_),
      x_(rows, stream_),
      former_(rows, stream_),
      on_host_(rows) {
  synchronize(stream_);
}

void StepVectors::set_b(std::span<const double> b) {
  copy_to_device(b, b_.span(), stream_);
  synchronize(stream_);
}

void StepVectors::upload_b_ahead(std::span<const double> b) {
  ahead_.wait(b_is_taken_);
  copy_to_device(b, b_ahead_.span(), ahead_);
  synchronize(ahead_);
}

void StepVectors::take_b_ahead() {
  copy_on_device(b_ahead_.view(), b_.span(), stream_);
  b_is_taken_.record(stream_);
}

void StepVectors::set_x(std::span<const double> x) {
  copy_to_device(x, x_.span(), stream_);
  synchronize(stream_);
}

void StepVectors::begin_step(bool line) {
  if (line)
    solvers::extrapolate(x_.span(), former_.span(), stream_);
  else
    copy_on_device(x_.view(), former_.span(), stream_);
  has_begun_.record(stream_);
}

std::span<const double> StepVectors::copy_former() {
  ahead_.wait(has_begun_);
  copy_to_host(former_.view(), on_host_.span(), ahead_);
  synchronize(ahead_);
  return on_host_.span();
}

std::span<const double> StepVectors::copy_x() {
  copy_to_host(x_.view(), on_host_.span(), stream_);
  synchronize(stream_);
  return on_host_.span();
}

}  // namespace trireme
