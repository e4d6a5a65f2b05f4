// SPDX-License-Identifier: BSD-3-Clause
// Reads the study and runs it.
#include "study_command.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>

#include "arguments.hpp"
#include "base/error.hpp"
#include "base/printable.hpp"
#include "study/read_study.hpp"
#include "study/run_study.hpp"

namespace trireme::solve {
namespace {

// The number that mpirun gives a process of a job; 0 outside of a job.
int number_from(std::initializer_list<const char*> variables) {
  for (const char* name : variables)
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return 0;
}

int job_size() { return number_from({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}); }
int job_rank() { return number_from({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}); }

ExitCode run(int argc, const char* const* argv) {
  const Arguments arguments = parse_arguments(argc, argv);
  if (arguments.action == Action::print_help) {
    std::fputs(arguments.help.c_str(), stdout);
    return ExitCode::converged;
  }
  if (arguments.action != Action::study && arguments.action != Action::list_study)
    fail(ExitCode::usage, "--study does not go with the options that print and end");
  if (job_size() > 0)
    fail(
        ExitCode::usage,
        "--study starts its runs itself and does not run under mpirun; give the number of ranks as "
        "vary: {{ranks: [...]}}");
  study::Study s = study::read_study(arguments.config, arguments.changes.overrides);
  if (arguments.output) s.directory = *arguments.output;
  if (!arguments.cache.use)
    s.words = {"--no-cache"};
  else if (!arguments.cache.directory.empty())
    s.words = {"--cache", std::filesystem::absolute(arguments.cache.directory).string()};
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (arguments.action == Action::list_study) {
    print_text(stdout, list_runs(s, program));
    return ExitCode::converged;
  }
  return run_study(s,
                   {.program = program,
                    .again = arguments.again,
                    .starts = arguments.progress == ProgressKind::plain,
                    .quiet = arguments.quiet},
                   stdout);
}

}  // namespace

bool asks_for_study(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word == "--") return false;
    if (word == "--study" || word.starts_with("--study=")) return true;
  }
  return false;
}

int study_main(int argc, const char* const* argv) {
  ExitCode code = ExitCode::internal;
  std::string message;
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const Error& error) {
    code = error.code();
    message = error.what();
  } catch (const std::exception& error) {
    message = one_line(error.what());
  }
  // All ranks of a job that was started by mistake come here; one of them says so.
  if (job_rank() == 0) std::fprintf(stderr, "solve: %s\n", message.c_str());
  return static_cast<int>(code);
}

}  // namespace trireme::solve
