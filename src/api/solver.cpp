// SPDX-License-Identifier: BSD-3-Clause
// A Solver brings a system into a range where squares are doubles, and climbs the rungs of
// planning/rungs.hpp until b - A x is small. A symmetric matrix with a negative diagonal is solved
// as -A x = -b, since methods and multigrid want a positive one.
//
//   b, x of the caller --2^k--> system --D_r, D_c P of the rung--> loop
//                                  |                                 |
//                      b - A x is computed here <-- back -- x <------+
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "api/caller_matrix.hpp"
#include "api/failures.hpp"
#include "api/loop.hpp"
#include "api/preconditioner_search.hpp"
#include "api/residual.hpp"
#include "base/stopwatch.hpp"
#include "device/device.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/host_operator.hpp"
#include "distributed/matrix_look.hpp"
#include "distributed/scaling/system_scale.hpp"
#include "distributed/scaling/system_scaling.hpp"
#include "planning/choose.hpp"
#include "planning/kernel_for_matrix.hpp"
#include "planning/rungs.hpp"
#include "planning/standing_still.hpp"
#include "sparse/orthonormal_columns.hpp"
#include "sparse/rigid_body_modes.hpp"

namespace trireme::api {
namespace {

using solvers::PreconditionerKind;
using solvers::Reason;

constexpr double kWithRounding = 1.02;  // times the tolerance
constexpr double kGoodGuess = 0.1;      // of ||b||: a larger residual is no guess for another rung
constexpr double kDivergence = 1e8;     // of the larger of ||b|| and the first residual
constexpr std::int64_t kWidestBlock = 32;

template <class Choice>
Choice parsed(const std::string& word, const char* option) {
  if (const auto choice = choice_of<Choice>(word)) return *choice;
  std::string known;
  for (const auto& entry : WordsOf<Choice>::all)
    known += (known.empty() ? "" : ", ") + std::string(entry.word);
  fail(ExitCode::usage, "{} cannot be '{}'; use one of: {}", option, word, known);
}

template <class Choice>
std::optional<Choice> parsed_or_auto(const std::string& word, const char* option) {
  if (word == kAuto) return std::nullopt;
  return parsed<Choice>(word, option);
}

Device device_for(const std::string& word) {
  const auto named = parsed_or_auto<Device>(word, "device");
  if (named == Device::cuda || (!named && cuda_available())) select_device();
  return named.value_or(choose_device(cuda_available()));
}

multigrid::Options multigrid_options(const SolverOptions& options) {
  const MultigridOptions& asked = options.multigrid;
  multigrid::Options of;
  of.smoother = parsed<Smoother>(asked.smoother, "multigrid.smoother");
  of.cycle = parsed<CycleKind>(asked.cycle, "multigrid.cycle");
  of.degree = asked.degree;
  of.threshold = asked.threshold;
  of.smoothed_prolongator = asked.smoothed_prolongator;
  of.fill = asked.fill;
  of.aggressive_levels = asked.aggressive_levels;
  of.max_levels = asked.max_levels;
  of.coarsest_rows = asked.coarsest_rows;
  of.block_size = options.block_size;
  return of;
}

Modes modes_of_bodies(const std::vector<double>& coordinates, std::int32_t dimensions) {
  const auto nodes = static_cast<std::int64_t>(coordinates.size()) / dimensions;
  std::vector<Array<double>> axes(static_cast<std::size_t>(dimensions));
  std::vector<double> low, high;
  for (std::int32_t d = 0; d < dimensions; ++d) {
    Array<double>& axis = axes[d];
    for (std::int64_t node = 0; node < nodes; ++node)
      axis.push_back(coordinates[node * dimensions + d]);
    const auto [least, most] = std::ranges::minmax(axis);
    low.push_back(least);
    high.push_back(most);
  }
  Modes modes = rigid_body_modes(axes, centred(low, high));
  orthonormalise(modes, [](std::span<double>) {});
  return modes;
}

multigrid::NearNullspace near_nullspace(const SolverOptions& options, std::int64_t rows) {
  if (!options.coordinates.empty()) {
    if (options.dimensions != 2 && options.dimensions != 3)
      fail(ExitCode::usage, "coordinates have 2 or 3 dimensions, not {}", options.dimensions);
    if (options.block_size != options.dimensions)
      fail(
          ExitCode::usage,
          "coordinates of {} dimensions are those of nodes with as many unknowns; block_size is {}",
          options.dimensions, options.block_size);
    require_size(options.coordinates.size(), rows, "coordinates");
    require_finite(options.coordinates, "coordinates");
    Modes modes = modes_of_bodies(options.coordinates, options.dimensions);
    return {.values = std::move(modes.values), .width = modes.width};
  }
  if (options.modes < 0) fail(ExitCode::usage, "modes cannot be {}", options.modes);
  if (options.near_nullspace.empty()) return {};
  require_size(options.near_nullspace.size(), rows * options.modes, "near_nullspace");
  require_finite(options.near_nullspace, "near_nullspace");
  return {.values = {options.near_nullspace.begin(), options.near_nullspace.end()},
          .width = options.modes};
}

double relative(double norm, double of) { return of > 0 ? norm / of : norm; }

// b and x0 of the caller, brought by powers of two to where squares are doubles.
struct System {
  System(std::span<const double> of_b, std::span<const double> of_x0, int of_matrix, bool negated)
      : exponent(right_hand_side_exponent(MPI_COMM_SELF, of_b, of_x0, of_matrix)),
        of_x(exponent - of_matrix),
        b(times_power_of_two(of_b, -exponent)),
        x(times_power_of_two(of_x0, -of_x)),
        unit(norm(b)) {
    if (negated)
      for (double& value : b) value = -value;
    x.resize(b.size(), 0.0);
    has_guess = std::ranges::any_of(x, [](double v) { return v != 0; });
  }

  int exponent;  // b is the caller's times 2^-exponent
  int of_x;      // the caller's x is x times 2^of_x
  Array<double> b, x;
  double unit;             // ||b||
  bool has_guess = false;  // x is not zero
};

// How one rung has ended.
struct Ending {
  Reason reason = Reason::running;
  bool claims = false;  // convergence, by its own residual
  bool by_user = false, stood_still = false, stagnated = false;
  std::int64_t iterations = 0;
  std::vector<double> history;
};

std::string words_of(const Ending& ending, const std::string& method) {
  if (ending.by_user) return "stopped by the caller";
  if (ending.stood_still) return "left: the residual stood still";
  switch (ending.reason) {
    case Reason::too_many_iterations:
      return fmt::format("the maximum of {} iterations was reached", ending.iterations);
    case Reason::diverged:
      return fmt::format("the residual of {} grew by {:g}", method, kDivergence);
    case Reason::breakdown:
      return ending.stagnated ? "the residual is as small as rounding allows"
                              : fmt::format("{} broke down", method);
    case Reason::indefinite_preconditioner:
      return fmt::format("the preconditioner is not positive definite, which {} needs", method);
    case Reason::indefinite_matrix:
      return fmt::format("the matrix is not definite, which {} needs", method);
    case Reason::not_finite:
      return "numbers left the range of double";
    default:
      return "the residual of the recurrence is not that of x";
  }
}

bool is_breakdown(Reason reason) {
  return reason == Reason::breakdown || reason == Reason::indefinite_preconditioner ||
         reason == Reason::indefinite_matrix || reason == Reason::not_finite;
}

}  // namespace

class Solver::Work {
 public:
  Work(const CsrArrays& matrix, const SolverOptions& options);

  std::int64_t rows() const { return matrix_->local_rows(); }
  SolveReport solve(std::span<const double> b, std::span<double> x, const SolveOptions& how);
  std::vector<SolveReport> solve_many(std::span<const double> b, std::span<double> x,
                                      std::int64_t width, const SolveOptions& how);
  void update(std::span<const double> values);
  void precondition(std::span<const double> r, std::span<double> z);
  SolverFacts facts() const;

 private:
  // The loop of a rung, and the copy of the matrix that it works on where its rung scales.
  struct Active {
    std::size_t rung = 0;
    std::optional<SystemScaling> scaling{};
    std::shared_ptr<DistributedMatrix> matrix{};
    std::unique_ptr<Loop> loop{};
    std::unique_ptr<PreconditionerSearch> search{};
    bool stale = false;            // what was set up has older values than the matrix
    bool may_stand_still = false;  // the loop is left where its residual stands still
  };
  struct Climb;

  // Brings new values of the matrix to where the loops take them, and chooses the rungs by them.
  void take_values();
  std::shared_ptr<Operator> make_operator(const std::shared_ptr<DistributedMatrix>& matrix);
  // Makes rung k the active one. Throws what Loop throws.
  void activate(std::size_t k);
  // Runs the active rung from system.x, which it improves.
  Ending run(System& system, const SolveOptions& how);
  Ending run_loop(std::span<const double> b, std::span<double> x, bool guess, double unit,
                  const solvers::Tolerances& rule, const System& system, const SolveOptions& how);
  // How many times as large as asked for the residual is.
  double excess(const System& system, const SolveOptions& how, double& relative_residual) const;
  std::optional<std::size_t> next(const Climb& climb) const;
  bool climb_one(std::size_t k, System& system, const SolveOptions& how, Climb& climb,
                 SolveReport& report);
  SolveReport climb(System& system, const SolveOptions& how);
  std::string_view what_to_do(const SolveReport& report, const SolveOptions& how) const;
  void count(const SolveReport& report);
  // The columns first .. first + width - 1 together, by the active loop. Those that have not
  // converged keep the status not_converged.
  void solve_block(std::span<const double> b, std::span<double> x, std::int64_t first,
                   std::int64_t width, const SolveOptions& how, std::vector<SolveReport>& reports);

  std::string kernel_;
  Device device_;
  Precision precision_;
  std::optional<solvers::NamedMethod> method_;  // none: auto
  std::optional<AnyPreconditioner> preconditioner_;
  std::optional<Scaling> scaling_;
  std::int32_t restart_;
  PreconditionerData data_;
  std::shared_ptr<DistributedMatrix> matrix_;  // the caller's times 2^-exponent_, or -2^-exponent_
  int exponent_ = 0;
  bool negated_ = false;
  std::shared_ptr<Operator> operator_;  // of matrix_; null: not needed yet
  std::vector<Rung> rungs_;
  std::size_t begins_at_ = 0;
  std::unique_ptr<Active> active_;
  std::unique_ptr<multigrid::MultigridOperation> given_;  // of precondition()
  Array<double> inverse_;                                 // likewise
  SolverFacts facts_;
};

// What a climb has seen so far.
struct Solver::Work::Climb {
  explicit Climb(std::size_t rungs) : fates(rungs, Fate::untried) {}
  enum class Fate { untried, left, failed };
  std::vector<Fate> fates;
  bool to_the_end = false;  // rungs that were left run once more
  bool indefinite = false;
  double best = std::numeric_limits<double>::infinity();  // excess of x
  Array<double> x;                                        // with that excess
  Status status = Status::not_converged;
  std::optional<Error> error{};  // of the last rung that could not run
  bool ran = false;
};

Solver::Work::Work(const CsrArrays& matrix, const SolverOptions& options)
    : device_(device_for(options.device)),
      precision_(parsed<Precision>(options.precision, "precision")),
      scaling_(parsed_or_auto<Scaling>(options.scaling, "scaling")),
      restart_(options.restart) {
  if (options.method != kAuto) {
    method_ = solvers::method_named(options.method);
    if (!method_ || method_->info.block)
      fail(ExitCode::usage, "there is no method '{}'; use one of: auto, {}", options.method,
           fmt::join(methods(), ", "));
  }
  if (options.preconditioner != kAuto) preconditioner_ = preconditioner_of(options.preconditioner);
  if (options.kernel != kAuto) find_kernel(options.kernel);
  if (restart_ < 1) fail(ExitCode::usage, "restart is at least 1, not {}", restart_);
  if (options.block_size < 1 || options.block_size > 32)
    fail(ExitCode::usage, "block_size is 1 to 32, not {}", options.block_size);
  matrix_ = copied_square(matrix);
  data_ = {.block_size = options.block_size,
           .chebyshev_degree = options.chebyshev_degree,
           .multigrid = multigrid_options(options),
           .modes = near_nullspace(options, rows())};
  take_values();
  kernel_ = options.kernel != kAuto ? options.kernel
                                    : std::string(choose_kernel_for(*matrix_, device_, precision_));
  facts_.rows = rows();
  facts_.nnz = matrix_->global_nnz;
  facts_.kernel = kernel_;
  facts_.device = to_string(device_);
  facts_.precision = to_string(precision_);
}

void Solver::Work::take_values() {
  exponent_ = scale_matrix(*matrix_);
  std::vector<Rung> before = std::move(rungs_);
  const MatrixLook look = look_at(*matrix_);
  facts_.matrix = in_short(look);
  negated_ = look.symmetric() && look.all_negative();
  if (negated_) {
    for (double& value : matrix_->blocks.local.values) value = -value;
    ++matrix_->values_version;
  }
  if (method_)
    rungs_ = {{.method = std::string(method_->info.name),
               .preconditioner = preconditioner_,
               .why = "the caller has named it",
               .scaling = scaling_.value_or(Scaling::none)}};
  else
    rungs_ = rungs_for(
        {.preconditioner = preconditioner_, .scaling = scaling_, .resident_only = true}, look);
  if (rungs_ == before) return;
  active_.reset();
  begins_at_ = 0;
}

std::shared_ptr<Operator> Solver::Work::make_operator(
    const std::shared_ptr<DistributedMatrix>& matrix) {
  const OperatorOptions options{.precision = precision_};
  std::shared_ptr<Operator> made;
  if (device_ == Device::cuda)
    made = std::make_shared<CudaOperator>(matrix, kernel_, options);
  else
    made = std::make_shared<HostOperator>(matrix, kernel_, options);
  facts_.build_seconds += made->build_seconds();
  return made;
}

void Solver::Work::activate(std::size_t k) {
  const Rung& rung = rungs_[k];
  if (active_ && active_->rung == k) {
    const Stopwatch watch;
    if (active_->stale) active_->loop->renew();
    active_->stale = false;
    facts_.set_up_seconds += watch.seconds();
    return;
  }
  active_.reset();
  auto made = std::make_unique<Active>();
  made->rung = k;
  made->matrix = matrix_;
  std::shared_ptr<Operator> op;
  if (rung.scaling == Scaling::none) {
    if (!operator_) operator_ = make_operator(matrix_);
    op = operator_;
  } else {
    if (data_.modes.width > 0 && rung.preconditioner && rung.preconditioner->is_multigrid())
      fail(ExitCode::usage,
           "near_nullspace and coordinates are of the matrix as it is; use scaling none");
    made->scaling = find_scaling(rung.scaling, *matrix_);
    made->matrix = scaled_matrix(*matrix_, *made->scaling);
    op = make_operator(made->matrix);
  }
  const AnyPreconditioner begins_with =
      rung.preconditioner ? *rung.preconditioner : first_preconditioner(*made->matrix);
  const Stopwatch watch;
  made->loop = std::make_unique<Loop>(
      made->matrix, op, *solvers::method_named(rung.method),
      rung.restart > 0 ? static_cast<std::int32_t>(rung.restart) : restart_, data_, begins_with);
  facts_.set_up_seconds += watch.seconds();
  if (!rung.preconditioner)
    made->search = std::make_unique<PreconditionerSearch>(*made->matrix, rung.method, *made->loop);
  active_ = std::move(made);
}

Ending Solver::Work::run_loop(std::span<const double> b, std::span<double> x, bool guess,
                              double unit, const solvers::Tolerances& rule, const System& system,
                              const SolveOptions& how) {
  Loop& loop = *active_->loop;
  PreconditionerSearch* const search = active_->search.get();
  const Array<double> begun(search && guess ? x.begin() : x.end(), x.end());
  Ending ending;
  std::int64_t before = 0;
  bool changes = false;
  solvers::Tolerances left = rule;
  BestNorms best;
  if (search) search->solve_begins(how.solves_after);
  const auto solution_into = [&](const solvers::Iterate& iterate) {
    return [&, iterate](std::span<double> out) {
      Array<double> y(iterate.x.begin(), iterate.x.end());
      for (std::size_t i = 0; i < iterate.direction.size(); ++i)
        y[i] += iterate.step * iterate.direction[i];
      if (active_->scaling) y = active_->scaling->from_columns(y);
      y = times_power_of_two(y, system.of_x);
      std::ranges::copy(y, out.begin());
    };
  };
  solvers::IterationObserver observer;
  observer.iteration = [&](const solvers::State& state, const solvers::Iterate& iterate) {
    const bool repeats = before > 0 && state.iterations == 0;  // after a change
    if (!repeats) {
      ending.history.push_back(relative(state.norm, unit));
      best.add(state.norm);
      if (search) search->iteration(state.norm, state.target);
      if (how.on_iteration && !ending.by_user) {
        Iteration shown{.number = before + state.iterations,
                        .relative_norm = relative(state.norm, unit)};
        if (iterate.x.size() == b.size()) shown.copy_solution = solution_into(iterate);
        ending.by_user = how.on_iteration(shown);
      }
    }
    return ending.by_user ? Reason::interrupted : Reason::running;
  };
  observer.stop = [&] {
    if (how.stop && how.stop()) ending.by_user = true;
    if (!ending.by_user && active_->may_stand_still) ending.stood_still = best.stand_still();
    // The loop may ask more than once before it ends.
    changes = changes || (!ending.by_user && !ending.stood_still && search && search->due());
    return ending.by_user || ending.stood_still || changes;
  };
  for (;;) {
    changes = false;
    const solvers::SolveResult result =
        loop.solve({.b = b, .x = x, .zero_guess = !guess}, left, observer);
    ending.reason = result.reason;
    ending.stagnated = result.stagnated;
    ending.iterations = before + result.iterations;
    ending.claims = result.reason == Reason::rtol || result.reason == Reason::atol;
    if (result.reason == Reason::interrupted && changes) {
      search->change();
    } else if (!search || search->solve_ends(ending.claims, is_breakdown(result.reason))) {
      return ending;
    } else {
      std::ranges::fill(x, 0.0);
      std::ranges::copy(begun, x.begin());
      ending.history.clear();
      guess = !begun.empty();
      before = 0;
      left = rule;
      continue;
    }
    before = ending.iterations;
    left.max_iterations = std::max<std::int64_t>(rule.max_iterations - before, 0);
    guess = true;
  }
}

Ending Solver::Work::run(System& system, const SolveOptions& how) {
  const auto& scaling = active_->scaling;
  constexpr int kMostTimes = 4;
  constexpr double kLeastPart = 0x1p-40;  // of the tolerance; rounding leaves no room below
  Ending all;
  double part = 1;
  for (int times = 0; times < kMostTimes; ++times) {
    Array<double> loop_b, loop_x;
    if (scaling) {
      loop_b = scaling->to_rows(system.b);
      loop_x = scaling->to_columns(system.x);
    }
    const std::span<const double> b = scaling ? loop_b : system.b;
    const std::span<double> x = scaling ? loop_x : system.x;
    const double unit = scaling ? norm(b) : system.unit;
    const double atol = std::ldexp(how.atol, -system.exponent) * unit / system.unit;
    const solvers::Tolerances rule{
        .rtol = how.rtol * part,
        .atol = atol * part,
        .divtol = kDivergence,
        .max_iterations = how.max_iterations - all.iterations,
        .drops_worse_guess = times == 0 && how.drop_worse_guess,
        .rows = how.in_every_row ? active_->loop->row_test() : solvers::RowTest::none};
    Ending ending = run_loop(b, x, system.has_guess, unit, rule, system, how);
    if (scaling) system.x = scaling->from_columns(loop_x);
    system.has_guess = true;
    ending.iterations += all.iterations;
    if (times > 0) ending.history.erase(ending.history.begin());
    all.history.insert(all.history.end(), ending.history.begin(), ending.history.end());
    ending.history = std::move(all.history);
    all = std::move(ending);
    double residual_now = 0;
    const double by = excess(system, how, residual_now);
    if (!all.claims || !std::isfinite(by) || by <= kWithRounding) break;
    part = std::ldexp(part, -1 - std::ilogb(by));
    if (part < kLeastPart) break;
  }
  return all;
}

double Solver::Work::excess(const System& system, const SolveOptions& how,
                            double& relative_residual) const {
  const Residual of = residual(*matrix_, system.b, system.x);
  relative_residual = relative(of.norm, system.unit);
  const double target = std::max(how.rtol * system.unit, std::ldexp(how.atol, -system.exponent));
  const double as_it_is = of.norm / target;
  if (!of.of_rows || !how.in_every_row) return as_it_is;
  return std::max(as_it_is, *of.of_rows / relative(target, system.unit));
}

std::optional<std::size_t> Solver::Work::next(const Climb& climb) const {
  const auto wanted = climb.to_the_end ? Climb::Fate::left : Climb::Fate::untried;
  const auto serves = [&](std::size_t k) {
    return climb.fates[k] == wanted &&
           (rungs_[k].serves == RungFor::any_failure || climb.indefinite || k == begins_at_);
  };
  if (!climb.ran && !climb.error && serves(begins_at_)) return begins_at_;
  for (std::size_t k = 0; k < rungs_.size(); ++k)
    if (serves(k)) return k;
  return std::nullopt;
}

bool Solver::Work::climb_one(std::size_t k, System& system, const SolveOptions& how, Climb& climb,
                             SolveReport& report) {
  const Rung& rung = rungs_[k];
  const Stopwatch watch;
  Attempt& now = report.attempts.emplace_back();
  now.method = rung.method;
  now.preconditioner = rung.preconditioner ? word_of(*rung.preconditioner) : std::string(kAuto);
  now.scaling = to_string(rung.scaling);
  now.why = rung.why;
  Ending ending;
  try {
    activate(k);
    active_->may_stand_still = rung.may_stand_still && rungs_.size() > 1 && !climb.to_the_end;
    ending = run(system, how);
  } catch (const Error& error) {
    if (rungs_.size() == 1 || error.code() == ExitCode::internal ||
        error.code() == ExitCode::resource)
      throw;
    climb.fates[k] = Climb::Fate::failed;
    climb.error = error;
    now.verdict = error.what();
    now.seconds = watch.seconds();
    return false;
  }
  climb.ran = true;
  double relative_residual = 0;
  const double by = excess(system, how, relative_residual);
  const bool converged = by <= kWithRounding && (ending.claims || ending.stagnated);
  now.preconditioner = word_of(active_->loop->preconditioner());
  now.iterations = ending.iterations;
  now.relative_residual = relative_residual;
  now.seconds = watch.seconds();
  now.verdict = converged ? "converged" : words_of(ending, rung.method);
  climb.indefinite |= ending.reason == Reason::indefinite_matrix ||
                      ending.reason == Reason::indefinite_preconditioner;
  climb.fates[k] = ending.stood_still ? Climb::Fate::left : Climb::Fate::failed;
  if (converged || by < climb.best || climb.x.empty()) {
    climb.best = by;
    climb.x = system.x;
    climb.status = converged                     ? Status::converged
                   : ending.by_user              ? Status::interrupted
                   : is_breakdown(ending.reason) ? Status::breakdown
                                                 : Status::not_converged;
    report.iterations = ending.iterations;
    report.history = std::move(ending.history);
    report.relative_residual = relative_residual;
    report.method = now.method;
    report.preconditioner = now.preconditioner;
    report.scaling = now.scaling;
    report.text = now.verdict;
  }
  if (ending.by_user) climb.status = Status::interrupted;
  if (converged) begins_at_ = k;
  if (!converged && !ending.by_user) {
    if (relative_residual < kGoodGuess)
      system.x = climb.x;
    else
      std::ranges::fill(system.x, 0.0);
    system.has_guess = relative_residual < kGoodGuess;
  }
  return converged || ending.by_user;
}

SolveReport Solver::Work::climb(System& system, const SolveOptions& how) {
  SolveReport report;
  Climb climb(rungs_.size());
  const Array<double> guess = system.x;
  double of_guess = 1;
  if (system.has_guess) excess(system, how, of_guess);
  for (;;) {
    const auto k = next(climb);
    if (k) {
      if (climb_one(*k, system, how, climb, report)) break;
      continue;
    }
    const bool any_left = std::ranges::find(climb.fates, Climb::Fate::left) != climb.fates.end();
    if (climb.to_the_end || !any_left) break;
    climb.to_the_end = true;
  }
  if (!climb.ran) throw Error(*climb.error);
  system.x = std::move(climb.x);
  report.status = climb.status;
  if (!report.converged() && !(report.relative_residual <= of_guess)) {
    system.x = guess;
    report.notes.push_back(fmt::format(
        "x is the initial guess, whose residual is {:.2g} of ||b||; that of the solve was {:.2g}",
        of_guess, report.relative_residual));
    report.relative_residual = of_guess;
  }
  if (active_ && active_->search) {
    const auto& notes = active_->search->notes();
    report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  }
  return report;
}

SolveReport Solver::Work::solve(std::span<const double> b, std::span<double> x,
                                const SolveOptions& how) {
  const Stopwatch watch;
  require_size(b.size(), rows(), "b");
  require_size(x.size(), rows(), "x");
  require_finite(b, "b");
  if (how.guess) require_finite(x, "x");
  if (!(how.rtol >= 0) || !(how.atol >= 0) || (how.rtol == 0 && how.atol == 0))
    fail(ExitCode::usage, "rtol is {} and atol {}; neither may be negative, and one is above 0",
         how.rtol, how.atol);
  if (how.max_iterations < 0)
    fail(ExitCode::usage, "max_iterations cannot be {}", how.max_iterations);
  const double set_up_before = facts_.set_up_seconds;
  const double searched_before = active_ && active_->search ? active_->search->set_up_seconds() : 0;
  System system(b, how.guess ? std::span<const double>(x) : std::span<const double>(), exponent_,
                negated_);
  SolveReport report;
  if (!(system.unit > 0)) {
    std::ranges::fill(x, 0.0);
    report.status = Status::converged;
    report.text = "b is 0, and so is x";
    report.method = rungs_[begins_at_].method;
    report.history = {0};
    return report;
  }
  report = climb(system, how);
  const Array<double> of_caller = times_power_of_two(system.x, system.of_x);
  const auto not_finite = [](double v) { return !std::isfinite(v); };
  if (std::ranges::any_of(of_caller, not_finite)) {
    report.status = Status::breakdown;
    report.text = "the solution exceeds the largest double; scale the system";
  }
  std::ranges::copy(of_caller, x.begin());
  const double searched = active_ && active_->search ? active_->search->set_up_seconds() : 0;
  report.set_up_seconds =
      facts_.set_up_seconds - set_up_before + std::max(0.0, searched - searched_before);
  facts_.set_up_seconds += std::max(0.0, searched - searched_before);
  report.seconds = watch.seconds();
  if (report.converged())
    report.text = fmt::format("converged after {} iterations: ||b - A x|| is {:.2g} of ||b||",
                              report.iterations, report.relative_residual);
  else
    report.text = fmt::format("not converged: {}; ||b - A x|| is {:.2g} of ||b||{}", report.text,
                              report.relative_residual, what_to_do(report, how));
  count(report);
  return report;
}

std::string_view Solver::Work::what_to_do(const SolveReport& report,
                                          const SolveOptions& how) const {
  if (report.status == Status::interrupted) return "";
  if (report.iterations >= how.max_iterations) return "; more iterations may be allowed";
  return rungs_.size() > 1 ? "; every method of auto was tried; complete factors may solve it"
                           : "; method auto tries others";
}

void Solver::Work::count(const SolveReport& report) {
  ++facts_.solves;
  facts_.iterations += report.iterations;
  facts_.solve_seconds += report.seconds;
}

void Solver::Work::solve_block(std::span<const double> b, std::span<double> x, std::int64_t first,
                               std::int64_t width, const SolveOptions& how,
                               std::vector<SolveReport>& reports) {
  const std::int64_t n = rows();
  const Stopwatch watch;
  const auto& scaling = active_->scaling;
  std::vector<System> systems;
  Array<double> all_b(static_cast<std::size_t>(n * width)), all_x(all_b.size());
  std::vector<double> units;
  bool guess = false;
  for (std::int64_t j = 0; j < width; ++j) {
    const auto column = x.subspan((first + j) * n, n);
    const System& system = systems.emplace_back(
        b.subspan((first + j) * n, n),
        how.guess ? std::span<const double>(column) : std::span<const double>(), exponent_,
        negated_);
    const Array<double> loop_b = scaling ? scaling->to_rows(system.b) : system.b;
    const Array<double> loop_x = scaling ? scaling->to_columns(system.x) : system.x;
    std::ranges::copy(loop_b, all_b.begin() + j * n);
    std::ranges::copy(loop_x, all_x.begin() + j * n);
    units.push_back(scaling ? norm(loop_b) : system.unit);
    guess = guess || system.has_guess;
  }
  std::vector<solvers::IterationObserver> observers(static_cast<std::size_t>(width));
  for (std::int64_t j = 0; j < width; ++j) {
    observers[j].iteration = [&, j](const solvers::State& state, const solvers::Iterate&) {
      reports[first + j].history.push_back(relative(state.norm, units[j]));
      return Reason::running;
    };
    observers[j].stop = how.stop;
  }
  const std::vector<solvers::SolveResult> results = active_->loop->solve(
      one_after_the_other(static_cast<const double*>(all_b.data()), n, width),
      one_after_the_other(all_x.data(), n, width), !guess,
      {.rtol = how.rtol,
       .atol = 0,
       .divtol = kDivergence,
       .max_iterations = how.max_iterations,
       .rows = how.in_every_row ? active_->loop->row_test() : solvers::RowTest::none},
      observers);
  const double seconds = watch.seconds() / static_cast<double>(width);
  for (std::int64_t j = 0; j < width; ++j) {
    System& system = systems[j];
    system.x.assign(all_x.begin() + j * n, all_x.begin() + (j + 1) * n);
    if (scaling) system.x = scaling->from_columns(system.x);
    SolveReport& report = reports[first + j];
    const double by = excess(system, how, report.relative_residual);
    const Array<double> of_caller = times_power_of_two(system.x, system.of_x);
    std::ranges::copy(of_caller, x.begin() + (first + j) * n);
    report.iterations = results[j].iterations;
    report.seconds = seconds;
    report.method = rungs_[active_->rung].method;
    report.preconditioner = word_of(active_->loop->preconditioner());
    report.scaling = to_string(rungs_[active_->rung].scaling);
    const bool ends = results[j].reason == Reason::interrupted;
    report.status = by <= kWithRounding ? Status::converged
                    : ends              ? Status::interrupted
                                        : Status::not_converged;
    if (report.converged())
      report.text = fmt::format("converged after {} iterations: ||b - A x|| is {:.2g} of ||b||",
                                report.iterations, report.relative_residual);
    else if (ends)
      report.text = "not converged: stopped by the caller";
    if (report.converged()) count(report);
  }
}

std::vector<SolveReport> Solver::Work::solve_many(std::span<const double> b, std::span<double> x,
                                                  std::int64_t width, const SolveOptions& how) {
  if (width < 0) fail(ExitCode::usage, "width cannot be {}", width);
  const std::int64_t n = rows();
  require_size(b.size(), n * width, "b");
  require_size(x.size(), n * width, "x");
  require_finite(b, "b");
  if (how.guess) require_finite(x, "x");
  std::vector<SolveReport> reports(static_cast<std::size_t>(width));
  const auto alone = [&](std::int64_t j, bool guess) {
    SolveOptions of_one = how;
    of_one.guess = guess;
    of_one.solves_after = how.solves_after + width - 1 - j;
    if (j > 0) of_one.on_iteration = nullptr;
    reports[j] = solve(b.subspan(j * n, n), x.subspan(j * n, n), of_one);
  };
  if (width == 0) return reports;
  alone(0, how.guess);
  const auto is_zero = [&](std::int64_t j) {
    return std::ranges::all_of(b.subspan(j * n, n), [](double v) { return v == 0; });
  };
  // What the first one has shown may make a set-up pay for the others.
  if (reports[0].converged() && active_ && active_->search && width > 1) {
    const double before = active_->search->set_up_seconds();
    active_->search->between_solves(how.solves_after + width - 1);
    facts_.set_up_seconds += active_->search->set_up_seconds() - before;
  }
  const bool together = reports[0].converged() && active_ && how.atol == 0 && n > 0;
  std::int64_t j = 1;
  while (j < width) {
    std::int64_t last = j;
    while (together && last < width && last - j < kWidestBlock && !is_zero(last)) ++last;
    if (last - j < 2) {
      alone(j, how.guess);
      if (reports[j].status == Status::interrupted) break;
      ++j;
      continue;
    }
    solve_block(b, x, j, last - j, how, reports);
    for (std::int64_t c = j; c < last; ++c) {
      if (reports[c].status == Status::interrupted) return reports;
      if (!reports[c].converged()) alone(c, reports[c].relative_residual < kGoodGuess);
    }
    j = last;
  }
  return reports;
}

void Solver::Work::update(std::span<const double> values) {
  require_size(values.size(), matrix_->blocks.nnz(), "values");
  require_finite(values, "values");
  matrix_->replace_values(values);
  take_values();
  given_.reset();
  inverse_.clear();
  if (operator_ && operator_->can_refresh()) {
    operator_->refresh_values();
  } else {
    operator_.reset();
    active_.reset();
  }
  if (active_ && active_->scaling) active_.reset();
  if (active_) active_->stale = true;
}

void Solver::Work::precondition(std::span<const double> r, std::span<double> z) {
  require_size(r.size(), rows(), "r");
  require_size(z.size(), rows(), "z");
  require_finite(r, "r");
  const auto is = [&](PreconditionerKind kind) {
    return preconditioner_ && preconditioner_->is(kind);
  };
  const double sign = negated_ ? -1 : 1;
  if (is(PreconditionerKind::given)) {
    if (!given_) {
      const Stopwatch watch;
      auto made = std::make_unique<multigrid::MultigridOperation>();
      made->build(
          matrix_, [this] { return data_.modes; }, data_.multigrid);
      given_ = std::move(made);
      facts_.set_up_seconds += watch.seconds();
    }
    given_->apply(r, z);
    for (double& value : z) value = sign * std::ldexp(value, -exponent_);
  } else if (is(PreconditionerKind::jacobi)) {
    if (inverse_.empty()) {
      inverse_.resize(static_cast<std::size_t>(rows()));
      matrix_->diagonal(inverse_);
      for (std::size_t i = 0; i < inverse_.size(); ++i) {
        if (inverse_[i] == 0)
          fail(ExitCode::input,
               "row {} (from 0) has a zero on the diagonal, by which jacobi divides", i);
        inverse_[i] = 1 / inverse_[i];
      }
    }
    for (std::size_t i = 0; i < z.size(); ++i)
      z[i] = sign * std::ldexp(inverse_[i] * r[i], -exponent_);
  } else if (is(PreconditionerKind::none)) {
    std::ranges::copy(r, z.begin());
  } else {
    fail(
        ExitCode::usage,
        "precondition() applies {}, {} and {}, one of which the options of the solver must name as "
        "its preconditioner",
        solvers::name_of(PreconditionerKind::given), solvers::name_of(PreconditionerKind::jacobi),
        solvers::name_of(PreconditionerKind::none));
  }
}

SolverFacts Solver::Work::facts() const {
  SolverFacts facts = facts_;
  facts.method = rungs_[active_ ? active_->rung : begins_at_].method;
  const Rung& rung = rungs_[begins_at_];
  facts.preconditioner = active_               ? word_of(active_->loop->preconditioner())
                         : rung.preconditioner ? word_of(*rung.preconditioner)
                                               : std::string(kAuto);
  if (active_) facts.product_microseconds = active_->loop->product_microseconds();
  const auto hierarchy = active_ && active_->loop->hierarchy() ? active_->loop->hierarchy()
                         : given_                              ? given_->facts()
                                                               : std::nullopt;
  if (hierarchy)
    for (const multigrid::LevelFacts& level : hierarchy->levels)
      facts.levels.push_back({.rows = level.rows, .nnz = level.nnz});
  return facts;
}

Solver::Solver(const CsrArrays& matrix, const SolverOptions& options)
    : work_(with_failures([&] { return std::make_unique<Work>(matrix, options); })) {}
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

std::int64_t Solver::rows() const { return work_->rows(); }
SolveReport Solver::solve(std::span<const double> b, std::span<double> x, const SolveOptions& how) {
  return with_failures([&] { return work_->solve(b, x, how); });
}
std::vector<SolveReport> Solver::solve_many(std::span<const double> b, std::span<double> x,
                                            std::int64_t width, const SolveOptions& how) {
  return with_failures([&] { return work_->solve_many(b, x, width, how); });
}
void Solver::update(std::span<const double> values) {
  with_failures([&] { work_->update(values); });
}
void Solver::precondition(std::span<const double> r, std::span<double> z) {
  with_failures([&] { work_->precondition(r, z); });
}
SolverFacts Solver::facts() const {
  return with_failures([&] { return work_->facts(); });
}

}  // namespace trireme::api
