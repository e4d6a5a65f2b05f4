// SPDX-License-Identifier: BSD-3-Clause
// Which options take names of files, keys of a case, or words that the table of keys has.
#include <utility>

#include "config/keys.hpp"
#include "config/known_values.hpp"
#include "kernel_bench/command_line.hpp"
#include "pages/program.hpp"
#include "problem/options.hpp"
#include "solve/options.hpp"
#include "solve/shorthands.hpp"
#include "sparse/generators.hpp"

namespace trireme::pages {
namespace {

std::vector<std::string> generators() {
  const auto names = generator_names();
  return {names.begin(), names.end()};
}

void take_words(Option& option, std::string_view key) {
  option.words = known_values(*find_key(key));
}

Program solve_program() {
  CLI::App app("", "solve");
  solve::Words words;
  solve::declare_options(app, words);
  Program program = program_of(app, "solve");
  program.at("MATRIX").values = Values::matrix;
  program.at("--help").value = "[KEY]";
  program.at("--help").values = Values::key;
  program.at("--set").values = Values::assignment;
  for (const solve::Shorthand& shorthand : solve::kShorthands) {
    Option& option = program.at(shorthand.option);
    take_words(option, shorthand.key);
    if (shorthand.is_text) option.values = Values::file;
  }
  Option& kernel = program.at(solve::kKernelOption);
  take_words(kernel, "kernel");
  kernel.is_list = true;
  return program;
}

Program problem_program() {
  CLI::App app("", "problem");
  problem_app::Options options;
  problem_app::declare_options(app, options);
  Program program = program_of(app, "problem");
  Program& import = program.command("import");
  import.at("IN").values = Values::matrix;
  import.at("OUT.h5").values = Values::file;
  take_words(import.at("--rhs"), "problem.rhs");
  import.at("--rhs").values = Values::file;
  program.command("generate").at("KIND").words = generators();
  program.command("generate").at("OUT.h5").values = Values::file;
  program.command("inspect").at("FILE").values = Values::matrix;
  return program;
}

Program bench_program() {
  CLI::App app("", "kernel_bench");
  bench::Arguments arguments;
  bench::declare_options(app, arguments);
  Program program = program_of(app, "bench");
  program.at("matrix").words = generators();
  program.at("matrix").values = Values::matrix;
  Option& kernels = program.at("--kernels");
  take_words(kernels, "kernel");
  std::erase_if(kernels.words,
                [](const std::string& word) { return word == kAuto || word == kPetscAij; });
  kernels.words.emplace_back("all");
  kernels.is_list = true;
  return program;
}

}  // namespace

std::vector<Program> programs() { return {solve_program(), problem_program(), bench_program()}; }

}  // namespace trireme::pages
