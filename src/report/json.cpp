// SPDX-License-Identifier: BSD-3-Clause
// report.json, schema 1. Names carry the unit; NaN and unknown values are null.
#include <nlohmann/json.hpp>

#include "report/report.hpp"

namespace trireme {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json problem(const ProblemDescription& p) {
  return {{"name", p.name}, {"generated", p.generated},
          {"rows", p.rows}, {"cols", p.cols},
          {"nnz", p.nnz},   {"rhs", p.rhs}};
}

Json machine(const MachineDescription& m) {
  return {
      {"host", m.host},
      {"cpu", m.cpu},
      {"gpu", m.gpu},
      {"simd", m.simd},
      {"ranks", m.ranks},
      {"threads_per_rank", m.threads_per_rank},
      {"triad_gbytes_per_s", m.triad_gbytes_per_s},
      {"versions", {{"trireme", m.trireme}, {"petsc", m.petsc}, {"hdf5", m.hdf5}, {"mpi", m.mpi}}}};
}

Json kernel_time(const KernelTiming& t) {
  return {{"count", t.count}, {"mean", t.mean}, {"median", t.median},
          {"p95", t.p95},     {"min", t.min},   {"max", t.max}};
}

Json run_json(const RunOutcome& run) {
  return {{"kernel", run.kernel},
          {"device", to_string(run.device)},
          {"precision", to_string(run.precision)},
          {"method", run.method},
          {"engine", to_string(run.engine)},
          {"preconditioner", run.preconditioner},
          {"ranks", run.ranks},
          {"rtol", run.rtol},
          {"converged", run.converged},
          {"exit_code", static_cast<int>(run.exit_code)},
          {"reason", run.reason},
          {"petsc_reason", run.petsc_reason},
          {"iterations", run.iterations},
          {"corrections", optional(run.corrections)},
          {"relative_residual", run.relative_residual},
          {"relative_error", optional(run.relative_error)},
          {"seconds",
           {{"read", run.seconds.read},
            {"build", run.seconds.build},
            {"upload", run.seconds.upload},
            {"setup", run.seconds.setup},
            {"solve", run.seconds.solve}}},
          {"solve_seconds", run.solve_seconds},
          {"kernel_us", kernel_time(run.kernel_us)},
          {"iteration_us", run.iteration_us},
          {"gflops", run.gflops},
          {"gbytes_per_s", run.gbytes_per_s},
          {"bandwidth_fraction", optional(run.bandwidth_fraction)},
          {"padding", run.padding},
          {"bytes", run.bytes},
          {"peak_memory_bytes", run.peak_memory},
          {"peak_memory_over_csr", run.peak_memory_over_csr},
          {"break_even_products", optional(run.break_even_products)},
          {"deterministic", run.deterministic},
          {"notes", run.notes},
          {"history", run.history}};
}

}  // namespace

std::string json_report(const CaseOutcome& outcome) {
  Json runs = Json::array();
  for (const RunOutcome& run : outcome.runs) runs.push_back(run_json(run));
  const Json report = {{"schema", kSchema},
                       {"problem", problem(outcome.problem)},
                       {"machine", machine(outcome.machine)},
                       {"runs", std::move(runs)},
                       {"not_run", outcome.not_run}};
  // File names need not be UTF-8; JSON must be.
  return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace trireme
