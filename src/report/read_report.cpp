// SPDX-License-Identifier: BSD-3-Clause
// By the tables of figures, and by hand where a table computes what it writes.
#include "report/read_report.hpp"

#include <fstream>

#include "base/error.hpp"
#include "report/figures.hpp"

namespace trireme {
namespace {

// The value at a place of the file goes into a member; where it is null or missing, the member
// stays.
template <class T>
void read_at(const json::Json& object, const char* place, T& member) {
  const json::Json::json_pointer at(place);
  if (!object.contains(at) || object[at].is_null()) return;
  try {
    json::read_value(object[at], member);
  } catch (const json::WrongFigure&) {
    throw json::WrongFigure(place + 1);
  }
}

void read_problem(const json::Json& report, CaseOutcome& outcome) {
  ProblemDescription& p = outcome.problem;
  read_at(report, "/problem/name", p.name);
  read_at(report, "/problem/generated", p.generated);
  read_at(report, "/problem/rows", p.rows);
  read_at(report, "/problem/cols", p.cols);
  read_at(report, "/problem/nnz", p.nnz);
  read_at(report, "/problem/rhs", p.rhs);
  read_at(report, "/problem/x0", p.x0);
  read_at(report, "/problem/looks", p.looks);
  read_at(report, "/problem/pattern_hash", outcome.pattern_hash);
  read_at(report, "/problem/values_hash", outcome.values_hash);
}

void read_versions(const json::Json& report, MachineDescription& m) {
  read_at(report, "/machine/versions/trireme", m.trireme);
  read_at(report, "/machine/versions/petsc", m.petsc);
  read_at(report, "/machine/versions/hdf5", m.hdf5);
  read_at(report, "/machine/versions/mpi", m.mpi);
  read_at(report, "/machine/versions/commit", m.commit);
  read_at(report, "/machine/versions/compiler", m.compiler);
  read_at(report, "/machine/versions/cuda", m.cuda);
  read_at(report, "/machine/versions/driver", m.driver);
}

void read_exit_codes(const json::Json& report, CaseOutcome& outcome) {
  for (std::size_t r = 0; r < outcome.runs.size(); ++r) {
    int code = static_cast<int>(outcome.runs[r].exit_code);
    read_at(report["runs"][r], "/exit_code", code);
    outcome.runs[r].exit_code = static_cast<ExitCode>(code);
  }
}

// Charts index cells by these numbers.
void require_sizes(const PatternPicture& p) {
  constexpr std::int64_t kMostCells = 4096;
  constexpr std::size_t kMostLengths = 63;
  const bool fits = p.cells >= 0 && p.cells <= kMostCells &&
                    std::ssize(p.density) == p.cells * p.cells &&
                    p.row_lengths.size() <= kMostLengths;
  if (!fits) throw json::WrongFigure("pattern");
}

}  // namespace

nlohmann::json parsed_report(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) fail(ExitCode::input, "'{}' cannot be read; name a report.json", path.string());
  nlohmann::json report = nlohmann::json::parse(file, nullptr, false);
  const auto has = [&](const char* key, nlohmann::json::value_t type) {
    return report.contains(key) && report[key].type() == type;
  };
  const bool good = report.is_object() && report.contains("schema") &&
                    report["schema"].is_number_integer() &&
                    has("problem", nlohmann::json::value_t::object) &&
                    has("machine", nlohmann::json::value_t::object) &&
                    has("runs", nlohmann::json::value_t::array);
  if (!good)
    fail(ExitCode::input, "'{}' is no report.json of solve; name the report.json of a run",
         path.string());
  return report;
}

CaseOutcome read_report(const std::filesystem::path& path) {
  const json::Json report = parsed_report(path);
  CaseOutcome outcome;
  try {
    json::read_object(report, outcome);
    read_problem(report, outcome);
    read_versions(report, outcome.machine);
    read_exit_codes(report, outcome);
    read_at(report, "/pattern", outcome.pattern);
    require_sizes(outcome.pattern);
  } catch (const json::WrongFigure& e) {
    fail(ExitCode::input, "'{}': {} is not what a report.json has there", path.string(), e.what());
  }
  return outcome;
}

}  // namespace trireme
