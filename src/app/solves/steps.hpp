// SPDX-License-Identifier: BSD-3-Clause
// The sequence of a case: brings the shared matrix and the right-hand side to each step, and writes
// the solution of each step.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/case.hpp"
#include "config/steps.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/redistribution.hpp"
#include "io/fingerprint.hpp"
#include "io/output_file.hpp"
#include "io/problem.hpp"
#include "io/step_values.hpp"

namespace trireme {

// How the rows of the first matrix were redistributed, with their entries kept.
struct MovedRows {
  std::shared_ptr<Redistribution> first;  // null: they were not
  // Has taken the pattern of the first matrix in its own order; empty where the rows were not
  // moved.
  std::optional<LastPattern> pattern;
  // Finds new ranks for the rows of a matrix with another pattern. Collective.
  std::function<std::shared_ptr<Redistribution>(const RowSlab&, const std::vector<std::int64_t>&)>
      again;
};

class Steps {
 public:
  enum class Change { rhs_only, values, pattern };

  // `matrix` is the one that `problem` was read with, before it is scaled. All members are
  // collective.
  Steps(MPI_Comm comm, const ProblemSpec& spec, const Problem& problem,
        std::shared_ptr<DistributedMatrix> matrix, MovedRows moved = {});
  ~Steps();

  std::int64_t count() const { return std::ssize(steps_); }
  std::string name(std::int64_t step) const { return name_of(steps_[step]); }

  // Brings the matrix and the right-hand side to step 0. Each run of the case begins so, before it
  // builds anything. Throws the errors of StepReader. Change::pattern: the matrix has another
  // pattern or other cuts than before this call.
  Change begin();
  // Goes on to the next step. Where the pattern is another one, give_up() is called before the
  // matrix is replaced: nothing may refer to its arrays after that call. Throws the errors of
  // StepReader; the matrix then still is that of the step before.
  Change go_on(const std::function<void()>& give_up);

  // What is done on the other thread beside the work of work_ahead(). Both may be empty. Their
  // errors are thrown by the next go_on().
  struct AlsoAhead {
    std::function<void()> first;                     // before all else
    std::function<void(const StepData&)> with_next;  // when the next step was read
  };
  // On another thread: writes the solution of the step before, and reads the next step where that
  // needs no communication. Until wait() or another collective member has returned, nothing else
  // may use HDF5.
  void work_ahead(const AlsoAhead& also = {});
  // Waits for the other thread. Not collective.
  void wait() const;

  // With `keep`, until the next begin(), go_on() keeps the values and the right-hand side of the
  // step before, where the present step has brought others that were read alone. The new values are
  // exchanged with those of the matrix: the conditions of DistributedMatrix::exchange_values()
  // hold.
  void keep_step_before(bool keep) { keeps_ = keep; }
  // Of the step before the present one. Valid until work_ahead() reads the next step.
  std::span<const double> values_before() const {
    return new_values_ ? *spare_.values : matrix_->blocks.local.values;
  }
  std::span<const double> rhs_before() const { return new_rhs_ ? *spare_.rhs : rhs_; }
  bool has_new_rhs() const { return new_rhs_; }  // where the step before is kept
  // Whether there is a next step and one rank can read it without communication. It uses no HDF5
  // while the other thread works.
  bool next_is_read_alone() const;

  std::int64_t now() const { return now_; }  // the step of matrix and right-hand side
  const Array<double>& rhs() const { return rhs_; }
  // Whether the right-hand side is A 1, so that the solution is 1.
  bool solution_is_one() const { return made_ == MadeRhs::from_ones; }
  int matrix_exponent() const { return exponent_; }  // the matrix is that of the step times 2^-this
  // Seconds for which the step waited for its data, on the slowest rank.
  double read_seconds() const { return read_seconds_; }

  // Of the rows of the present matrix; null: they have the order of the file.
  std::shared_ptr<const Redistribution> redistribution() const { return moved_; }
  // Brings this rank's rows of a vector of the step before to the ranks of the present matrix.
  Array<double> moved(const Array<double>& vector) const;

  // Names the file for the solutions of the steps, which the first solution creates.
  void write_to(const std::filesystem::path& path) { path_ = path; }
  // Adds the solution of the present step to the file, where one is named. With `later`, x is read
  // after AlsoAhead::first and until the next go_on() or take_file() returns.
  void write(std::span<const double> x, bool later);
  // The file, which holds /x of the steps so far and is not complete; null where no step was
  // solved.
  std::unique_ptr<OutputFile> take_file();

 private:
  RowRange rows() const;  // of the file, on this rank
  const std::vector<std::int64_t>& cuts() const {
    return moved_ ? moved_->from() : matrix_->row_starts;
  }
  Array<double> to_matrix(Array<double>&& vector) const;  // from the order of the file
  StepData read(std::int64_t step);
  Change take(StepData&& data, const std::function<void()>& give_up);
  bool install_pattern(const MatrixOnRanks& read);
  Change install(MatrixOnRanks&& read, const Step* step, const std::function<void()>& give_up);
  void scale(double largest);
  Array<double> made_rhs(MadeRhs made) const;
  void set_rhs(Array<double>&& rhs);
  void write_what_waits();

  MPI_Comm comm_;
  std::vector<Step> steps_;
  std::shared_ptr<DistributedMatrix> matrix_;
  MovedRows rows_of_first_;
  std::shared_ptr<Redistribution> moved_, moved_before_;  // the latter of the step before
  std::optional<LastPattern> pattern_;                    // where rows were moved
  StepReader reader_;                                     // in the order of the file
  Array<double> first_rhs_;               // of the problem, in the order of the file
  std::vector<std::int64_t> first_cuts_;  // of the ranks that hold it
  std::optional<MadeRhs> first_made_, made_;
  Array<double> rhs_;
  std::vector<std::int64_t> cuts_before_;  // of the ranks in the step before, in that order
  std::int64_t now_ = -1;
  int exponent_ = 0;
  bool scaled_ = false;
  bool first_matrix_ = true;  // the matrix has the pattern and the values of the problem
  bool first_order_ = true;   // values are read in the order of the problem's matrix
  double read_seconds_ = 0;
  // What the other thread leaves. Its other errors are those of the future.
  struct Ahead {
    std::optional<StepData> next;
    std::exception_ptr error;  // of reading the next step
  };
  std::future<Ahead> ahead_;
  bool next_alone_ = false;  // while ahead_ is valid: one rank reads the next step
  bool keeps_ = false;       // the arrays of the step before, in spare_
  bool new_values_ = false,
       new_rhs_ = false;  // of the present step, so that spare_ has the old ones
  StepData spare_;
  std::span<const double> waits_;  // to be written
  std::filesystem::path path_;     // of the solutions; empty: they are not written
  std::unique_ptr<OutputFile> file_;
};

}  // namespace trireme
