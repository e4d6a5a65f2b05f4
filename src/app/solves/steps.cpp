// SPDX-License-Identifier: BSD-3-Clause
// New values go into the shared matrix in place; another pattern replaces the matrix.
#include "app/solves/steps.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/kept/solution_file.hpp"
#include "app/system/moved_rows.hpp"
#include "app/system/row_distribution.hpp"
#include "base/stopwatch.hpp"
#include "distributed/same_pattern.hpp"
#include "distributed/scaling/system_scale.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

// The row sums of the matrix times 2^exponent.
Array<double> row_sums(const SplitRows& blocks, int exponent) {
  Array<double> sums(blocks.local.rows);
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < blocks.local.rows; ++row) {
    double sum = 0;
    for (const CsrMatrix<double>* block : {&blocks.local, &blocks.ghost})
      for (std::int64_t k = block->row_begin(row); k < block->row_begin(row + 1); ++k)
        sum += block->values[k];
    sums[row] = std::ldexp(sum, exponent);
  }
  return sums;
}

}  // namespace

Steps::Steps(MPI_Comm comm, const ProblemSpec& spec, const Problem& problem,
             std::shared_ptr<DistributedMatrix> matrix, MovedRows moved)
    : comm_(comm),
      steps_(steps_of(spec.steps)),
      matrix_(std::move(matrix)),
      rows_of_first_(std::move(moved)),
      moved_(rows_of_first_.first),
      moved_before_(moved_),
      pattern_(rows_of_first_.pattern),
      reader_(comm, spec, rows(), moved_ ? moved_->entries_before() : matrix_->blocks.nnz(),
              problem.in_stored_order),
      first_cuts_(cuts()) {
  collectively(comm, [&] {
    if (problem.rhs.size() != 1)
      fail(ExitCode::usage,
           "{} has {} right-hand sides; with problem.steps, each step has one: steps: {{count: {}, "
           "rhs: NAME}} takes the rows of a dataset [steps, rows]",
           problem.name, problem.rhs.size(), problem.rhs.size());
  });
  first_rhs_ = moved_ ? moved_->back(problem.rhs.front()) : problem.rhs.front();
  if (const auto* made = std::get_if<MadeRhs>(&problem.chosen.rhs)) first_made_ = *made;
}

Steps::~Steps() { wait(); }

RowRange Steps::rows() const {
  const int rank = rank_of(comm_);
  return {cuts()[rank], cuts()[rank + 1] - cuts()[rank], matrix_->global_rows()};
}

Array<double> Steps::to_matrix(Array<double>&& vector) const {
  return moved_ ? moved_->there(vector) : std::move(vector);
}

Steps::Change Steps::begin() {
  wait();
  ahead_ = {};
  spare_ = {};
  keeps_ = new_values_ = new_rhs_ = false;
  now_ = 0;
  Change change = Change::rhs_only;
  const bool brings_values = !steps_.front().values.empty() && first_order_;
  if (!first_matrix_ && !brings_values)
    change = install(reader_.read_first_matrix(), nullptr, [] {});
  rhs_ = to_matrix(moved_rows(comm_, first_rhs_, 1, first_cuts_, cuts()));
  made_ = first_made_;
  try {
    change = std::max(change, take(read(0), [] {}));
  } catch (const AgreedError& error) {
    collectively(comm_, [&] { fail(error.code(), "step 0: {}", error.what()); });
  }
  if (!scaled_) exponent_ = scale_matrix(*matrix_);
  scaled_ = true;
  return change;
}

Steps::Change Steps::go_on(const std::function<void()>& give_up) {
  StepData data = read(now_ + 1);
  ++now_;
  return take(std::move(data), give_up);
}

void Steps::work_ahead(const AlsoAhead& also) {
  const Step* const next = now_ + 1 < count() ? &steps_[now_ + 1] : nullptr;
  int alone = next && reader_.can_be_read_alone(*next) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_MIN, comm_);
  if (alone == 0 && (!next || waits_.empty()) && !also.first) return;
  // Another thread does not inherit share_cores(). For a solve on a GPU one thread suffices.
  const int threads = std::max(1, omp_get_max_threads() - (keeps_ ? 1 : 0));
  const auto work = [this, alone, next, also, threads, x = std::exchange(waits_, {})] {
    omp_set_num_threads(threads);
    if (also.first) also.first();
    if (!x.empty()) file_->append_alone(x);
    Ahead ahead;
    if (alone == 0) return ahead;
    try {
      ahead.next = reader_.read_alone(*next, std::move(spare_));
      if (also.with_next) also.with_next(*ahead.next);
    } catch (...) {
      ahead.error = std::current_exception();
    }
    return ahead;
  };
  next_alone_ = alone == 1;
  ahead_ = std::async(std::launch::async, work);
}

bool Steps::next_is_read_alone() const {
  if (size_of(comm_) != 1 || now_ + 1 >= count()) return false;
  return ahead_.valid() ? next_alone_ : reader_.can_be_read_alone(steps_[now_ + 1]);
}

StepData Steps::read(std::int64_t step) {
  const Stopwatch watch;
  std::optional<StepData> data;
  if (ahead_.valid())
    collectively(comm_, [&] {
      Ahead ahead = ahead_.get();
      if (ahead.error) std::rethrow_exception(ahead.error);
      data = std::move(ahead.next);
    });
  write_what_waits();
  if (!data) data = reader_.read(steps_[step]);
  read_seconds_ = max_over_ranks(comm_, watch.seconds());
  return std::move(*data);
}

Steps::Change Steps::take(StepData&& data, const std::function<void()>& give_up) {
  const Step& step = steps_[now_];
  cuts_before_ = cuts();
  moved_before_ = moved_;
  Change change = Change::rhs_only;
  new_values_ = new_rhs_ = false;
  if (data.matrix) {
    change = install(std::move(*data.matrix), &step, give_up);
  } else if (data.values) {
    if (moved_) data.values = moved_->new_values(*data.values);
    if (keeps_) {
      matrix_->exchange_values(*data.values);
      spare_.values = std::move(data.values);
      new_values_ = true;
    } else {
      matrix_->replace_values(*data.values);
    }
    scale(data.largest);
    first_matrix_ = false;
    change = Change::values;
  }
  if (data.rhs) {
    set_rhs(to_matrix(std::move(*data.rhs)));
    made_.reset();
    return change;
  }
  if (change == Change::pattern) rhs_ = moved(rhs_);
  if (step.rhs) made_ = std::get<MadeRhs>(*step.rhs);
  const bool follows_values = made_ == MadeRhs::from_ones && change != Change::rhs_only;
  if (made_ && (step.rhs || follows_values)) set_rhs(made_rhs(*made_));
  return change;
}

void Steps::set_rhs(Array<double>&& rhs) {
  std::swap(rhs_, rhs);
  if (!keeps_) return;
  spare_.rhs = std::move(rhs);
  new_rhs_ = true;
}

// Whether the matrix has the pattern and the cuts of the present one.
bool Steps::install_pattern(const MatrixOnRanks& read) {
  if (!moved_) return same_pattern(*matrix_, read.slab, read.row_starts);
  return pattern_->take(read.slab) && read.row_starts == moved_->from();
}

Steps::Change Steps::install(MatrixOnRanks&& read, const Step* step,
                             const std::function<void()>& give_up) {
  const bool same = install_pattern(read);
  reader_.follow(read, step);
  first_order_ = first_matrix_ = step == nullptr;
  if (moved_ && same) {
    read.slab.local.values = moved_->new_values(read.slab.local.values);
  } else if (moved_) {
    moved_ = step ? rows_of_first_.again(read.slab, read.row_starts) : rows_of_first_.first;
    read.slab = moved_->matrix(std::move(read.slab), true);
    read.row_starts = moved_->to();
  }
  if (same) {
    matrix_->replace_values(read.slab.local.values);
  } else {
    give_up();
    *matrix_ = std::move(*distribute(comm_, std::move(read.slab), std::move(read.row_starts)));
    if (moved_) matrix_->callers_rows = callers_rows(comm_, *moved_);
  }
  exponent_ = scale_matrix(*matrix_);
  scaled_ = true;
  return same ? Change::values : Change::pattern;
}

// Looks at the matrix only where its largest magnitude says that it may need scaling.
void Steps::scale(double largest) {
  constexpr int kSurelyFits = 190;
  int exponent = 0;
  std::frexp(max_over_ranks(comm_, largest), &exponent);
  exponent_ = std::abs(exponent) <= kSurelyFits ? 0 : scale_matrix(*matrix_);
  scaled_ = true;
}

Array<double> Steps::made_rhs(MadeRhs made) const {
  if (made == MadeRhs::random) return to_matrix(random_vector(rows(), 1));
  if (made == MadeRhs::from_ones) return row_sums(matrix_->blocks, exponent_);
  return Array<double>(matrix_->local_rows(), 1.0);
}

Array<double> Steps::moved(const Array<double>& vector) const {
  if (!moved_ && !moved_before_) return moved_rows(comm_, vector, 1, cuts_before_, cuts());
  const Array<double> of_file = moved_before_ ? moved_before_->back(vector) : vector;
  return to_matrix(moved_rows(comm_, of_file, 1, cuts_before_, cuts()));
}

void Steps::write(std::span<const double> x, bool later) {
  if (path_.empty()) return;
  const bool leaves_x = later && size_of(comm_) == 1;
  if (!file_ || !leaves_x) wait();  // nothing else uses HDF5 then
  if (!file_) {
    make_directory(comm_, path_.parent_path());
    file_ = std::make_unique<OutputFile>(comm_, path_);
    file_->begin_vectors("/x", matrix_->global_rows());
  }
  if (leaves_x)
    waits_ = x;
  else
    file_->append_vector(rows(), moved_ ? std::span<const double>(moved_->back(x)) : x);
}

void Steps::wait() const {
  if (ahead_.valid()) ahead_.wait();
}

void Steps::write_what_waits() {
  if (!waits_.empty()) file_->append_vector(rows(), std::exchange(waits_, {}));
}

std::unique_ptr<OutputFile> Steps::take_file() {
  if (ahead_.valid()) collectively(comm_, [&] { ahead_.get(); });
  write_what_waits();
  return std::move(file_);
}

}  // namespace trireme
