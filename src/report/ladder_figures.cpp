// SPDX-License-Identifier: BSD-3-Clause
// The figures of "ladder" of a run in report.json.
#include "report/figures.hpp"

namespace trireme::json {

template <>
const Figures<RungOutcome>& figures() {
  static const Figures<RungOutcome> table = {
      {"method", "", "as in a case", &RungOutcome::method, not_empty()},
      {"preconditioner", "", "as in a case", &RungOutcome::preconditioner, not_empty()},
      {"scaling", "", "of the system that the method worked on", &RungOutcome::scaling},
      {"why", "", "why it came next", &RungOutcome::why},
      {"ran", "", "false: it was passed over or could not run", &RungOutcome::ran},
      {"solved", "", "every system of the case", &RungOutcome::solved},
      {"iterations", "1", "of its last solve", &RungOutcome::iterations},
      {"relative_residual", "1", "true: ||b - A x|| / ||b||, as of a run; null: not known",
       &RungOutcome::relative_residual},
      {"seconds", "s", "with all that was set up for it", &RungOutcome::seconds},
      {"verdict", "", "how it ended, in words", &RungOutcome::verdict}};
  return table;
}

template <>
const Figures<LadderOutcome>& figures() {
  static const Figures<LadderOutcome> table = {
      {"seen", "", "of the matrix, in words", &LadderOutcome::seen, not_empty()},
      {"look_seconds", "s", "what looking at the matrix took", &LadderOutcome::look_seconds},
      {"began_at", "", "why the first rung was not that of the rule; empty: it was",
       &LadderOutcome::began_at},
      {"rungs", "", "in the order in which they were tried", &LadderOutcome::rungs}};
  return table;
}

}  // namespace trireme::json
