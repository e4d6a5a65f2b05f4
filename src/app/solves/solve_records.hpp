// SPDX-License-Identifier: BSD-3-Clause
// What the solves of one kernel came to, for its outcome.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/solves/true_residual.hpp"
#include "petsc/ksp/ksp_solver.hpp"
#include "report/outcome.hpp"

namespace trireme {

struct SolveRecords {
  // `systems`: right-hand sides or steps. `shows_columns`: the report has each right-hand side.
  SolveRecords(std::size_t systems, bool shows_columns)
      : residuals(systems), errors(systems), columns(shows_columns ? systems : 0) {}

  // A solve of system k has ended. The norms of `result` become relative to `unit`.
  void add(std::size_t k, KspResult&& result, double relative_residual, double unit);
  // Keeps the worst residual in the scale of the rows.
  void add_rows(const TrueResidual& residual);
  // A solve was of b times 2^-exponent.
  void add_exponent(int exponent) {
    if (exponent != 0) rhs_exponent = exponent;
  }
  // The guess of system k, with this residual relative to ||b||, was not used.
  void add_worse_guess(std::size_t k, std::string name, double relative_residual) {
    worse_guesses.push_back({k, std::move(name), relative_residual});
  }
  // Fills in all but what steps, blocks and the plan decide, and leaves this empty. `is_sequence`:
  // the systems are steps. `error_is_known`: the solutions are.
  void fill(RunOutcome& o, bool is_sequence, bool error_is_known);

  struct WorseGuess {
    std::size_t k;
    std::string name;
    double residual;  // relative to ||b||
  };

  std::vector<double> residuals, errors;  // of the latest solution of each system
  std::vector<ColumnOutcome> columns;     // likewise
  std::optional<double> row_residual;     // the worst one in the scale of the rows
  std::string row_note;                   // about it, where it says more than the other one
  std::vector<WorseGuess> worse_guesses;
  std::vector<std::size_t> again;  // right-hand sides, from 1, that an earlier run had not solved
  std::vector<double> history, each_seconds;  // of the last solve; of each solve
  Verdict verdict;                            // of the first solve that failed, or of the last
  KspFacts facts;                             // of the last solve
  int rhs_exponent = 0;                       // the last one that is not 0
  double seconds = 0;
  std::int64_t iterations = 0;        // of the last solve
  std::int64_t total_iterations = 0;  // of this run
  std::int64_t copies = 0;            // of vectors between host and GPU, by PETSc

 private:
  void note_corrections(RunOutcome& o) const;
  void note_worse_guesses(RunOutcome& o, bool is_sequence) const;
};

}  // namespace trireme
