// SPDX-License-Identifier: BSD-3-Clause
// Fingerprints add up over ranks, so that they do not depend on how the rows are distributed.
#include "app/kept/run_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "app/kept/settings_of.hpp"
#include "io/fingerprint.hpp"

namespace trireme {
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
  RunIdentity parts = {
      {"the matrix",
       fmt::format("{}, {:016x}{:016x}", problem.matrix.global_rows, matrix.pattern, matrix.values),
       false},
      {"b", fingerprints(std::ssize(problem.rhs), b), false},
      {"x0", fingerprints(problem.x0 ? 1 : 0, x0), false}};
  for (KeyValue& setting : settings_that_are(PartOf::resumed_run, c))
    parts.push_back({std::string(setting.path), std::move(setting.value)});
  return parts;
}

RunIdentity with_settings_of(const Case& c, RunIdentity identity) {
  for (KeyValue& setting : settings_that_are(PartOf::resumed_run, c)) {
    const auto part = std::ranges::find(identity, setting.path, &RunPart::name);
    if (part != identity.end()) part->value = std::move(setting.value);
  }
  return identity;
}

}  // namespace trireme
