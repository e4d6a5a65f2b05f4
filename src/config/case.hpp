// SPDX-License-Identifier: BSD-3-Clause
// A validated case.yaml as plain structs; the defaults here are the documented ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sparse/generators.hpp"

namespace trireme {

struct ProblemSpec {
  // Exactly one of file and generate. A relative file is relative to the case's folder; here the
  // two are already joined.
  std::optional<std::filesystem::path> file;
  std::optional<GenerateSpec> generate;
  std::string matrix = "/A";       // HDF5 group
  std::string rhs = "from-ones";   // an HDF5 dataset ("/b"), or ones | random | from-ones (b = A 1)
  std::string x0;                  // an HDF5 dataset, or empty: start from zero
  std::string x_exact;             // an HDF5 dataset to compare with, or empty
  std::int64_t rows_together = 1;  // no key: blocks of so many rows stay on one rank
};

struct SolverSpec {
  std::string method = "cg";              // cg | bicgstab | any PETSc KSP name
  std::string engine = "auto";            // petsc | resident | auto
  std::string preconditioner = "jacobi";  // none | jacobi | any PETSc PC name
  double rtol = 1e-8;                     // of ||b||, unpreconditioned residual
  double atol = 0;                        // in units of b
  std::int64_t max_iterations = 10000;
};

struct ReportSpec {
  std::filesystem::path directory = "results";  // relative to the current directory
  std::vector<std::string> formats = {"json"};  // json | csv | html
  bool solution = true;                         // write solution.h5
  double checkpoint = 0;                        // seconds between two writes of state.h5; 0: none
  bool resume = false;                          // no key: go on from state.h5
};

struct Case {
  std::filesystem::path path;  // of the YAML file, for messages
  std::string text;            // the file as read and what overrode it: kept with the results
  ProblemSpec problem;
  SolverSpec solver;
  std::vector<std::string> kernels = {"auto"};       // more than one: compared in one run
  std::string device = "auto";                       // cpu | cuda | auto
  std::vector<std::string> precisions = {"double"};  // double | mixed; both: compared in one run
  std::int64_t repeat = 1;                           // solves on the same matrix
  ReportSpec report;
  std::vector<std::pair<std::string, std::string>> petsc;  // option without '-', value
};

}  // namespace trireme
