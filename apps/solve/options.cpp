// SPDX-License-Identifier: BSD-3-Clause
// Every line of the help has at most 80 columns.
#include "options.hpp"

#include "arguments.hpp"
#include "help_format.hpp"
#include "shorthands.hpp"

namespace trireme::solve {
namespace {

constexpr const char* kAbout = R"(Solves a sparse linear system A x = b. In one line:
  solve matrix.mtx --rhs b.txt --rtol 1e-10

Example: this case.yaml
  problem: {file: matrix.h5, matrix: /A}       # and its /b
  solver: {method: cg, preconditioner: jacobi, rtol: 1e-8}
  kernel: [csr, albus]                         # compares the two
  report: {directory: results, formats: [json, html]}
is solved on 8 processes by
  mpirun -n 8 solve --config case.yaml
Both print a table and write the solution and the reports to results/.)";

constexpr const char* kFooter = R"(
Every key of a case in words: solve --help KEY, such as --help solver.multigrid
PETSc options follow after --: solve --config case.yaml -- -ksp_view

Exit codes: 0 converged; 1 internal error; 2 command line or case; 3 input file;
4 no such device or not enough memory; 5 not converged, or stopped by a signal;
6 breakdown or NaN. Reports are written for 0, 5 and 6. A study ends with 0
where every run has figures, and else with 5. Ctrl-C ends a run with the
solution so far, from which --resume goes on; a second Ctrl-C ends the program
at once.)";

CLI::Option& repeatable(CLI::Option* option) {
  return *option->take_all()->allow_extra_args(false);
}

std::vector<std::string> progress_words() {
  std::vector<std::string> words;
  for (const auto& entry : WordsOf<ProgressKind>::all) words.emplace_back(entry.word);
  return words;
}

void declare_changes(CLI::App& app, Words& words) {
  for (const Shorthand& shorthand : kShorthands)
    app.add_option(shorthand.option, words.shorthands[shorthand.option], shorthand.about)
        ->type_name(shorthand.type);
  repeatable(app.add_option(std::string(kKernelOption), words.kernels,
                            "A kernel, or several to compare; see --list-kernels"))
      .type_name("K[,K...]")
      ->delimiter(',');
  repeatable(app.add_option("--set", words.sets,
                            "Any key of the case, as --set solver.restart=100; repeatable"))
      .type_name("KEY=VALUE");
  repeatable(app.add_option("--preset", words.presets,
                            "A file of keys that replace those of the case (see configs/); "
                            "repeatable"))
      .type_name("FILE");
  app.add_option("--output", words.output, "Report directory; replaces report.directory")
      ->type_name("DIR");
}

void declare_run(CLI::App& app, Words& words) {
  app.add_flag("--resume", words.resume,
               "Go on from state.h5 in the report directory, which a run leaves that was stopped "
               "or came to solver.max_iterations");
  CLI::Option* cache =
      app.add_option("--cache", words.cache,
                     "Folder in which choices and orders of rows are kept for later runs; default: "
                     "$XDG_CACHE_HOME/trireme or ~/.cache/trireme")
          ->type_name("DIR");
  app.add_flag("--no-cache", words.no_cache, "Use no such folder")->excludes(cache);
  CLI::Option* progress =
      app.add_option("--progress", words.progress,
                     "bar: one line that is rewritten, the default on a terminal; plain: a line "
                     "every 5 s; none. Elsewhere a run of more than 30 s writes a line every 30 s")
          ->option_text("bar|plain|none")
          ->check(CLI::IsMember(progress_words()));
  app.add_flag("--quiet", words.quiet, "Print no progress and no table")->excludes(progress);
}

void declare_views(CLI::App& app, Words& words) {
  app.add_flag("--check", words.check, "Check the case and its file, without solving");
  app.add_flag("--explain", words.explain,
               "Say what is seen of the matrix and what method: auto would do, without solving");
  app.add_flag("--print-case", words.print_case,
               "Print the case with all options of this line in it, for --config, and end");
  app.add_flag("--list-kernels", words.list, "List every kernel: where it runs, and what it is");
  app.add_option("--compare", words.reports,
                 "Print what changed between two runs, with a verdict on noise, and solve nothing")
      ->type_name("REPORT.JSON REPORT.JSON")
      ->expected(2);
  app.add_option(
         "--figures", words.figures,
         "Write each chart of a run's report as SVG and its numbers as CSV to a folder, and "
         "solve nothing")
      ->type_name("DIR REPORT.JSON")
      ->expected(2);
  app.add_flag("--print-schema", words.schema,
               "Print every key of a case as a JSON schema with units and defaults");
  app.add_flag("--print-report-schema", words.report_schema,
               "Print every figure of report.json as a JSON schema with units");
  app.add_flag("--version", words.version, "Print the versions of Trireme and its libraries");
}

}  // namespace

void declare_options(CLI::App& app, Words& words) {
  narrow_help(app);
  app.description(kAbout);
  app.footer(kFooter);
  app.set_help_flag("-h,--help", "Print this; --help KEY: what a key of the case means");
  app.add_option("MATRIX", words.matrix,
                 "The matrix to solve with, in place of a case: a file such as in.mtx, in.mtx.gz, "
                 "in.h5 or in.h5:/K (problem --help lists the formats)")
      ->type_name("");
  app.add_option("--config", words.config, "The case: a YAML file; -: from standard input")
      ->type_name("FILE");
  app.add_option("--study", words.study,
                 "Many runs instead of one: a study, or a folder whose *.yaml are the cases; --set "
                 "then replaces keys of the study")
      ->type_name("FILE");
  app.add_flag("--again", words.again, "With --study: repeat the runs that have ended");
  declare_changes(app, words);
  declare_run(app, words);
  declare_views(app, words);
}

}  // namespace trireme::solve
