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
#include "help_format.hpp"
#include "io/formats.hpp"
#include "kernel_bench/load_matrix.hpp"
#include "kernel_bench/measurement.hpp"
#include "kernel_bench/output.hpp"
#include "kernel_bench/vectors.hpp"

namespace trireme::bench {
namespace {

struct Arguments {
  std::string source, group = "/A";
  GenerateSpec spec{.kind = {}, .n = 64};
  std::string device = "cpu";
  std::string json;
  Options options;
};

const char* const kExample =
    "Multiplies one matrix by one vector with every kernel in one run, and prints\n"
    "their times.\n"
    "\n"
    "  kernel_bench poisson3d --n 128            a generated matrix, all CPU kernels\n"
    "  kernel_bench cant.h5 --kernels csr,albus  a matrix from a file, two kernels\n"
    "  kernel_bench web --n 1000000 --json web.json\n"
    "  kernel_bench poisson3d --vectors 8        products of 8 vectors at once\n"
    "\n"
    "Times are medians over many products. A warm product finds in the caches what\n"
    "the product before left there; the caches are flushed before a cold product.\n"
    "GB/s counts the bytes of the layout, x and y once each; 'of bw' is their rate\n"
    "as a fraction of the bandwidth that is measured in the same run.\n"
    "Exit codes: 0 done, 1 a kernel's product is wrong, 2 usage, 3 input file,\n"
    "4 no such device, or no kernel took the matrix.";

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
  print_text(stdout, format_table(results, named.name));
  if (!arguments.json.empty()) write_json(results, arguments.json);
  return exit_code(format_failures(results));
}

int run_command(int argc, char** argv) {
  Arguments arguments;
  std::vector<std::string> kernels;
  CLI::App app(kExample, "kernel_bench");
  narrow_help(app);
  app.set_version_flag("--version", "trireme " TRIREME_VERSION, "print the version");
  app.add_option("matrix", arguments.source, "a generator's name, or a file: " + list_of_formats())
      ->required();
  app.add_option("--matrix", arguments.group, "file: the group of the matrix")
      ->capture_default_str();
  app.add_option("--n", arguments.spec.n, "generator: points, elements or cells per side, or rows")
      ->capture_default_str();
  app.add_option("--k", arguments.spec.k,
                 "generator: nonzeros per row (random), edge factor (rmat)")
      ->capture_default_str();
  app.add_option("--seed", arguments.spec.seed, "generator: seed of the random numbers")
      ->capture_default_str();
  app.add_option("--kernels", kernels, "all, or names separated by commas")->delimiter(',');
  app.add_option("--device", arguments.device, "cpu or cuda")->capture_default_str();
  app.add_option("--precision", arguments.options.precision,
                 "double, float, mixed, int (cpu), half (cuda)")
      ->capture_default_str();
  app.add_option("--seconds", arguments.options.seconds,
                 "minimum time of timed products per kernel")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--vectors", arguments.options.vectors,
                 "measure products of this many vectors side by side")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--cpu-clock", arguments.options.cpu_clock,
               "time by the CPU clock of the thread: for busy machines, with OMP_NUM_THREADS=1");
  app.add_option("--json", arguments.json, "also write the measurements to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fail(ExitCode::usage, "{}; see kernel_bench --help", in_words(app, error));
  }
  if (kernels != std::vector<std::string>{"all"}) arguments.options.kernels = kernels;
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
