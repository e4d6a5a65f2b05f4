// SPDX-License-Identifier: BSD-3-Clause
// Prints report.json of the sample outcome, with a failed run, for the schema test; with the
// argument html, report.html of the same for the browser.
#include <cstdio>
#include <limits>
#include <string_view>

#include "report/report.hpp"
#include "report/sample_outcome.hpp"

int main(int argc, char** argv) {
  trireme::CaseOutcome outcome = trireme::test::sample_outcome();
  trireme::RunOutcome& failed = outcome.runs.back();
  failed.converged = false;
  failed.exit_code = trireme::ExitCode::breakdown;
  failed.relative_residual = std::numeric_limits<double>::quiet_NaN();
  failed.relative_error = std::nullopt;
  failed.bandwidth_fraction = std::nullopt;
  failed.notes = {"a note"};
  failed.history.push_back(failed.relative_residual);
  outcome.refused = {{"ell", "a reason"}};
  const bool html = argc > 1 && std::string_view(argv[1]) == "html";
  std::fputs((html ? trireme::html_report(outcome) : trireme::json_report(outcome)).c_str(),
             stdout);
}
