// SPDX-License-Identifier: BSD-3-Clause
// The looks, the rungs, and what complete factors are expected to cost.
#include "app/ladder/explain.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <sstream>

#include "app/ladder/case_rungs.hpp"
#include "app/system/loaded_system.hpp"
#include "petsc/factors/direct_forecast.hpp"
#include "report/words.hpp"

namespace trireme {
namespace {

// Every line wrapped, within its indentation.
std::string in_lines(const std::string& text) {
  std::string lines, line;
  for (std::istringstream rest(text); std::getline(rest, line);) {
    const std::size_t indented = line.find_first_not_of(' ');
    lines += line.substr(0, indented) +
             words::wrap(line.substr(indented), words::kTextWidth - indented, indented + 3) + "\n";
  }
  return lines;
}

std::string scaling_in_words(Scaling scaling) {
  return scaling == Scaling::none ? "" : fmt::format(" and scaling {}", to_string(scaling));
}

// "2. gmres with ilu and scaling matching: why"
std::string line_of(const Rung& rung, std::size_t number) {
  const std::string with =
      rung.is_direct() && !rung.preconditioner ? "" : " with " + rung.preconditioner_word();
  return fmt::format("  {}. {}{}{}: {}{}", number, rung.method, with,
                     scaling_in_words(rung.scaling), rung.why,
                     rung.serves == RungFor::indefinite ? "; left out unless CG finds it" : "");
}

// What the analysis of MUMPS or cuDSS expects; empty where neither is there. Collective.
std::string cost_of_factors(const std::shared_ptr<DistributedMatrix>& matrix, bool on_gpu) {
  const auto forecast = forecast_direct(matrix, look_at(*matrix).symmetric(), on_gpu);
  if (!forecast) return "";
  return fmt::format("; expected: {} nonzeros, {:.2g} MB, analysis {}, factors {}, a solve {}{}",
                     words::count(static_cast<std::int64_t>(forecast->nonzeros)),
                     1e-6 * forecast->bytes, words::seconds(forecast->analysis_seconds),
                     words::seconds(forecast->factor_seconds),
                     words::seconds(forecast->solve_seconds),
                     forecast->fits ? "" : ", which is more memory than is left: passed over");
}

}  // namespace

std::string explain_case(MPI_Comm comm, const Case& c) {
  StartClock clock;
  const RankZero nobody(comm, nullptr);
  CaseOutcome outcome;
  LoadedSystem system(comm, c, nobody, clock, outcome);
  const std::shared_ptr<DistributedMatrix>& matrix = system.matrix();
  const MatrixLook& look = look_at(*matrix);
  std::string text = words::problem(outcome.problem) + "\nA is " + words_of(look);
  if (const std::string closer = words_of(look_closer(*matrix)); !closer.empty())
    text += "; " + closer;

  Case asked = c;
  if (c.solver.chooses_method()) {
    text += "\nmethod: auto takes these in turn, until a residual holds:\n";
  } else {
    text += fmt::format(
        "\nthe case names method {}, which is taken whatever the matrix is; method: auto would "
        "take these in turn, until a residual holds:\n",
        c.solver.method);
    asked.solver.method = std::string(kAuto);
    asked.solver.preconditioner.reset();
  }
  const std::vector<Rung> rungs = rungs_for(asked, look);
  for (std::size_t k = 0; k < rungs.size(); ++k) {
    std::string line = line_of(rungs[k], k + 1);
    if (rungs[k].is_direct()) line += cost_of_factors(matrix, system.begins_on_gpu());
    text += line + "\n";
  }
  const auto known = c.solver.chooses_method()
                         ? system.cached().cache.find_number(rung_key(c, outcome))
                         : std::nullopt;
  if (known && *known > 0 && *known < std::ssize(rungs))
    text += fmt::format("it begins with {}, with which an earlier run has ended\n", *known + 1);
  return in_lines(text);
}

}  // namespace trireme
