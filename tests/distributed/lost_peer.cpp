// SPDX-License-Identifier: BSD-3-Clause
// A program of ranks whose GPUs wait for each other. The last rank is lost between two of its
// kernels:
//   mpirun -n 2 lost_peer sum|halo|stepped|graph kill|stop
//   mpirun -n 4 lost_peer mixed kill|stop
// The rank before it must end with an error line and exit code 4. In sum, halo and mixed, where
// ranks 2 and 3 are the second of two groups, the ranks may share a GPU.
// stepped and graph run the resident engine; with fewer than two GPUs they print NOT HERE.
#include <csignal>
#include <cstdio>

#include <chrono>
#include <cmath>
#include <string>
#include <thread>

#include "device/device.hpp"
#include "distributed/cuda_operator_system.hpp"
#include "distributed/exchanges.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "parallel/collective.hpp"
#include "parallel/nodes.hpp"
#include "parallel/run_together.hpp"
#include "petsc/session.hpp"
#include "petsc/shim.hpp"
#include "solvers/systems.hpp"
#include "support/random.hpp"

namespace {

using namespace trireme;

constexpr double kSeconds = 1;

struct Loss {
  bool here;
  int signal;
  void happen() const {
    if (here) std::raise(signal);
  }
};

// Repeats `round`, which writes `numbers`. When the other rank is lost, at least one of them must
// be NaN.
template <class Round>
void rounds(const GpuExchange& exchange, const Stream& stream, DeviceSpan<const double> numbers,
            const Loss& loss, const Round& round) {
  for (int k = 0; k < 1000; ++k) {
    if (k == 300) loss.happen();
    round();
    const Array<double> now = to_host(numbers, stream);
    try {
      exchange.check();
    } catch (const Error&) {
      bool any_nan = false;
      for (const double number : now) any_nan = any_nan || std::isnan(number);
      if (!any_nan) std::fprintf(stderr, "no number is NaN\n");
      throw;
    }
  }
}

void exchange_alone(const std::string& what, const Loss& loss) {
  const auto matrix =
      test::matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(30), test::Cut::by_nonzeros);
  const auto exchange = what == "mixed"
                            ? test::exchange_of_pairs(MPI_COMM_WORLD, matrix->halo,
                                                      {.way = "peer+mpi", .peer_timeout = kSeconds})
                            : make_peer_exchange(MPI_COMM_WORLD, matrix->halo, kSeconds);
  const Stream stream;
  if (what == "sum") {
    const Array<double> one(1, 1.0);
    const auto values = to_device(std::span<const double>(one), stream);
    rounds(*exchange, stream, values.view(), loss, [&] { exchange->sum(values.span(), stream); });
  } else {
    const auto x = to_device(
        std::span<const double>(test::random_vector<double>(matrix->local_rows(), 3)), stream);
    const DeviceBuffer<double> ghosts(matrix->halo.ghosts, stream);
    rounds(*exchange, stream, ghosts.view(), loss, [&] {
      exchange->send(x.view(), stream);
      copy_on_device(exchange->receive(stream), ghosts.span(), stream);
    });
  }
}

void engine(solvers::CudaMode mode, const Loss& loss) {
  const auto matrix =
      test::matrix_on_ranks(MPI_COMM_WORLD, test::grid_matrix(1000), test::Cut::by_nonzeros);
  CudaOperatorSystem system(
      std::make_shared<CudaOperator>(matrix, "csr-vector", Precision::full,
                                     ExchangeRequest{.way = "peer", .peer_timeout = kSeconds}));
  solvers::CudaSolver solver(system, solvers::Method::cg, solvers::Variant::automatic, {},
                             {.mode = mode});
  const Array<double> b = test::random_vector<double>(matrix->local_rows(), 5);
  Array<double> x(b.size());
  solvers::IterationObserver observer;
  std::jthread killer;
  if (mode == solvers::CudaMode::stepped)
    observer.iteration = [&](const solvers::State& state, const solvers::Iterate&) {
      if (state.iterations == 50) loss.happen();
      return solvers::Reason::running;
    };
  else
    killer = std::jthread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      loss.happen();
    });
  solver.solve({b, x, true},
               solvers::Tolerances{.max_iterations = 100'000'000, .norm = solvers::NormKind::none},
               observer);
}

int run(const std::string& what, const Loss& loss) {
  const PetscSession petsc({}, {});
  select_device(rank_on_node(MPI_COMM_WORLD));
  try {
    run_together(MPI_COMM_WORLD, [&] {
      if (what == "sum" || what == "halo" || what == "mixed")
        exchange_alone(what, loss);
      else
        engine(what == "graph" ? solvers::CudaMode::graph : solvers::CudaMode::stepped, loss);
    });
  } catch (const AgreedError& error) {
    const bool not_here =
        std::string(error.what()).find("needs one GPU per rank") != std::string::npos;
    std::printf("%s: %s\n", not_here ? "NOT HERE" : "nobody was missed alone", error.what());
    return not_here ? 0 : 1;
  }
  std::printf("nobody was missed\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int ranks = argc == 3 && argv[1] == std::string("mixed") ? 4 : 2;
  if (argc != 3 || size_of(MPI_COMM_WORLD) != ranks) MPI_Abort(MPI_COMM_WORLD, 2);
  const int status = run(argv[1], {.here = rank_of(MPI_COMM_WORLD) == ranks - 1,
                                   .signal = argv[2] == std::string("kill") ? SIGKILL : SIGSTOP});
  MPI_Finalize();
  return status;
}
