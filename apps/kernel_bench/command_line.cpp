// SPDX-License-Identifier: BSD-3-Clause
// Every line of the help has at most 80 columns.
#include "kernel_bench/command_line.hpp"

#include "help_format.hpp"
#include "io/formats.hpp"

namespace trireme::bench {
namespace {

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

}  // namespace

void declare_options(CLI::App& app, Arguments& arguments) {
  app.description(kExample);
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
  app.add_option("--kernels", arguments.kernels, "all, or names separated by commas")
      ->type_name("K[,K...]")
      ->delimiter(',');
  app.add_option("--device", arguments.device, "where they run")
      ->type_name("cpu|cuda")
      ->capture_default_str();
  app.add_option("--precision", arguments.options.precision,
                 "of values; int: cpu alone, half: cuda alone")
      ->type_name("double|float|mixed|int|half")
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
  app.add_option("--json", arguments.json, "also write the measurements to this file")
      ->type_name("FILE");
}

}  // namespace trireme::bench
