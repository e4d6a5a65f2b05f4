// SPDX-License-Identifier: BSD-3-Clause
// Fingerprints add up over ranks, so that they do not depend on how the rows are distributed.
#include "app/run_identity.hpp"

#include <fmt/ranges.h>

#include <cctype>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "io/fingerprint.hpp"
#include "petsc/session.hpp"

namespace trireme {
namespace {

std::string describe(const MultigridSpec& m) {
  return fmt::format("{} {} {} {} {} {} {} {}", to_string(m.smoother), m.degree, to_string(m.cycle),
                     m.threshold, m.smoothed_prolongator ? "smoothed" : "plain", m.fill,
                     m.aggressive_levels, to_string(m.precision));
}

// PETSc's options from all places, but for those that only print.
std::string options_that_decide() {
  std::istringstream all(PetscSession::all_options());
  std::string text;
  bool decides = true;
  for (std::string word; all >> word;) {
    const bool is_name = word.size() > 1 && word[0] == '-' && std::isalpha(word[1]) != 0;
    const auto has = [&](const char* part) { return word.find(part) != std::string::npos; };
    if (is_name) decides = !has("monitor") && !has("view") && !has("log") && !has("reason");
    if (decides) text += word + " ";
  }
  return text;
}

}  // namespace

MatrixIdentity identity_of(MPI_Comm comm, const Problem& problem) {
  return {.pattern = pattern_fingerprint(comm, problem.matrix, problem.hashes),
          .values = values_fingerprint(comm, problem.matrix, problem.hashes)};
}

RunIdentity identity_of(MPI_Comm comm, const Case& c, const Problem& problem,
                        const MatrixIdentity& matrix) {
  const std::int64_t first = problem.matrix.first_row;
  std::uint64_t b = 0;
  for (std::size_t k = 0; k < problem.rhs.size(); ++k)
    b += fingerprint(problem.rhs[k], first, static_cast<std::int64_t>(k));
  const std::uint64_t x0 = problem.x0 ? fingerprint(*problem.x0, first) : 0;
  const auto fingerprints = [&](std::int64_t count, std::uint64_t of_this_rank) {
    return fmt::format("{}, {:016x}", count, sum_of_fingerprints(comm, of_this_rank));
  };
  std::vector<std::string_view> precisions;
  for (const Precision precision : c.precisions) precisions.push_back(to_string(precision));
  RunIdentity parts = {
      {"the matrix",
       fmt::format("{}, {:016x}{:016x}", problem.matrix.global_rows, matrix.pattern, matrix.values),
       false},
      {"b", fingerprints(std::ssize(problem.rhs), b), false},
      {"x0", fingerprints(problem.x0 ? 1 : 0, x0), false},
      {"solver.method", c.solver.method},
      {"solver.engine", std::string(to_string(c.solver.engine))},
      {"solver.preconditioner", c.solver.preconditioner},
      {"solver.rtol", fmt::format("{}", c.solver.rtol)},
      {"solver.norm", std::string(to_string(c.solver.norm))},
      {"solver.atol", fmt::format("{}", c.solver.atol)},
      {"kernel", fmt::format("{}", fmt::join(c.kernels, ", "))},
      {"precision", fmt::format("{}", fmt::join(precisions, ", "))},
      {"repeat", fmt::format("{}", c.repeat)},
      {"petsc", options_that_decide()}};
  if (c.solver.preconditioner == kMultigrid)
    parts.push_back({"solver.multigrid", describe(c.solver.multigrid)});
  return parts;
}

}  // namespace trireme
