// SPDX-License-Identifier: BSD-3-Clause
// All results of a study -> one table per figure: problems by variants, ratios to the baseline and
// their geometric means.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/expand.hpp"
#include "study/figures.hpp"
#include "study/record.hpp"
#include "study/study.hpp"

namespace trireme::study {

// One kernel of one run, or a run that has no figures.
struct Result {
  Value settings;
  std::int64_t repetition = 1;
  std::optional<Record> record;  // empty: it has not run
  Finding finding;
  std::string failure;  // in a word: "time", "signal 11", "exit 4"; empty: the figures count
  std::string reason;   // in a sentence
};

// The results of one run. A run whose report compares several kernels has one result per kernel,
// whose settings then name the kernel and the precision. A run of products has one result per
// kernel, also for those that refused the matrix.
std::vector<Result> results_of(const Study& study, const StudyRun& run,
                               const std::optional<Record>& record);

// The repetitions of one variant on one problem.
struct Cell {
  std::optional<double> figure;  // the median; empty: a repetition failed, or none has run
  double spread = 0;             // (maximum - minimum) / median
  int repetitions = 0;           // that the median is of
  // The figure of the baseline over this figure, so that above 1 is better; the reverse with
  // Study::speed_up_of_baseline.
  std::optional<double> ratio;
  // This figure over the best one, less 1. The best one is of the runs on the same problem with the
  // same settings but for the keys of the baseline.
  std::optional<double> behind;
  std::string failure;  // the first one, in a word
};

struct Row {
  std::string label;
  std::int64_t rows = 0, nnz = 0;  // 0: unknown
  std::vector<Cell> cells;         // one per variant
};

// What a column comes to.
struct Mean {
  int count = 0;  // of the ratios; the others below are 0 where there is none
  double geometric = 0, least = 0, greatest = 0;
  int best = 0;                             // cells that are not behind
  double behind_p95 = 0, behind_worst = 0;  // of the cells that have a figure
  int failed = 0;                           // cells
};

struct Table {
  const Figure* figure = nullptr;
  std::vector<Row> rows;
  std::vector<Mean> means;  // one per variant
};

struct Failure {
  std::string variant;  // or several: "csr, albus", "every variant"
  std::string reason;
  std::vector<std::string> rows;  // labels
};

struct Summary {
  std::string name;                   // of the study
  std::vector<std::string> variants;  // labels
  std::string baseline;               // label; empty: there is none
  bool speed_up_of_baseline = false;  // as in Study
  std::int64_t repeat = 1;
  std::vector<Table> tables;
  std::vector<Failure> failures;
  std::size_t runs = 0, done = 0, failed = 0;  // processes; a failed one is done
};

Summary summarise(const Study& study, const std::vector<Result>& results);

}  // namespace trireme::study
