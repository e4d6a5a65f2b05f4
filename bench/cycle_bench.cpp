// SPDX-License-Identifier: BSD-3-Clause
// Times the cycle of multigrid on a GPU, recorded as a graph, with different settings, and the
// product of each level with every number of lanes per row.
//
// usage: cycle_bench GENERATOR N [ROWS_PER_NODE]
#include <fmt/format.h>
#include <mpi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "base/stopwatch.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/graph.hpp"
#include "distributed/distributed_matrix.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/hierarchy.hpp"
#include "sparse/generators.hpp"

namespace {

using namespace trireme;
using namespace trireme::multigrid;

constexpr int kCycles = 50;
constexpr int kProducts = 50;

double microseconds_per_cycle(const CudaHierarchy& m) {
  const Stream stream;
  const auto rows = static_cast<std::size_t>(m.rows());
  const DeviceBuffer<double> r(rows, stream), z(rows, stream);
  fill_zero(r.span(), stream);
  const GraphExec graph(capture_graph(stream, [&] {
    for (int k = 0; k < kCycles; ++k) m.enqueue(r.view(), z.span(), stream);
  }));
  graph.launch(stream);
  const Event start, stop;
  start.record(stream);
  graph.launch(stream);
  stop.record(stream);
  stop.synchronize();
  return microseconds_between(start, stop) / kCycles;
}

std::string described(const CudaCycleOptions& options) {
  return fmt::format("{} rows together, {} lanes, {} columns", options.rows_together,
                     options.lanes == 0 ? "chosen" : std::to_string(options.lanes),
                     options.wide ? "wide" : "narrow");
}

void time_cycles(const Hierarchy& host, CycleKind cycle) {
  for (const CudaCycleOptions& options : {CudaCycleOptions{},
                                          {.rows_together = 0},
                                          {.rows_together = 5'000},
                                          {.rows_together = 15'000},
                                          {.rows_together = 65'000},
                                          {.wide = true},
                                          {.lanes = 1},
                                          {.lanes = 4},
                                          {.lanes = 16}}) {
    const Stopwatch watch;
    const CudaHierarchy m(host.parts(), cycle, options);
    const double seconds = watch.seconds();
    fmt::print(
        "{:8.1f} us per cycle  {:3} launches of {:3} steps  {:7.1f} MB  made in {:6.1f} ms  {}\n",
        microseconds_per_cycle(m), m.launches(), m.steps(), static_cast<double>(m.bytes()) / 1e6,
        seconds * 1e3, described(options));
  }
}

void time_products(const Hierarchy& host) {
  for (const int lanes : {0, 1, 2, 4, 8, 16, 32}) {
    const CudaHierarchy m(host.parts(), CycleKind::v, {.rows_together = 0, .lanes = lanes});
    for (std::size_t l = 0; l < m.levels().size(); ++l) {
      const CudaLevelFacts& level = m.levels()[l];
      if (level.lanes_of_a == 0) continue;
      fmt::print("level {}  {:9} rows  {:2} lanes{}  padding {:5.2f}  {:8.2f} us per product\n", l,
                 level.rows, level.lanes_of_a, lanes == 0 ? ", chosen" : "        ",
                 level.padding_of_a, m.measure_product_us(static_cast<int>(l), kProducts));
    }
  }
}

void run(const GenerateSpec& spec, std::int32_t rows_per_node) {
  select_device();
  const std::int64_t rows = generator_shape(spec).rows;
  RowSlab slab = generate(spec, 0, rows);
  slab.global_nnz = slab.local.nnz();
  const std::shared_ptr<DistributedMatrix> a =
      distribute(MPI_COMM_SELF, std::move(slab), {0, rows});
  Options options;
  options.block_size = rows_per_node;
  Hierarchy host(a, {}, options);
  fmt::print("{} {}: {} rows, {} levels, operator complexity {:.2f}, set up in {:.2f} s\n",
             spec.kind, spec.n, rows, host.levels().size(), host.operator_complexity(),
             host.set_up().total);
  time_cycles(host, CycleKind::v);
  time_products(host);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2;
  if (argc < 3) {
    fmt::print(stderr, "usage: cycle_bench GENERATOR N [ROWS_PER_NODE]\n");
  } else {
    try {
      run({.kind = argv[1], .n = std::atoll(argv[2])}, argc > 3 ? std::atoi(argv[3]) : 1);
      status = 0;
    } catch (const std::exception& error) {
      fmt::print(stderr, "cycle_bench: {}\n", error.what());
      status = 1;
    }
  }
  MPI_Finalize();
  return status;
}
