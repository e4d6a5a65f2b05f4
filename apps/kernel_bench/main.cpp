// SPDX-License-Identifier: BSD-3-Clause
// kernel_bench: measures kernels on one matrix. Each kernel is checked before it is timed. This
// file parses the command line and prints.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.hpp"
#include "base/overwriting.hpp"
#include "base/printable.hpp"
#include "command_line_error.hpp"
#include "kernel_bench/command_line.hpp"
#include "kernel_bench/load_matrix.hpp"
#include "kernel_bench/measurement.hpp"
#include "kernel_bench/output.hpp"
#include "kernel_bench/vectors.hpp"
#include "terminal.hpp"

namespace trireme::bench {
namespace {

Results measure(const CsrMatrix<double>& matrix, const Arguments& arguments) {
  if (arguments.device == "cpu") return measure_host(matrix, arguments.options);
  if (arguments.device == "cuda") return measure_cuda(matrix, arguments.options);
  fail(ExitCode::usage, "unknown device '{}'; known: cpu, cuda", arguments.device);
}

VectorsResults measure_vectors(const CsrMatrix<double>& matrix, const Arguments& arguments) {
  if (arguments.device == "cpu") return measure_vectors_host(matrix, arguments.options);
  if (arguments.device == "cuda") return measure_vectors_cuda(matrix, arguments.options);
  fail(ExitCode::usage, "unknown device '{}'; known: cpu, cuda", arguments.device);
}

int exit_code(const std::string& failures) {
  print_text(stderr, failures);
  return failures.empty() ? 0 : static_cast<int>(ExitCode::internal);
}

// Throws Error{resource} where every kernel was left out.
template <class AnyResults>
void require_a_measurement(const AnyResults& results) {
  if (results.rows.empty() && !results.skipped.empty())
    fail(ExitCode::resource, "nothing was measured: {}", fmt::join(results.skipped, "; "));
}

int run(const Arguments& arguments) {
  refuse_overwriting({arguments.source}, {arguments.json});
  const NamedMatrix named = load_matrix(arguments.source, arguments.group, arguments.spec);
  if (arguments.options.vectors > 0) {
    const VectorsResults results = measure_vectors(named.matrix, arguments);
    require_a_measurement(results);
    print_text(stdout, format_vectors_table(results, named.name));
    if (!arguments.json.empty()) write_vectors_json(results, arguments.json);
    return exit_code(format_vectors_failures(results));
  }
  const Results results = measure(named.matrix, arguments);
  require_a_measurement(results);
  print_text(stdout, format_table(results, named.name, text_width(stdout)));
  if (!arguments.json.empty()) write_json(results, arguments.json);
  return exit_code(format_failures(results));
}

int run_command(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("", "kernel_bench");
  declare_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fail(ExitCode::usage, "{}; see kernel_bench --help", in_words(app, error));
  }
  if (arguments.kernels != std::vector<std::string>{"all"})
    arguments.options.kernels = arguments.kernels;
  return run(arguments);
}

}  // namespace
}  // namespace trireme::bench

int main(int argc, char** argv) try {
  return trireme::bench::run_command(argc, argv);
} catch (const trireme::Error& error) {
  std::fprintf(stderr, "kernel_bench: %s\n", error.what());
  return static_cast<int>(error.code());
} catch (const std::bad_alloc&) {
  std::fprintf(stderr, "kernel_bench: not enough memory for this matrix and its kernels\n");
  return static_cast<int>(trireme::ExitCode::resource);
} catch (const std::exception& error) {
  std::fprintf(stderr, "kernel_bench: %s\n", error.what());
  return static_cast<int>(trireme::ExitCode::internal);
}
