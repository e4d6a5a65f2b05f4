// SPDX-License-Identifier: BSD-3-Clause
// Times the resident engine on several GPUs, one per rank, for weak and strong scaling. The ranks
// share the rows of a generated system; the vectors are in device memory.
//
//   mpirun -n 4 resident_ranks_bench GENERATOR N KERNEL [cg|bicgstab] [ITERATIONS] [EXCHANGE ...]
//
// ITERATIONS is 200 by default. Each EXCHANGE (peer, nccl, mpi, peer+nccl, peer+mpi) gives one line
// with the best of five solves; by default the engine selects the exchange. The environment
// variable PETSC_OPTIONS can declare nodes of one host by -trireme_ranks_per_node.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/stopwatch.hpp"
#include "device/device.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "io/problem.hpp"
#include "parallel/collective.hpp"
#include "parallel/nodes.hpp"
#include "petsc/exchange_options.hpp"
#include "petsc/session.hpp"
#include "petsc/shim.hpp"

namespace {

using namespace trireme;
using namespace trireme::solvers;

const char* name_of(Variant variant) {
  return variant == Variant::single_reduction ? "single_reduction" : "classic";
}

void time_exchange(const std::shared_ptr<DistributedMatrix>& matrix, const std::string& kernel,
                   Method method, std::int64_t iterations, const std::string& way = {}) {
  ExchangeRequest request = exchange_options();
  request.way = way;
  const auto op = std::make_shared<CudaOperator>(matrix, kernel, Precision::full, request);
  CudaOperatorSystem system(op);
  Array<double> diagonal(matrix->local_rows());
  matrix->diagonal(diagonal);
  PreconditionerSpec spec;
  spec.kind = PreconditionerSpec::Kind::jacobi;
  spec.diagonal = diagonal;
  CudaSolver solver(system, method, Variant::automatic, spec);
  const Stream stream;
  const Array<double> ones(matrix->local_rows(), 1.0);
  const auto b = to_device(std::span<const double>(ones), stream);
  const DeviceBuffer<double> x(ones.size(), stream);
  stream.synchronize();
  Tolerances rule;
  rule.norm = NormKind::none;
  rule.max_iterations = iterations;
  double best = 1e9;
  for (int k = 0; k < 6; ++k) {  // The first solve, which captures the graph, is not counted.
    MPI_Barrier(matrix->comm);
    const Stopwatch watch;
    solver.solve(b.view(), x.span(), true, stream, rule);
    double seconds = watch.seconds();
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, matrix->comm);
    if (k > 0) best = std::min(best, seconds);
  }
  if (rank_of(matrix->comm) == 0)
    fmt::print("{} ranks, {:>9} rows, {}, {:<9} {}: {:8.2f} us per iteration\n",
               size_of(matrix->comm), matrix->global_rows(), kernel,
               op->exchange() ? op->exchange()->name() : "-", name_of(solver.variant()),
               1e6 * best / static_cast<double>(iterations));
}

void run(int argc, char** argv) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  if (argc < 4) fail(ExitCode::usage, "resident_ranks_bench GENERATOR N KERNEL [cg|bicgstab] ...");
  const PetscSession petsc({}, {});
  ProblemSpec spec;
  spec.source = GenerateSpec{.kind = argv[1], .n = std::stoll(argv[2])};
  spec.rhs = MadeRhs::ones;
  select_device(rank_on_node(comm));
  trireme::Problem problem = load_problem(comm, spec);
  const auto matrix = distribute(comm, std::move(problem.matrix), problem.row_starts);
  const Method method =
      argc > 4 && std::string(argv[4]) == "bicgstab" ? Method::bicgstab : Method::cg;
  const std::int64_t iterations = argc > 5 ? std::stoll(argv[5]) : 200;
  if (argc <= 6) time_exchange(matrix, argv[3], method, iterations);
  for (int k = 6; k < argc; ++k) time_exchange(matrix, argv[3], method, iterations, argv[k]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
