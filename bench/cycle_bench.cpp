// SPDX-License-Identifier: BSD-3-Clause
// Times the cycle of multigrid on a GPU, recorded as a graph, with different settings, the product
// of each level with every number of lanes per four rows, and solves whose vectors are on the GPU.
//
// usage: cycle_bench GENERATOR N [ROWS_PER_NODE [METHOD [KERNEL]]]
#include <fmt/format.h>
#include <mpi.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/stopwatch.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/graph.hpp"
#include "distributed/distributed_matrix.hpp"
#include "kernels/registry.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/hierarchy.hpp"
#include "solvers/cuda_kernel_system.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/preconditioners/given.hpp"
#include "sparse/generators.hpp"

namespace {

using namespace trireme;
using namespace trireme::multigrid;

constexpr int kCycles = 50;
constexpr int kProducts = 50;
constexpr int kSolves = 4;

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
  return fmt::format("{} lanes, {} columns",
                     options.lanes == 0 ? "chosen" : std::to_string(options.lanes),
                     options.wide ? "wide" : "narrow");
}

void time_cycles(const Hierarchy& host, CycleKind cycle) {
  for (const CudaCycleOptions& options :
       {CudaCycleOptions{}, {.wide = true}, {.lanes = 1}, {.lanes = 4}, {.lanes = 16}}) {
    const Stopwatch watch;
    const CudaHierarchy m(host.parts(), cycle, options);
    const double seconds = watch.seconds();
    fmt::print("{:8.1f} us per cycle of {:3} steps  {:7.1f} MB  made in {:6.1f} ms  {}\n",
               microseconds_per_cycle(m), m.steps(), static_cast<double>(m.bytes()) / 1e6,
               seconds * 1e3, described(options));
  }
}

void time_products(const Hierarchy& host) {
  for (const int lanes : {0, 1, 2, 4, 8, 16, 32}) {
    const CudaHierarchy m(host.parts(), CycleKind::v, {.lanes = lanes});
    for (std::size_t l = 0; l < m.levels().size(); ++l) {
      const CudaLevelFacts& level = m.levels()[l];
      if (level.lanes_of_a == 0) continue;
      fmt::print("level {}  {:9} rows  {:2} lanes{}  padding {:5.2f}  {:8.2f} us per product\n", l,
                 level.rows, level.lanes_of_a, lanes == 0 ? ", chosen" : "        ",
                 level.padding_of_a, m.measure_product_us(static_cast<int>(l), kProducts));
    }
  }
}

class CycleOnGpu final : public solvers::GivenPreconditioner {
 public:
  explicit CycleOnGpu(const Hierarchy& host) : cycle_(host.parts(), CycleKind::v) {}
  void apply(std::span<const double>, std::span<double>) override {}
  bool prepare_on_device() override { return true; }
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override {
    cycle_.enqueue(r, z, stream);
  }
  void enqueue_in_loop(DeviceSpan<const double> r, DeviceSpan<double> z,
                       const solvers::LoopHints& hints, StreamRef stream) override {
    cycle_.enqueue(r, z, stream, hints);
  }

 private:
  CudaHierarchy cycle_;
};

// b = A 1, from x = 0 to a true relative residual of 1e-8.
void time_solves(const Hierarchy& host, const CsrMatrix<double>& a, solvers::Method method,
                 const std::string& kernel_name) {
  const Stream stream;
  const DeviceCsrMatrix<double> csr = to_device(a.view(), stream);
  const auto kernel = build_cuda_kernel<double>(kernel_name, csr.view(), stream);
  const Array<double> ones(a.rows, 1.0);
  const DeviceBuffer<double> x = to_device(std::span<const double>(ones), stream);
  const DeviceBuffer<double> b(a.rows, stream);
  kernel->multiply(x.view(), b.span(), Accumulate::no, stream);
  stream.synchronize();
  CycleOnGpu cycle(host);
  solvers::CudaKernelSystem system(*kernel, csr.view());
  solvers::PreconditionerSpec spec;
  spec.kind = solvers::PreconditionerSpec::Kind::given;
  spec.given = &cycle;
  solvers::CudaSolver solver(system, method, solvers::Variant::automatic, spec, {});
  for (int k = 0; k < kSolves; ++k) {
    fill_zero(x.span(), stream);
    stream.synchronize();
    const Stopwatch watch;
    const solvers::SolveResult result = solver.solve(b.view(), x.span(), true, stream, {}, {});
    fmt::print("{:8.3f} ms per solve, {} iterations, {}\n", watch.seconds() * 1e3,
               result.iterations,
               static_cast<int>(result.reason) > 0 ? "converged" : "not converged");
  }
}

void run(const GenerateSpec& spec, std::int32_t rows_per_node, solvers::Method method,
         const std::string& kernel) {
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
  time_solves(host, a->blocks.local, method, kernel);
  time_products(host);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2;
  if (argc < 3) {
    fmt::print(stderr, "usage: cycle_bench GENERATOR N [ROWS_PER_NODE [METHOD [KERNEL]]]\n");
  } else {
    try {
      run({.kind = argv[1], .n = std::atoll(argv[2])}, argc > 3 ? std::atoi(argv[3]) : 1,
          argc > 4 && std::string(argv[4]) == "bicgstab" ? solvers::Method::bicgstab
                                                         : solvers::Method::cg,
          argc > 5 ? argv[5] : "sell");
      status = 0;
    } catch (const std::exception& error) {
      fmt::print(stderr, "cycle_bench: {}\n", error.what());
      status = 1;
    }
  }
  MPI_Finalize();
  return status;
}
