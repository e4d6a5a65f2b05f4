// SPDX-License-Identifier: BSD-3-Clause
#include "api/work.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "api/caller_matrix.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_look.hpp"
#include "distributed/scaling/system_scale.hpp"
#include "planning/kernel_for_matrix.hpp"

namespace trireme::api {

using solvers::PreconditionerKind;

Solver::Work::Work(std::shared_ptr<const Ranks> ranks, const CsrArrays& matrix,
                   const SolverOptions& options, MeasureProduct measure)
    : owned_ranks_(std::move(ranks)),
      options_(checked(ranks_, options)),
      gpu_(options_.device == Device::cuda ? std::make_unique<Gpu>() : nullptr),
      matrix_(copied_square(ranks_, matrix)),
      data_(preconditioner_data(ranks_, options, rows())) {
  take_values();
  kernel_ = {.name = options_.kernel, .device = options_.device, .precision = options_.precision};
  if (options_.kernel == kAuto) {
    kernel_.name = choose_kernel_for(*matrix_, options_.device, options_.precision);
    kernel_search_ = std::make_unique<KernelSearch>(ranks_, matrix_, kernel_, std::move(measure));
  }
  facts_.rows = matrix_->global_rows();
  facts_.nnz = matrix_->global_nnz;
  facts_.device = to_string(options_.device);
  facts_.precision = to_string(options_.precision);
}

void Solver::Work::take_values() {
  scale_.exponent = scale_matrix(*matrix_);
  std::vector<Rung> before = std::move(rungs_);
  const MatrixLook look = look_at(*matrix_);
  facts_.matrix = in_short(look);
  scale_.negated = look.symmetric() && look.all_negative();
  if (scale_.negated) {
    for (double& value : matrix_->blocks.local.values) value = -value;
    ++matrix_->values_version;
  }
  if (options_.method)
    rungs_ = {{.method = std::string(options_.method->info.name),
               .preconditioner = options_.preconditioner,
               .why = "the caller has named it",
               .scaling = options_.scaling.value_or(Scaling::none)}};
  else
    rungs_ = rungs_for({.preconditioner = options_.preconditioner,
                        .scaling = options_.scaling,
                        .resident_only = true},
                       look);
  if (rungs_ == before) return;
  active_.reset();
  begins_at_ = 0;
}

std::shared_ptr<Operator> Solver::Work::make_operator(
    const std::shared_ptr<DistributedMatrix>& matrix, const KernelChoice& kernel) {
  const OperatorOptions options{.precision = kernel.precision, .ghost_kernel = kernel.ghost_kernel};
  std::shared_ptr<Operator> made;
  if (kernel.device == Device::cuda)
    made = std::make_shared<CudaOperator>(matrix, kernel.name, options);
  else
    made = std::make_shared<HostOperator>(matrix, kernel.name, options);
  facts_.build_seconds += made->build_seconds();
  return made;
}

// What fails to take new values is made anew by the next solve.
void Solver::Work::renew() {
  if (!active_->stale) return;
  const Stopwatch watch;
  auto kept = std::exchange(active_, nullptr);
  kept->loop->renew();
  kept->stale = false;
  active_ = std::move(kept);
  facts_.set_up_seconds += watch.seconds();
}

void Solver::Work::activate(std::size_t k) {
  const Rung& rung = rungs_[k];
  if (active_ && active_->rung == k) {
    renew();
    return;
  }
  if (active_ && active_->search) take_set_up_seconds();
  active_.reset();
  auto made = std::make_unique<Active>();
  made->rung = k;
  made->matrix = matrix_;
  std::shared_ptr<Operator> op;
  if (rung.scaling == Scaling::none) {
    if (!operator_) operator_ = make_operator(matrix_, kernel_);
    op = operator_;
  } else {
    if (data_.modes.width > 0 && rung.preconditioner && rung.preconditioner->is_multigrid())
      fail(ExitCode::usage,
           "near_nullspace and coordinates are of the matrix as it is; use scaling none");
    made->scaling = find_scaling(rung.scaling, *matrix_);
    made->matrix = scaled_matrix(*matrix_, *made->scaling);
    op = make_operator(made->matrix, kernel_);
  }
  const AnyPreconditioner begins_with =
      rung.preconditioner ? *rung.preconditioner : first_preconditioner(*made->matrix);
  const Stopwatch watch;
  made->loop = std::make_unique<Loop>(
      made->matrix, op, *solvers::method_named(rung.method),
      rung.restart > 0 ? static_cast<std::int32_t>(rung.restart) : options_.restart, data_,
      begins_with, gpu_ ? gpu_->stream() : nullptr);
  facts_.set_up_seconds += watch.seconds();
  if (!rung.preconditioner)
    made->search =
        std::make_unique<PreconditionerSearch>(ranks_, *made->matrix, rung.method, *made->loop);
  active_ = std::move(made);
}

void Solver::Work::change_kernel(std::int64_t solves_ahead) {
  if (!kernel_search_ || !active_ || !active_->loop->uses_kernel()) return;
  auto found = kernel_search_->between_solves(
      active_->loop->op(), solves_ahead,
      [&](const KernelChoice& kernel) { return make_operator(active_->matrix, kernel); });
  if (!found) return;
  kernel_ = kernel_search_->choice();
  auto kept = std::exchange(active_, nullptr);  // null where the loop cannot be made
  operator_ = kept->scaling ? nullptr : found;
  kept->loop->change_operator(std::move(found));
  active_ = std::move(kept);
}

void Solver::Work::update(std::span<const double> values) {
  ranks_.checked([&] {
    require_size(values.size(), matrix_->blocks.nnz(), "values");
    require_finite(values, "values");
  });
  matrix_->replace_values(values);
  take_values();
  given_ = {};
  inverse_.clear();
  if (gpu_) gpu_->forget_matrix();
  if (operator_ && operator_->can_refresh()) {
    operator_->refresh_values();
  } else {
    operator_.reset();
    active_.reset();
  }
  if (active_ && active_->scaling) active_.reset();
  if (active_) active_->stale = true;
  if (active_) active_->has_solved = false;
}

solvers::GivenPreconditioner* Solver::Work::given_operation() {
  if (!options_.preconditioner || !options_.preconditioner->is_given()) return nullptr;
  if (given_.get()) return given_.get();
  const Stopwatch watch;
  given_ = GivenOperation(*options_.preconditioner, matrix_, data_, gpu_ != nullptr);
  facts_.set_up_seconds += watch.seconds();
  return given_.get();
}

void Solver::Work::precondition(std::span<const double> r, std::span<double> z) {
  ranks_.checked([&] {
    require_size(r.size(), rows(), "r");
    require_size(z.size(), rows(), "z");
    require_finite(r, "r");
  });
  const auto is = [&](PreconditionerKind kind) {
    return options_.preconditioner && options_.preconditioner->is(kind);
  };
  const double sign = scale_.negated ? -1 : 1;
  if (auto* const operation = given_operation()) {
    if (gpu_) {
      Vector of_r(r.size(), gpu_.get()), of_z(z.size(), gpu_.get());
      of_r.take(r);
      precondition(of_r.on_gpu(), of_z.on_gpu(), gpu_->stream());
      return Vector(z).take(of_z);
    }
    operation->apply(r, z);
    for (double& value : z) value = sign * std::ldexp(value, -scale_.exponent);
  } else if (is(PreconditionerKind::jacobi)) {
    ranks_.checked([&] {
      if (!inverse_.empty()) return;
      Array<double> inverse(static_cast<std::size_t>(rows()));
      matrix_->diagonal(inverse);
      for (std::size_t i = 0; i < inverse.size(); ++i) {
        if (inverse[i] == 0)
          fail(ExitCode::input,
               "row {} (from 0) has a zero on the diagonal, by which jacobi divides", i);
        inverse[i] = 1 / inverse[i];
      }
      inverse_ = std::move(inverse);
    });
    for (std::size_t i = 0; i < z.size(); ++i)
      z[i] = sign * std::ldexp(inverse_[i] * r[i], -scale_.exponent);
  } else if (is(PreconditionerKind::none)) {
    std::ranges::copy(r, z.begin());
  } else {
    std::vector<std::string_view> words;
    solvers::for_each_preconditioner([&](PreconditionerKind kind, auto m) {
      if (decltype(m)::type::info.data == solvers::PreconditionerData::operation)
        words.push_back(solvers::name_of(kind));
    });
    fail(ExitCode::usage,
         "precondition() applies {}, {} and {}, one of which the options of the solver must name "
         "as its preconditioner",
         fmt::join(words, ", "), solvers::name_of(PreconditionerKind::jacobi),
         solvers::name_of(PreconditionerKind::none));
  }
}

void Solver::Work::precondition(DeviceSpan<const double> r, DeviceSpan<double> z,
                                StreamRef stream) {
  require_size(r.size(), rows(), "r");
  require_size(z.size(), rows(), "z");
  if (auto* const operation = given_operation()) {
    solvers::require_on_device(*operation);
    operation->enqueue(r, z, stream);
    if (scale_.negated || scale_.exponent != 0)
      scale_on_device(z, -scale_.exponent, scale_.negated, z, stream);
    return;
  }
  gpu_->wait_for(stream);
  const Array<double> of_r = Numbers(r, *gpu_).copy_on_host();
  Array<double> of_z(z.size());
  precondition(std::span<const double>(of_r), std::span(of_z));
  Vector(z, *gpu_).take(std::span<const double>(of_z));
  gpu_->wait_until_done();
}

SolverFacts Solver::Work::facts() const {
  SolverFacts facts = facts_;
  facts.kernel = kernel_.name;
  if (kernel_search_) facts.kernels = kernel_search_->trials();
  facts.method = rungs_[active_ ? active_->rung : begins_at_].method;
  const Rung& rung = rungs_[begins_at_];
  facts.preconditioner = active_               ? word_of(active_->loop->preconditioner())
                         : rung.preconditioner ? word_of(*rung.preconditioner)
                                               : std::string(kAuto);
  if (active_) facts.product_microseconds = active_->loop->product_microseconds();
  const auto hierarchy =
      active_ && active_->loop->hierarchy() ? active_->loop->hierarchy() : given_.hierarchy();
  if (hierarchy)
    for (const multigrid::LevelFacts& level : hierarchy->levels)
      facts.levels.push_back({.rows = level.rows, .nnz = level.nnz});
  return facts;
}

}  // namespace trireme::api
