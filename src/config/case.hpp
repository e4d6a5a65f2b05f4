// SPDX-License-Identifier: BSD-3-Clause
// A validated case.yaml as plain structs; the defaults here are the documented ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/choices.hpp"
#include "solvers/methods/method.hpp"
#include "solvers/preconditioners/any_preconditioner.hpp"
#include "sparse/generators.hpp"
#include "sparse/row_blocks.hpp"

namespace trireme {

// In place of the name of a dataset that would be read where the file has it.
inline constexpr std::string_view kNoDataset = "none";

struct Dataset {
  std::string name;  // "/b"
  bool operator==(const Dataset&) const = default;
};

// Vectors in a file of their own, of any format that holds vectors (io/formats.hpp).
struct VectorFile {
  std::filesystem::path file;
  std::string name = "/b";  // dataset in an HDF5 file; files of other formats hold /b alone
  bool operator==(const VectorFile&) const = default;
};

using InitialGuess = std::variant<Dataset, VectorFile>;

// A system that is read. Dataset names begin with '/'.
struct SystemFile {
  std::filesystem::path file;      // absolute, or relative to the current directory
  std::string matrix = "/A";       // HDF5 group
  std::optional<InitialGuess> x0;  // empty: /x0 where the file has it; kNoDataset: zero
  std::string x_exact;             // dataset to compare the solution with; empty: unknown
  // Datasets from which multigrid gets its near-nullspace vectors: at most one is named. Empty:
  // /coordinates and /near_nullspace where the file has them. kNoDataset: the file's is left aside.
  std::string coordinates = {};
  std::string near_nullspace = {};
};

// A right-hand side that is computed. from_ones is b = A 1, so that the solution is known.
enum class MadeRhs { ones, random, from_ones };
template <>
struct WordsOf<MadeRhs> {
  static constexpr Word<MadeRhs> all[] = {
      {"ones", MadeRhs::ones}, {"random", MadeRhs::random}, {"from-ones", MadeRhs::from_ones}};
};

// The kernel that is PETSc's own matrix and product; all others are those of kernels/registry.hpp.
inline constexpr std::string_view kPetscAij = "petsc-aij";

using RightHandSide = std::variant<MadeRhs, Dataset, VectorFile>;

// `name`: of the dataset where the text names none.
inline VectorFile parse_vector_file(const std::string& text, const std::string& name = "/b") {
  const std::size_t colon = text.rfind(":/");
  if (colon == std::string::npos) return {.file = text, .name = name};
  return {.file = text.substr(0, colon), .name = text.substr(colon + 1)};
}

// A dataset begins with '/'. What is neither that nor a word of MadeRhs is a file, "b.mtx" or
// "other.h5:/c".
inline RightHandSide parse_right_hand_side(const std::string& text) {
  if (text.starts_with('/')) return Dataset{text};
  if (const auto made = choice_of<MadeRhs>(text)) return *made;
  return parse_vector_file(text);
}

// Likewise; `none` is taken as the name of a dataset.
inline InitialGuess parse_initial_guess(const std::string& text) {
  if (text.starts_with('/') || text == kNoDataset) return Dataset{text};
  return parse_vector_file(text, "/x0");
}

inline std::string to_string(const RightHandSide& rhs) {
  if (const auto* dataset = std::get_if<Dataset>(&rhs)) return dataset->name;
  if (const auto* made = std::get_if<MadeRhs>(&rhs)) return std::string(to_string(*made));
  return std::get<VectorFile>(rhs).file.filename().string();
}

// One entry of problem.steps as it is written. Where `count` is given, the entry stands for that
// many steps, and "{}" in `file` and in names of datasets stands for their numbers.
struct StepEntry {
  std::filesystem::path file;        // empty: problem.file
  std::string matrix;                // group of a whole matrix; empty: not named
  std::string values;                // dataset of new values of the nonzeros; empty: not named
  std::optional<RightHandSide> rhs;  // empty: not named
  std::int64_t count = 0;            // 0: not given, the entry is one step
  std::int64_t from = 0;             // number of the first of `count` steps
  std::string place;                 // in the case, for messages
};

struct ProblemSpec {
  std::variant<SystemFile, GenerateSpec> source;
  // Empty, auto: /b where the source has it, else from_ones.
  std::optional<RightHandSide> rhs;
  std::int64_t rhs_count = 1;      // right-hand sides that are made; more than 1: MadeRhs::random
  std::vector<StepEntry> steps;    // empty: one system; config/steps.hpp expands it
  std::int64_t rows_together = 1;  // no key: blocks of this many rows stay on one rank
  bool with_modes = false;         // no key: whether Problem::modes is wanted
  std::int64_t most_of_block = kNonzerosOfBlock;  // no key: tests make blocks of fewer nonzeros

  bool generated() const { return std::holds_alternative<GenerateSpec>(source); }
};

// The first guess of each step of a sequence but the first.
enum class Guess {
  previous,  // the solution of the step before
  zero,
  extrapolate  // 2 x[k-1] - x[k-2], the line through the last two solutions
};
template <>
struct WordsOf<Guess> {
  static constexpr Word<Guess> all[] = {
      {"previous", Guess::previous}, {"zero", Guess::zero}, {"extrapolate", Guess::extrapolate}};
};

// When the preconditioner takes the new values of a step.
enum class Renew {
  adaptive,  // when the iterations beyond those of a new one have taken longer than renewing takes
  always,
  never
};
template <>
struct WordsOf<Renew> {
  static constexpr Word<Renew> all[] = {
      {"adaptive", Renew::adaptive}, {"always", Renew::always}, {"never", Renew::never}};
};

// Which norm of b - A x must be small, in relation to that of b. Where the rows of the matrix have
// like sizes, all three are the norm of the residual.
enum class SmallNorm {
  both,
  residual,  // b - A x as it is
  rows       // with each row divided by its size
};
template <>
struct WordsOf<SmallNorm> {
  static constexpr Word<SmallNorm> all[] = {
      {"both", SmallNorm::both}, {"residual", SmallNorm::residual}, {"rows", SmallNorm::rows}};
};

using solvers::AnyPreconditioner;

// The options of preconditioner multigrid, with the defaults of multigrid/options.hpp.
struct MultigridSpec {
  // Empty, auto: chebyshev with methods for symmetric matrices, jacobi with others.
  std::optional<Smoother> smoother;
  std::int64_t degree = 2;  // products of one smoothing
  CycleKind cycle = CycleKind::v;
  double threshold = 0.25;                 // of strong connections
  bool smoothed_prolongator = true;        // false: plain aggregation
  double fill = 0.7;                       // most nonzeros of a coarse matrix over the finer one's
  std::int64_t aggressive_levels = 0;      // finest levels that are coarsened twice at once
  Precision precision = Precision::mixed;  // of the matrix values of all levels
  bool operator==(const MultigridSpec&) const = default;
};

inline constexpr std::string_view kFirstMethod = "cg";
// The preconditioners that are factors of the whole matrix, as PETSc calls them.
inline constexpr std::string_view kLu = "lu", kCholesky = "cholesky";
inline bool is_complete_factorisation(const AnyPreconditioner& preconditioner) {
  return preconditioner.name() == kLu || preconditioner.name() == kCholesky;
}

struct SolverSpec {
  // Of solvers/methods/list.hpp, kDirect, or any PETSc KSP name; kAuto: app/ladder chooses.
  std::string method = std::string(kAuto);
  std::optional<Engine> engine;  // empty: auto
  // Empty, auto: the run begins with first_preconditioner(), and changes where another one pays.
  // A case that names neither this nor a method has auto.
  std::optional<AnyPreconditioner> preconditioner{solvers::PreconditionerKind::jacobi};
  MultigridSpec multigrid;       // used by preconditioner multigrid
  bool measure_variant = false;  // no key: `reproducible: false` has timings choose CG's variant
  double rtol = 1e-8;            // of ||b||, unpreconditioned residual
  double atol = 0;               // in units of b
  SmallNorm norm = SmallNorm::both;
  std::optional<Scaling> scaling;  // empty: auto, which is none
  std::int64_t max_iterations = 10000;
  std::int64_t restart = solvers::MethodOptions().restart;  // of gmres
  Guess guess = Guess::previous;                            // of the steps of a sequence
  Renew renew = Renew::adaptive;                            // likewise
  std::optional<std::int64_t> block;  // right-hand sides that are solved at once; empty: auto

  bool chooses_method() const { return method == kAuto; }
  // The method of a solver for which no ladder has chosen one.
  std::string first_method() const { return chooses_method() ? std::string(kFirstMethod) : method; }
  bool is_direct() const { return method == kDirect; }
  bool is_scaled() const { return scaling.value_or(Scaling::none) != Scaling::none; }
  // Whether the factors of the direct method are those that the case names, not those that fit the
  // matrix.
  bool names_factors() const {
    return preconditioner && is_complete_factorisation(*preconditioner);
  }
  // Whether the run looks for a preconditioner.
  bool chooses_preconditioner() const { return !preconditioner && !is_direct(); }
  AnyPreconditioner first_preconditioner() const {
    if (is_direct() && !names_factors()) return AnyPreconditioner(kLu);
    return preconditioner.value_or(AnyPreconditioner(solvers::PreconditionerKind::jacobi));
  }
};

struct ReportSpec {
  std::filesystem::path directory = "results";  // relative to the current directory
  std::vector<ReportFormat> formats = {ReportFormat::json};
  bool solution = true;   // write solution.h5
  double checkpoint = 0;  // seconds between two writes of state.h5; 0: none
  bool resume = false;    // no key: go on from state.h5
};

// The cache on disk; see docs/caching.md. No key: the command line of solve sets it.
struct CacheSpec {
  bool use = false;
  std::filesystem::path directory;  // empty: default_cache_directory()
};

struct Case {
  std::filesystem::path path;  // of the YAML file, for messages
  std::string text;            // the file as read and what overrode it: kept with the results
  ProblemSpec problem;
  SolverSpec solver;
  std::vector<std::string> kernels = {std::string(kAuto)};  // several are compared in one run
  std::optional<Device> device;                             // empty: auto
  std::vector<std::optional<Precision>> precisions = {{}};  // compared in one run; empty: auto
  bool names_precision(Precision precision) const {
    return std::ranges::any_of(precisions, [&](const auto& asked) { return asked == precision; });
  }
  std::int64_t repeat = 1;  // solves on the same matrix
  // kernel: auto takes only kernels whose sums are the same bits from run to run, and no timing
  // chooses the variant of CG.
  bool reproducible = true;
  std::optional<Ordering> ordering;          // of rows; empty: auto
  std::optional<Distribution> distribution;  // of rows over ranks; empty: auto
  ReportSpec report;
  CacheSpec cache;
  std::vector<std::pair<std::string, std::string>> petsc;  // option without '-', value
};

}  // namespace trireme
