// SPDX-License-Identifier: BSD-3-Clause
// Every line of the help has at most 80 columns.
#include "options.hpp"

#include <string>

#include "help_format.hpp"
#include "io/formats.hpp"

namespace trireme::problem_app {
namespace {

constexpr const char* example =
    "Example: from a Matrix Market file to a solved system\n"
    "  problem import bcsstk18.mtx.gz bcsstk18.h5 --rhs from-ones\n"
    "  problem inspect bcsstk18.h5 --ranks 4\n"
    "  solve bcsstk18.h5 --set problem.x_exact=/x_exact\n";

std::string kinds() {
  std::string list;
  for (const std::string_view name : generator_names())
    list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

void declare_cache(CLI::App& app, Options& options) {
  CLI::App& command =
      *app.add_subcommand("cache", "list, explain or clear what solve keeps for later runs");
  command
      .add_option("--cache", options.cache.directory,
                  "the folder; default: $XDG_CACHE_HOME/trireme or ~/.cache/trireme")
      ->type_name("DIR");
  command.require_subcommand(1);
  command.fallthrough();
  command.add_subcommand("list", "one line per entry, the last used one first");
  command.add_subcommand("explain", "what an entry is valid for, and the measurements in it")
      ->add_option("NAME", options.cache.name, "the first digits of its name in the list")
      ->required();
  command.add_subcommand("clear", "remove all entries, and no other file");
}

}  // namespace

void declare_options(CLI::App& app, Options& options) {
  app.description("Linear systems as HDF5 files: import, generate, inspect; the cache of solve.");
  app.require_subcommand(1);
  narrow_help(app);
  app.set_version_flag("--version", "trireme " TRIREME_VERSION, "print the version");
  app.footer(example +
             wrap("Input formats of solve, problem and kernel_bench: " + list_of_formats(),
                  kHelpWidth, 2));

  const std::string foreign = list_of_formats(Content::one_system);
  CLI::App& import_command =
      *app.add_subcommand("import", "convert a file of another format to HDF5");
  import_command.add_option("IN", options.import.input, "file to read: " + foreign)->required();
  import_command.add_option("OUT.h5", options.import.output, "file to write")->required();
  import_command.add_option("--matrix", options.import.matrix, "HDF5 group of the matrix")
      ->capture_default_str();
  import_command.add_option("--rhs", options.import.rhs,
                            "right-hand side to store as /b: ones, random, from-ones (b = A 1, "
                            "with /x_exact), or a file (b.mtx, b.txt, other.h5:/b); default: the "
                            "vector of a PETSc file, or NAME_b.mtx beside NAME.mtx");

  CLI::App& generate_command = *app.add_subcommand(
      "generate", "write a model problem as HDF5; under mpirun the result is the same");
  GenerateSpec& spec = options.generate.spec;
  generate_command.add_option("KIND", spec.kind, "one of: " + kinds())->required();
  generate_command.add_option("OUT.h5", options.generate.output, "file to write")->required();
  generate_command
      .add_option("--n,-n", spec.n, "points, elements or cells per side, rows, or (rmat) the scale")
      ->required();
  generate_command
      .add_option("--k,-k", spec.k,
                  "nonzeros per row (random), edges per row (rmat), columns on either side (bands)")
      ->capture_default_str();
  generate_command.add_option("--seed", spec.seed, "seed of all random numbers")
      ->capture_default_str();
  generate_command.add_option("--matrix", options.generate.matrix, "HDF5 group of the matrix")
      ->capture_default_str();
  generate_command
      .add_option("--rhs", options.generate.rhs,
                  "right-hand side to store as /b: ones, random, from-ones")
      ->check(CLI::IsMember({"ones", "random", "from-ones"}));
  generate_command
      .add_option("--steps", options.generate.steps,
                  "also write /values/0, /values/1, ...: one period of a sequence, diffusion whose "
                  "coefficient changes from step to step (see problem.steps of a case)")
      ->check(CLI::Range(0, 1'000'000));

  CLI::App& inspect_command = *app.add_subcommand(
      "inspect", "show shape, row lengths, symmetry, and the share of each rank");
  inspect_command.add_option("FILE", options.inspect.file, "file to read: " + list_of_formats())
      ->required();
  inspect_command.add_option("--matrix", options.inspect.matrix, "HDF5 group of the matrix")
      ->capture_default_str();
  inspect_command
      .add_option("--ranks", options.inspect.ranks, "number of ranks to cut the matrix for")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  inspect_command
      .add_option("--distribution", options.inspect.distribution,
                  "rows: the shares of the ranks as the rows lie in the file; graph: also those "
                  "after graph partitioning, which takes some seconds per million rows")
      ->check(CLI::IsMember({"rows", "graph"}))
      ->capture_default_str();
  declare_cache(app, options);
}

}  // namespace trireme::problem_app
