// SPDX-License-Identifier: BSD-3-Clause
// report.json, schema 2: the file, the problem and the machine. Names carry the unit; NaN and
// unknown values are null.
#include "report/json.hpp"

#include "report/report.hpp"

namespace trireme {
namespace {

using json::Json;

constexpr int kSchema = 2;

Json known(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json problem(const CaseOutcome& outcome) {
  const ProblemDescription& p = outcome.problem;
  return {{"name", p.name},
          {"generated", p.generated},
          {"rows", p.rows},
          {"cols", p.cols},
          {"nnz", p.nnz},
          {"rhs", p.rhs},
          {"x0", known(p.x0)},
          {"pattern_hash", known(outcome.pattern_hash)},
          {"values_hash", known(outcome.values_hash)}};
}

Json nodes(const MachineDescription& m) {
  Json list = Json::array();
  for (const NodeDescription& node : m.nodes)
    list.push_back({{"host", node.host}, {"ranks", node.ranks}});
  return list;
}

Json machine(const MachineDescription& m) {
  return {
      {"host", m.host},
      {"nodes", nodes(m)},
      {"cpu", m.cpu},
      {"gpu", m.gpu},
      {"simd", m.simd},
      {"ranks", m.ranks},
      {"threads_per_rank", m.threads_per_rank},
      {"triad_gbytes_per_s", m.triad_gbytes_per_s},
      {"best_gbytes_per_s", m.best_gbytes_per_s},
      {"gpu_gbytes_per_s", m.gpu_gbytes_per_s},
      {"versions", {{"trireme", m.trireme}, {"petsc", m.petsc}, {"hdf5", m.hdf5}, {"mpi", m.mpi}}}};
}

Json refused(const CaseOutcome& outcome) {
  Json list = Json::array();
  for (const RefusedRun& run : outcome.refused)
    list.push_back({{"kernel", run.kernel}, {"reason", run.reason}});
  return list;
}

Json start(const StartSeconds& s) {
  return {{"libraries", s.libraries}, {"device", s.device}, {"read", s.read},   {"check", s.check},
          {"split", s.split},         {"upload", s.upload}, {"build", s.build}, {"tune", s.tune},
          {"setup", s.setup},         {"total", s.total}};
}

Json pattern(const PatternPicture& p) {
  if (p.cells == 0) return nullptr;
  return {{"cells", p.cells}, {"density", p.density}, {"row_lengths", p.row_lengths}};
}

}  // namespace

std::string json_report(const CaseOutcome& outcome) {
  Json runs = Json::array();
  for (const RunOutcome& run : outcome.runs) runs.push_back(json::run(run));
  const Json report = {{"schema", kSchema},
                       {"problem", problem(outcome)},
                       {"machine", machine(outcome.machine)},
                       {"start_seconds", start(outcome.start)},
                       {"distribution", json::distribution(outcome.distribution)},
                       {"runs", std::move(runs)},
                       {"refused", refused(outcome)},
                       {"not_run", outcome.not_run},
                       {"account", json::account(outcome)},
                       {"pattern", pattern(outcome.pattern)},
                       {"case", outcome.case_text},
                       {"command", outcome.command}};
  // File names need not be UTF-8; JSON must be.
  return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace trireme
