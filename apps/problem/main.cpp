// SPDX-License-Identifier: BSD-3-Clause
// problem: converts matrices to HDF5, makes model problems, and shows what a file or the cache
// holds.
#include <mpi.h>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "command_line_error.hpp"
#include "commands.hpp"
#include "options.hpp"
#include "parallel/collective.hpp"
#include "parallel/program.hpp"

namespace trireme::problem_app {
namespace {

int run(int argc, char** argv, bool speaks) {
  CLI::App app("", "problem");
  Options options;
  declare_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return speaks ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    fail(ExitCode::usage, "{}; see problem --help", in_words(app, error));
  }
  if (app.got_subcommand("import")) import(options.import);
  if (app.got_subcommand("generate")) generate_file(options.generate);
  if (app.got_subcommand("inspect")) inspect(options.inspect);
  if (app.got_subcommand("cache")) {
    const CLI::App& cache = *app.get_subcommand("cache");
    if (cache.got_subcommand("list")) list_cache(options.cache);
    if (cache.got_subcommand("explain")) explain_cache(options.cache);
    if (cache.got_subcommand("clear")) clear_cache(options.cache);
  }
  return 0;
}

}  // namespace
}  // namespace trireme::problem_app

int main(int argc, char** argv) {
  return trireme::run_program(&argc, &argv, [&] {
    const bool speaks = trireme::rank_of(MPI_COMM_WORLD) == 0;
    return trireme::problem_app::run(argc, argv, speaks);
  });
}
