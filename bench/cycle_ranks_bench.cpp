// SPDX-License-Identifier: BSD-3-Clause
// Times CG with multigrid on the GPUs of some ranks, with vectors that are on the GPUs.
//
// usage: mpirun -n RANKS cycle_ranks_bench GENERATOR N [ROWS_PER_NODE [KERNEL [EXCHANGE]]]
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/split_mix.hpp"
#include "base/stopwatch.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "device/graph.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/cuda/rank_hierarchy.hpp"
#include "multigrid/hierarchy.hpp"
#include "parallel/collective.hpp"
#include "parallel/nodes.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/preconditioners/given.hpp"
#include "sparse/generators.hpp"

namespace {

using namespace trireme;
using namespace trireme::multigrid;

constexpr int kSolves = 6;
constexpr int kCycles = 20;

std::shared_ptr<DistributedMatrix> generated(const std::string& kind, std::int64_t n,
                                             std::int64_t block) {
  const GenerateSpec spec{.kind = kind, .n = n};
  const std::int64_t rows = generator_shape(spec).rows;
  const int ranks = size_of(MPI_COMM_WORLD), rank = rank_of(MPI_COMM_WORLD);
  std::vector<std::int64_t> starts;
  for (int r = 0; r <= ranks; ++r) starts.push_back(rows / block * r / ranks * block);
  RowSlab slab = generate(spec, starts[rank], starts[rank + 1]);
  slab.global_nnz = sum_over_ranks(MPI_COMM_WORLD, slab.local.nnz());
  return distribute(MPI_COMM_WORLD, std::move(slab), std::move(starts));
}

// The cycle of a hierarchy of the host, on one GPU or on several.
class Cycle : public solvers::GivenPreconditioner {
 public:
  Cycle(Hierarchy& host, const ExchangeRequest& request) : host_(host) {
    if (size_of(MPI_COMM_WORLD) > 1)
      ranks_ = std::make_unique<RankHierarchy>(host, [=](MPI_Comm comm, const HaloPlan& halo) {
        return make_gpu_exchange(comm, halo, request);
      });
    else
      alone_ = std::make_unique<CudaHierarchy>(host.parts(), host.options().cycle);
  }
  void apply(std::span<const double> r, std::span<double> z) override { host_.apply(r, z); }
  bool prepare_on_device() override { return true; }
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override {
    enqueue_in_loop(r, z, {}, stream);
  }
  void enqueue_in_loop(DeviceSpan<const double> r, DeviceSpan<double> z,
                       const solvers::LoopHints& hints, StreamRef stream) override {
    if (ranks_)
      ranks_->enqueue(r, z, stream, hints);
    else
      alone_->enqueue(r, z, stream, hints);
  }
  void check_device() const override {
    if (ranks_) ranks_->check();
  }

 private:
  Hierarchy& host_;
  std::unique_ptr<CudaHierarchy> alone_;
  std::unique_ptr<RankHierarchy> ranks_;
};

double slowest(double value) { return max_over_ranks(MPI_COMM_WORLD, value); }

double microseconds_per_cycle(Cycle& cycle, std::size_t rows) {
  const Stream stream;
  const DeviceBuffer<double> r(rows, stream), z(rows, stream);
  fill_zero(r.span(), stream);
  const GraphExec graph(capture_graph(stream, [&] {
    for (int k = 0; k < kCycles; ++k) cycle.enqueue(r.view(), z.span(), stream);
  }));
  graph.launch(stream);
  stream.synchronize();
  MPI_Barrier(MPI_COMM_WORLD);
  const Event start, stop;
  start.record(stream);
  graph.launch(stream);
  stop.record(stream);
  stop.synchronize();
  return microseconds_between(start, stop) / kCycles;
}

void run(const std::vector<std::string>& words) {
  const std::int64_t block = words.size() > 3 ? std::stol(words[3]) : 1;
  const std::string kernel = words.size() > 4 ? words[4] : "sell";
  const ExchangeRequest request{.way = words.size() > 5 ? words[5] : ""};
  const auto matrix = generated(words[1], std::stol(words[2]), block);
  const auto op = std::make_shared<CudaOperator>(matrix, kernel, Precision::full, request);
  Options options;
  options.block_size = static_cast<std::int32_t>(block);
  if (size_of(MPI_COMM_WORLD) > 1) options.replicated_rows = kWholeRowsOnGpus;
  const Stopwatch watch;
  Hierarchy host(matrix, {}, options);
  const double set_up = slowest(watch.seconds());
  Cycle cycle(host, op->request_for_more());

  solvers::PreconditionerSpec spec;
  spec.kind = solvers::PreconditionerSpec::Kind::given;
  spec.given = &cycle;
  CudaOperatorSystem system(op);
  solvers::CudaSolver solver(system, solvers::Method::cg, solvers::Variant::automatic, spec);
  Array<double> numbers(matrix->local_rows());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = to_unit(split_mix(static_cast<std::uint64_t>(matrix->first_row()) + i, 5)) - 0.5;
  const Stream stream;
  const auto b = to_device(std::span<const double>(numbers), stream);
  const DeviceBuffer<double> x(numbers.size(), stream);
  stream.synchronize();
  double best = 1e30;
  solvers::SolveResult result;
  for (int k = 0; k < kSolves; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    const Stopwatch solve;
    result = solver.solve(b.view(), x.span(), true, stream, solvers::Tolerances{.rtol = 1e-8});
    best = std::min(best, slowest(solve.seconds()));
  }
  const bool recordable = system.recording() != Recording::none;
  const double cycle_us = recordable ? slowest(microseconds_per_cycle(cycle, numbers.size())) : 0.0;
  if (rank_of(MPI_COMM_WORLD) > 0) return;
  fmt::print(
      "{} {}: {} ranks, {}, {} rows, {} iterations, {:.2f} ms, {:.1f} us per iteration, "
      "{:.1f} us per cycle, {:.2f} s of set-up\n",
      words[1], words[2], size_of(MPI_COMM_WORLD),
      op->exchange() ? op->exchange()->name() : "alone", matrix->global_rows(), result.iterations,
      1e3 * best, 1e6 * best / static_cast<double>(std::max<std::int64_t>(1, result.iterations)),
      cycle_us, set_up);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = EXIT_SUCCESS;
  try {
    if (argc < 3) fail(ExitCode::usage, "usage: cycle_ranks_bench GENERATOR N [ROWS_PER_NODE ...]");
    select_device(rank_on_node(MPI_COMM_WORLD));
    run({argv, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "cycle_ranks_bench: {}\n", error.what());
    code = EXIT_FAILURE;
  }
  if (code == EXIT_FAILURE) MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
