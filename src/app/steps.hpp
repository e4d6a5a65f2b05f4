// SPDX-License-Identifier: BSD-3-Clause
// The sequence of a case: brings the shared matrix and the right-hand side to each step, and writes
// the solution of each step.
#pragma once

#include <mpi.h>

#include <cstdint>
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
#include "io/output_file.hpp"
#include "io/problem.hpp"
#include "io/step_values.hpp"

namespace trireme {

class Steps {
 public:
  enum class Change { rhs_only, values, pattern };

  // `matrix` is the one that `problem` was read with, before it is scaled. All members are
  // collective.
  Steps(MPI_Comm comm, const ProblemSpec& spec, const Problem& problem,
        std::shared_ptr<DistributedMatrix> matrix);
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
  // On another thread: writes the solution of the step before, and reads the next step where that
  // needs no communication. Until the next call of a member, nothing else may use HDF5.
  void work_ahead();

  std::int64_t now() const { return now_; }  // the step of matrix and right-hand side
  const Array<double>& rhs() const { return rhs_; }
  // Whether the right-hand side is A 1, so that the solution is 1.
  bool solution_is_one() const { return made_ == MadeRhs::from_ones; }
  int matrix_exponent() const { return exponent_; }  // the matrix is that of the step times 2^-this
  // Seconds for which the step waited for its data, on the slowest rank.
  double read_seconds() const { return read_seconds_; }

  // Brings this rank's rows of a vector of the step before to the cuts of the present matrix.
  Array<double> moved(const Array<double>& vector) const;

  // Names the file for the solutions of the steps, which the first solution creates.
  void write_to(const std::filesystem::path& path) { path_ = path; }
  // Adds the solution of the present step to the file, where one is named. With `later`, x is read
  // until the next go_on() or take_file() returns.
  void write(std::span<const double> x, bool later);
  // The file, which holds /x of the steps so far and is not complete; null where no step was solved.
  std::unique_ptr<OutputFile> take_file();

 private:
  RowRange rows() const;
  StepData read(std::int64_t step);
  Change take(StepData&& data, const std::function<void()>& give_up);
  Change install(MatrixOnRanks&& read, const Step* step, const std::function<void()>& give_up);
  void scale(double largest);
  void make_rhs(MadeRhs made);
  void write_what_waits();
  void wait() const;  // for the other thread

  MPI_Comm comm_;
  std::vector<Step> steps_;
  StepReader reader_;
  std::shared_ptr<DistributedMatrix> matrix_;
  Array<double> first_rhs_;               // of the problem
  std::vector<std::int64_t> first_cuts_;  // of the ranks that hold it
  std::optional<MadeRhs> first_made_, made_;
  Array<double> rhs_;
  std::vector<std::int64_t> cuts_before_;  // of the ranks in the step before
  std::int64_t now_ = -1;
  int exponent_ = 0;
  bool scaled_ = false;
  bool first_matrix_ = true;  // the matrix has the pattern and the values of the problem
  bool first_order_ = true;   // values are read in the order of the problem's matrix
  double read_seconds_ = 0;
  std::future<std::optional<StepData>> ahead_;
  std::span<const double> waits_;  // to be written
  std::filesystem::path path_;     // of the solutions; empty: they are not written
  std::unique_ptr<OutputFile> file_;
};

}  // namespace trireme
