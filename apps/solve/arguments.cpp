// SPDX-License-Identifier: BSD-3-Clause
// CLI11 for what stands before "--"; the rest is PETSc's.
#include "arguments.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "command_line_error.hpp"

namespace trireme::solve {
namespace {

constexpr const char* kAbout = R"(Solves a sparse linear system A x = b.

Example: this case.yaml
  problem: {file: matrix.h5, matrix: /A}              # with its /b; or {generate: poisson3d, n: 100}
  solver: {method: cg, preconditioner: jacobi, rtol: 1e-8}
  kernel: [csr, albus]                                # compares the two
  report: {directory: results, formats: [json, html]}
is solved on 8 processes by
  mpirun -n 8 solve --config case.yaml
It prints a table and writes the solution and the reports to results/.)";

constexpr const char* kExitCodes = R"(
PETSc options follow after --: solve --config case.yaml -- -ksp_view -log_view

Exit codes: 0 converged; 1 internal error; 2 command line or case; 3 input file; 4 no such device or
not enough memory; 5 not converged, or stopped by a signal; 6 breakdown or NaN. Reports are written
for 0, 5 and 6. Ctrl-C ends a run with the solution so far, from which --resume goes on; a second
Ctrl-C ends the program at once. A study ends with 0 where every run has figures, and else with 5.
Every key of case.yaml: solve --print-schema.)";

Override kernel_override(const std::vector<std::string>& kernels) {
  const std::string names = fmt::format("{}", fmt::join(kernels, ","));
  return {.key = "kernel",
          .value = fmt::format("[{}]", names),
          .origin = fmt::format("--kernel {}", names)};
}

// Throws Error{usage} for words that are not options with at most one value each.
void require_dashes(const std::vector<std::string>& petsc) {
  bool after_option = false;
  for (const std::string& word : petsc) {
    const bool option = word.starts_with('-');
    if (!option && !after_option)
      fail(ExitCode::usage,
           "after --: '{}' is no PETSc option, which begins with a dash, nor the value of one",
           word);
    after_option = option;
  }
}

void refuse_with_study(const Arguments& arguments, bool presets) {
  const char* word = presets ? "--preset" : arguments.resume ? "--resume" : nullptr;
  if (word || !arguments.petsc.empty())
    fail(ExitCode::usage,
         "{} does not go with --study; the study has keys for it: see solve --help",
         word ? word : "--");
}

}  // namespace

Arguments parse_arguments(int argc, const char* const* argv) {
  const char* const* end = argv + argc;
  const char* const* dashes =
      std::find_if(argv, end, [](const char* word) { return std::strcmp(word, "--") == 0; });

  Arguments result;
  std::vector<std::string> kernels, sets;
  std::string config, study, device, output, cache;
  std::vector<std::string> presets;
  bool no_cache = false, check = false, explain = false, version = false, schema = false,
       report_schema = false, list = false;

  CLI::App app(kAbout, "solve");
  app.footer(kExitCodes);
  app.add_option("--config", config, "The case: a YAML file")->type_name("FILE");
  app.add_option("--study", study,
                 "Many runs instead of one: a study, or a folder whose *.yaml are the cases; --set "
                 "then replaces keys of the study")
      ->type_name("FILE");
  app.add_flag("--again", result.again, "With --study: repeat the runs that have ended");
  app.add_option("--preset", presets,
                 "A file of keys that replace those of the case (see configs/); repeatable")
      ->type_name("FILE")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--kernel", kernels, "A kernel, or several to compare; replaces kernel:")
      ->type_name("K[,K...]")
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--device", device, "cpu, cuda or auto; replaces device:")->type_name("D");
  app.add_option("--set", sets, "Any key of the case, as --set solver.rtol=1e-10; repeatable")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--output", output, "Report directory; replaces report.directory")
      ->type_name("DIR");
  app.add_flag(
      "--resume", result.resume,
      "Go on from state.h5 in the report directory, which a run leaves that was stopped or "
      "came to solver.max_iterations");
  CLI::Option* cache_option =
      app.add_option("--cache", cache,
                     "Folder in which choices and orders of rows are kept for later runs; without "
                     "it $XDG_CACHE_HOME/trireme or ~/.cache/trireme")
          ->type_name("DIR");
  app.add_flag("--no-cache", no_cache, "Use no such folder")->excludes(cache_option);
  app.add_flag("--check", check, "Check the case and its file, without solving");
  app.add_flag("--explain", explain,
               "Say what is seen of the matrix and what method: auto would do, without solving");
  app.add_flag("--quiet", result.quiet, "Print no progress and no table");
  app.add_flag("--list-kernels", list, "List every kernel: where it runs, and what it is");
  app.add_option("--compare", result.reports,
                 "Print what changed between two runs, with a verdict on noise, and solve nothing")
      ->type_name("REPORT.JSON REPORT.JSON")
      ->expected(2);
  app.add_flag("--print-schema", schema,
               "Print every key of a case as a JSON schema with units and defaults");
  app.add_flag("--print-report-schema", report_schema,
               "Print every figure of report.json as a JSON schema with units");
  app.add_flag("--version", version, "Print the versions of Trireme and its libraries");

  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::CallForHelp&) {
    result.action = Action::print_help;
    result.help = app.help();
    return result;
  } catch (const CLI::ParseError& e) {
    fail(ExitCode::usage, "{}; see solve --help", in_words(app, e));
  }

  if (dashes != end) result.petsc.assign(dashes + 1, end);
  require_dashes(result.petsc);
  if (!result.reports.empty()) {
    result.action = Action::compare;
    return result;
  }
  if (version || schema || report_schema || list) {
    result.action = version         ? Action::print_version
                    : schema        ? Action::print_schema
                    : report_schema ? Action::print_report_schema
                                    : Action::list_kernels;
    return result;
  }
  if (config.empty() == study.empty())
    fail(ExitCode::usage, "{}: solve --config case.yaml; see solve --help",
         config.empty() ? "no case given" : "--config and --study exclude each other");
  if (result.again && study.empty()) fail(ExitCode::usage, "--again goes with --study");
  if (explain && (check || !study.empty()))
    fail(ExitCode::usage, "--explain goes with --config alone, without --check and --study");
  if (!study.empty()) {
    refuse_with_study(result, !presets.empty());
    result.action = check ? Action::list_study : Action::study;
  } else if (check || explain) {
    result.action = check ? Action::check : Action::explain;
  }
  result.config = config.empty() ? study : config;
  result.changes.presets.assign(presets.begin(), presets.end());
  auto& overrides = result.changes.overrides;
  for (const std::string& assignment : sets) overrides.push_back(parse_override(assignment));
  if (!kernels.empty()) overrides.push_back(kernel_override(kernels));
  if (!device.empty())
    overrides.push_back({.key = "device", .value = device, .origin = "--device " + device});
  if (!output.empty()) result.output = output;
  result.cache = {.use = !no_cache, .directory = cache};
  return result;
}

}  // namespace trireme::solve
