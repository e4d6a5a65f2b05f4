// SPDX-License-Identifier: BSD-3-Clause
// Times graph partitioning and the redistribution of a generated matrix, with the halo and the peak
// of memory:   mpirun -n 2 partition_bench mesh2d 2000
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "app/figures/memory.hpp"
#include "base/free_memory.hpp"
#include "base/stopwatch.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/redistribution.hpp"
#include "io/problem.hpp"
#include "ordering/ordering.hpp"
#include "parallel/collective.hpp"
#include "petsc/graph_partition.hpp"
#include "petsc/session.hpp"

namespace trireme {
namespace {

std::int64_t max_of_ranks(std::int64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

void run(const std::string& kind, std::int64_t n, Ordering ordering) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const auto print = [&](const std::string& text) {
    if (rank_of(comm) == 0) fmt::print("{}\n", text);
  };
  ProblemSpec spec;
  spec.source = GenerateSpec{.kind = kind, .n = n};
  MatrixOnRanks matrix = load_matrix(comm, spec);
  const auto csr = static_cast<double>(12 * matrix.slab.local.nnz() + 4 * matrix.slab.local.rows);
  print(fmt::format("{} rows, {} nonzeros", matrix.slab.global_rows, matrix.slab.global_nnz));
  return_free_memory();  // what reading needed counts for nothing
  const std::int64_t before = resident_bytes();
  const auto peak = [&] {
    const double over = static_cast<double>(peak_resident_bytes() - before) / csr;
    return max_over_ranks(comm, 1 + over);
  };
  reset_peak_resident();
  Stopwatch watch;
  RowGraph graph = row_graph(comm, matrix.slab, matrix.row_starts);
  print(fmt::format("graph         {:8.3f} s, peak {:.2f} x CSR", max_over_ranks(comm, watch.lap()),
                    peak()));
  const Array<std::int32_t> owners = partition_graph(comm, std::move(graph), size_of(comm));
  print(fmt::format("partitioning  {:8.3f} s, peak {:.2f} x CSR", max_over_ranks(comm, watch.lap()),
                    peak()));
  reset_peak_resident();
  Redistribution rows = redistribution_of(comm, matrix.row_starts, 1, owners);
  if (ordering != Ordering::given) {
    const CsrMatrix<double> pattern = rows.local_pattern(matrix.slab);
    rows = rows.reordered(make_order(ordering, pattern.view()));
    print(fmt::format("order         {:8.3f} s", max_over_ranks(comm, watch.lap())));
  }
  RowSlab slab = rows.matrix(std::move(matrix.slab));
  print(fmt::format("redistributed {:8.3f} s, peak {:.2f} x CSR", max_over_ranks(comm, watch.lap()),
                    peak()));
  const auto nnz = slab.local.nnz();
  const auto distributed = distribute(comm, std::move(slab), rows.to());
  const double mean = static_cast<double>(distributed->global_nnz) / size_of(comm);
  print(fmt::format("ghosts {} at most, nonzeros {:.3f} of the mean at most",
                    max_of_ranks(distributed->halo.ghosts),
                    static_cast<double>(max_of_ranks(nnz)) / mean));
  std::uint64_t hash = 0;
  for (const std::int32_t row : rows.new_rows()) hash = hash * 1000003 + row;
  print(fmt::format("hash of rank 0's new numbers {:016x}", hash));
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  using namespace trireme;
  const std::string kind = argc > 1 ? argv[1] : "mesh2d";
  const std::int64_t n = argc > 2 ? std::atoll(argv[2]) : 548;
  const auto ordering = choice_of<Ordering>(argc > 3 ? argv[3] : "given");
  const PetscSession session;
  try {
    run(kind, n, ordering.value_or(Ordering::given));
  } catch (const Error& error) {
    fmt::print(stderr, "partition_bench: {}\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(error.code()));
  }
  return 0;
}
