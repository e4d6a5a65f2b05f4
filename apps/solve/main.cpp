// SPDX-License-Identifier: BSD-3-Clause
// solve: case.yaml in, solution and reports out. Parse, run_case(), report.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "app/figures/memory.hpp"
#include "app/figures/memory_forecast.hpp"
#include "app/figures/start_clock.hpp"
#include "app/ladder/explain.hpp"
#include "app/run_case.hpp"
#include "app/system/core_share.hpp"
#include "app/system/loaded_system.hpp"
#include "arguments.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "command_line.hpp"
#include "config/schema.hpp"
#include "config/steps.hpp"
#include "device/device.hpp"
#include "given_case.hpp"
#include "io/problem.hpp"
#include "io/step_values.hpp"
#include "list_kernels.hpp"
#include "parallel/collective.hpp"
#include "parallel/program.hpp"
#include "petsc/index_size.hpp"
#include "petsc/session.hpp"
#include "progress.hpp"
#include "report/compare.hpp"
#include "report/read_report.hpp"
#include "report/report.hpp"
#include "report/words.hpp"
#include "study_command.hpp"
#include "terminal.hpp"

namespace trireme::solve {
namespace {

const MPI_Comm kWorld = MPI_COMM_WORLD;

bool on_first_rank() { return rank_of(kWorld) == 0; }

void say(std::FILE* stream, const std::string& text) {
  if (on_first_rank()) print_text(stream, text);
}

std::string versions() {
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(mpi, &length);
  const std::string_view library(mpi);
  return fmt::format("trireme {}\nPETSc {}\n{}\n", TRIREME_VERSION, petsc_version(),
                     library.substr(0, library.find_first_of(",\n")));
}

std::unique_ptr<Progress> progress_of(const Arguments& arguments, const SolverSpec& solver) {
  using namespace std::chrono_literals;
  const std::optional<ProgressKind>& kind = arguments.progress;
  if (!on_first_rank() || arguments.quiet || kind == ProgressKind::none) return nullptr;
  if (kind == ProgressKind::plain) return std::make_unique<PlainProgress>(stderr, solver, 0s, 5s);
  if (kind == ProgressKind::bar || isatty(STDERR_FILENO))
    return std::make_unique<TerminalProgress>(stderr, solver);
  return std::make_unique<PlainProgress>(stderr, solver, 30s, 30s);
}

ExitCode check(const Case& c) {
  check_case(kWorld, c);
  const auto program_bytes = static_cast<double>(resident_bytes());
  std::string forecast;
  const Problem problem = load_problem(kWorld, c.problem, nullptr, [&](const MatrixFacts& facts) {
    require_petsc_counts(kWorld, problem_name(c.problem), facts.rows);
    const double gpu_free = c.device != Device::cpu && cuda_available()
                                ? static_cast<double>(device_memory().free_bytes)
                                : 0;
    forecast = forecast_table(forecast_memory(c, facts, size_of(kWorld), program_bytes, gpu_free));
  });
  const RowSlab& slab = problem.matrix;
  const std::vector<Step> steps = steps_of(c.problem.steps);
  StepReader(kWorld, c.problem, {slab.first_row, slab.local.rows, slab.global_rows},
             slab.local.nnz(), problem.in_stored_order)
      .check(steps);
  say(stdout,
      fmt::format("{}\n{} is valid: {}, {} rows, {} nonzeros, {}{}\n", forecast, c.path.string(),
                  problem.name, slab.global_rows, words::count(slab.global_nnz),
                  words::vectors(describe_problem(c, problem)),
                  steps.empty() ? "" : fmt::format(", {} steps", steps.size())));
  return ExitCode::converged;
}

// The kernels that failed and why, in one line: "csr, albus: not converged: ...; not run ...".
std::string failures(const CaseOutcome& outcome) {
  std::map<std::string, std::vector<std::string>> kernels_by_reason;
  for (const RunOutcome& run : outcome.runs)
    if (run.exit_code != ExitCode::converged) kernels_by_reason[run.reason].push_back(label(run));
  std::vector<std::string> parts;
  for (const auto& [reason, kernels] : kernels_by_reason)
    parts.push_back(fmt::format("{}: {}", fmt::join(kernels, ", "), reason));
  for (const std::string& line : words::refused(outcome)) parts.push_back(line);
  if (!outcome.not_run.empty()) parts.push_back(words::not_run(outcome));
  return fmt::format("{}", fmt::join(parts, "; "));
}

ExitCode solve(const Case& c, const PetscSession& petsc, const std::string& command,
               const Arguments& arguments, InterruptGuard& interrupts) {
  std::unique_ptr<Progress> progress = progress_of(arguments, c.solver);
  CaseOutcome outcome = run_case(kWorld, c, progress.get(), &interrupts);
  for (RunOutcome& run : outcome.runs)
    run.notes.insert(run.notes.end(), petsc.notes().begin(), petsc.notes().end());
  outcome.command = repeating_command(command, size_of(kWorld));
  progress.reset();

  collectively(kWorld, [&] {
    if (!on_first_rank()) return;
    const auto files = write_reports(outcome, c.report.formats, c.report.directory);
    if (arguments.quiet) return;
    const Console console = {.width = text_width(stdout), .colours = has_colours(stdout)};
    std::fputs(terminal_table(outcome, console).c_str(), stdout);
    std::string text =
        fmt::format("{} in all, from the start; {}written to {}:",
                    words::seconds(seconds_since_process_start()),
                    c.report.solution ? "solution and reports " : "", c.report.directory.string());
    for (const auto& file : files) text += " " + file.filename().string();
    print_text(stdout, "\n" + words::wrap(text, console.width, 2) + "\n");
    std::fflush(stdout);
  });
  const ExitCode code = exit_code(outcome);
  if (code != ExitCode::converged)
    say(stderr,
        fmt::format("solve: {}; report in {}\n", failures(outcome), c.report.directory.string()));
  return code;
}

std::string written_figures(const std::filesystem::path& folder,
                            const std::filesystem::path& report) {
  std::string text = fmt::format("written to {}:", folder.string());
  for (const auto& file : write_figures(read_report(report), folder))
    text += " " + file.filename().string();
  return words::wrap(text, words::kTextWidth, 2) + "\n";
}

ExitCode run(int argc, char** argv, InterruptGuard& interrupts) {
  const Arguments arguments = parse_arguments(argc, argv);
  switch (arguments.action) {
    case Action::print_help:
      say(stdout, arguments.help);
      return ExitCode::converged;
    case Action::print_version:
      say(stdout, versions());
      return ExitCode::converged;
    case Action::print_schema:
      say(stdout, case_schema());
      return ExitCode::converged;
    case Action::print_report_schema:
      say(stdout, report_schema());
      return ExitCode::converged;
    case Action::list_kernels:
      say(stdout, list_kernels());
      return ExitCode::converged;
    case Action::compare: {
      std::string text;
      collectively(kWorld, [&] {
        if (on_first_rank()) text = compare_reports(arguments.reports[0], arguments.reports[1]);
      });
      say(stdout, text);
      return ExitCode::converged;
    }
    case Action::figures: {
      std::string text;
      collectively(kWorld, [&] {
        if (on_first_rank()) text = written_figures(arguments.reports[0], arguments.reports[1]);
      });
      say(stdout, text);
      return ExitCode::converged;
    }
    case Action::print_case:
      say(stdout, printed_case(kWorld, arguments));
      return ExitCode::converged;
    case Action::study:
    case Action::list_study:
      fail(ExitCode::internal, "a study begins before MPI does");
    case Action::check:
    case Action::explain:
    case Action::solve:
      break;
  }
  share_cores(kWorld);
  const Case c = given_case(kWorld, arguments);
  const PetscSession petsc(c.petsc, arguments.petsc);
  if (arguments.action == Action::explain) {
    say(stdout, explain_case(kWorld, c));
    return ExitCode::converged;
  }
  return arguments.action == Action::check
             ? check(c)
             : solve(c, petsc, shell_command(argc, argv), arguments, interrupts);
}

}  // namespace
}  // namespace trireme::solve

int main(int argc, char** argv) {
  if (trireme::solve::asks_for_study(argc, argv)) return trireme::solve::study_main(argc, argv);
  trireme::InterruptGuard interrupts;  // lives until PETSc and MPI have ended
  return trireme::run_program(
      &argc, &argv, [&] { return static_cast<int>(trireme::solve::run(argc, argv, interrupts)); });
}
