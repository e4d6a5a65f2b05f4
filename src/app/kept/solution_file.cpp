// SPDX-License-Identifier: BSD-3-Clause
// The solution with what it is the solution of, and the names of the files.
#include "app/kept/solution_file.hpp"

#include <string>
#include <system_error>

#include "config/steps.hpp"
#include "io/result.hpp"
#include "kernels/registry.hpp"
#include "parallel/collective.hpp"
#include "petsc/session.hpp"

namespace trireme {

void make_directory(MPI_Comm comm, const std::filesystem::path& folder) {
  collectively(comm, [&] {
    std::error_code error;
    if (rank_of(comm) == 0) std::filesystem::create_directories(folder, error);
    if (error)
      fail(ExitCode::usage, "cannot make the report directory {}: {}", folder.string(),
           error.message());
  });
}

void write_solution(MPI_Comm comm, const Case& c, const KernelRun& run, const RowRange& rows,
                    bool compared, std::unique_ptr<OutputFile> by_step) {
  const RunOutcome& o = run.outcome;
  const std::filesystem::path path =
      c.report.directory / (compared ? fmt::format("solution-{}.h5", label(o)) : "solution.h5");
  ResultFile result = {
      .rows = rows,
      .x = run.solutions,
      .residual_history = o.history,
      .kernel_time = run.product_us,
      .attributes = {{"case", c.text},
                     {"trireme", TRIREME_VERSION},
                     {"petsc", petsc_version()},
                     {"kernel", o.kernel},
                     {"device", std::string(to_string(o.device))},
                     {"precision", std::string(to_string(o.precision))},
                     {"method", o.method},
                     {"preconditioner", o.preconditioner},
                     {"reason", o.reason},
                     {"relative_residual", fmt::format("{:.17g}", o.relative_residual)}}};
  if (!by_step) {
    make_directory(comm, c.report.directory);
    return write_result(comm, path, result);
  }
  result.attributes.emplace_back("steps", fmt::format("{}", o.steps.size()));
  result.attributes.emplace_back("steps_asked_for",
                                 fmt::format("{}", steps_of(c.problem.steps).size()));
  by_step->set_path(path);
  complete_result(*by_step, result);
}

std::vector<std::filesystem::path> files_of_run(const Case& c) {
  std::vector<std::filesystem::path> files{c.report.directory / "state.h5"};
  if (!c.report.solution) return files;
  files.push_back(c.report.directory / "solution.h5");
  if (c.kernels.size() * c.precisions.size() == 1) return files;
  const auto add = [&](std::string_view kernel) {
    for (const char* precision : {"", "-mixed"})
      files.push_back(c.report.directory / fmt::format("solution-{}{}.h5", kernel, precision));
  };
  for (const std::string& kernel : c.kernels) {
    if (kernel != kAuto)
      add(kernel);
    else
      for (const KernelEntry& any : kernel_registry()) add(fmt::format("auto-{}", any.name));
  }
  return files;
}

}  // namespace trireme
