// SPDX-License-Identifier: BSD-3-Clause
// What the other thread does, and what is taken over from it.
#include "app/solves/step_overlap.hpp"

#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "distributed/device_blocks.hpp"

namespace trireme {

StepOverlap::StepOverlap(Steps& steps, PlainProduct& plain, DistributedMatrix& matrix)
    : steps_(steps), plain_(plain), matrix_(matrix), vectors_(matrix.local_rows()) {
  try {
    matrix_.on_device->reserve_ahead();
  } catch (const Error& error) {
    if (error.code() != ExitCode::resource) throw;
    uploads_values_ = false;
  }
  vectors_.set_b(steps_.rhs());
  measure_rhs();
  steps_.keep_step_before(true);
}

StepOverlap::~StepOverlap() {
  steps_.wait();
  steps_.keep_step_before(false);
}

void StepOverlap::measure_rhs() { rhs_norm_ = plain_norm(steps_.rhs()); }

void StepOverlap::take_rhs() {
  if (!steps_.has_new_rhs()) return;
  if (rhs_norm_ahead_) {
    vectors_.take_b_ahead();
    rhs_norm_ = *rhs_norm_ahead_;
  } else {
    vectors_.set_b(steps_.rhs());
    measure_rhs();
  }
}

// The largest magnitude of b is between the norm and a 2^16th of it.
bool StepOverlap::rhs_fits() const {
  return rhs_norm_ >= std::ldexp(1, -80) && rhs_norm_ <= std::ldexp(1, 100);
}

void StepOverlap::work_ahead(bool check) {
  checked_.reset();
  rhs_norm_ahead_.reset();
  const auto check_former = [this] {
    const std::span<const double> x = vectors_.copy_former();
    checked_ = plain_.residual_alone(steps_.values_before(), steps_.rhs_before(), x);
  };
  const auto take_next = [this, version = matrix_.values_version + 1](const StepData& next) {
    if (next.values && uploads_values_) matrix_.on_device->upload_ahead(*next.values, version);
    if (!next.rhs) return;
    vectors_.upload_b_ahead(*next.rhs);
    rhs_norm_ahead_ = plain_norm(*next.rhs);
  };
  Steps::AlsoAhead also{.first = {}, .with_next = take_next};
  if (check) {
    also.first = check_former;
    steps_.write(vectors_.former_on_host(), true);
  }
  steps_.work_ahead(also);
}

// Where an error ended the other thread before its check, that of this thread says so, or the next
// Steps::go_on() does.
Residual StepOverlap::checked() {
  steps_.wait();
  if (checked_) return *checked_;
  return plain_.residual_alone(steps_.values_before(), steps_.rhs_before(), vectors_.copy_former());
}

Array<double> StepOverlap::solution() {
  const std::span<const double> x = vectors_.copy_x();
  return {x.begin(), x.end()};
}

Array<double> StepOverlap::former_solution() {
  const std::span<const double> x = vectors_.copy_former();
  return {x.begin(), x.end()};
}

}  // namespace trireme
