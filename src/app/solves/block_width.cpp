// SPDX-License-Identifier: BSD-3-Clause
#include "app/solves/block_width.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "base/available_memory.hpp"
#include "base/stopwatch.hpp"
#include "device/device.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/host_operator.hpp"
#include "parallel/collective.hpp"
#include "planning/block_rule.hpp"
#include "solvers/methods/list.hpp"

namespace trireme {
namespace {

using Width = std::int64_t;

// The bytes of this rank for a block. Where the solver works on a GPU, the host has B and X only,
// as they are handed over.
struct BlockBytes {
  double host = 0, gpu = 0;
};

// Collective.
BlockBytes bytes_of_block(const Plan& plan, std::int64_t rows, Width width) {
  const auto of_solver = static_cast<double>(plan.solver->block_bytes(width));
  const double of_caller =
      2.0 * sizeof(double) * static_cast<double>(rows) * static_cast<double>(width);
  if (plan.amat->on_gpu()) return {.host = of_caller, .gpu = of_solver};
  return {.host = of_caller + of_solver};
}

// The parts of the free memory that a block may take.
struct PartOfMemory {
  double host = 1, gpu = 1;
};

int ranks_of_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const int ranks = size_of(node);
  MPI_Comm_free(&node);
  return ranks;
}

// Whether blocks are expected to take less time per column. Collective.
bool pays(const DistributedMatrix& matrix, const Plan& plan, Width width) {
  const bool on_gpu = plan.amat->on_gpu();
  if (width < least_block(on_gpu)) return false;
  const KernelStatistics product = plan.amat->statistics();
  const auto method = solvers::method_named(plan.solver->method());
  const BlockCosts mine = block_costs(
      {.matrix = static_cast<double>(product.stored_bytes),
       .nonzeros = static_cast<double>(matrix.blocks.nnz()),
       .products = method ? method->info.products : 1,
       .column = bytes_per_column([&](Width columns) { return plan.solver->block_bytes(columns); }),
       .cache = last_cache_bytes(ranks_of_node(matrix.comm)),
       .width = width},
      on_gpu);
  return sum_over_ranks(matrix.comm, std::llround(mine.together - mine.alone)) < 0;
}

// The widest block of at most `width` for which these parts of the memory suffice on every rank; 0
// where none does. Collective.
Width widest_that_fits(MPI_Comm comm, const Plan& plan, std::int64_t rows, Width width,
                       const PartOfMemory& part) {
  const int ranks_here = ranks_of_node(comm);
  const AvailableMemory memory = available_memory();
  const double host = part.host * std::min(static_cast<double>(memory.own),
                                           static_cast<double>(memory.shared) / ranks_here);
  bytes_of_block(plan, rows, 1);  // prepares the solver, which takes some of the GPU's memory
  const double gpu =
      plan.amat->on_gpu() ? part.gpu * static_cast<double>(device_memory().free_bytes) : 0;
  Width fits = 0;  // every rank asks for every width, because bytes_of_block() is collective
  for (Width tried = 1; tried <= width; ++tried) {
    const BlockBytes bytes = bytes_of_block(plan, rows, tried);
    if (bytes.host <= host && bytes.gpu <= gpu) fits = tried;
  }
  MPI_Allreduce(MPI_IN_PLACE, &fits, 1, MPI_INT64_T, MPI_MIN, comm);
  return fits;
}

// Seconds of a product with `width` vectors, the slowest rank. Collective.
double product_seconds(HostOperator& op, Width width) {
  const std::int64_t rows = op.matrix().local_rows();
  const Array<double> x(rows * width, 1.0);
  Array<double> y(rows * width);
  double least = std::numeric_limits<double>::infinity();
  for (int product = 0; product < 3; ++product) {  // the first one allocates
    const Stopwatch watch;
    op.multi_multiply_in_order(side_by_side(x.data(), rows, width),
                               side_by_side(y.data(), rows, width));
    if (product > 0) least = std::min(least, max_over_ranks(op.matrix().comm, watch.seconds()));
  }
  return least;
}

double product_seconds(CudaOperator& op, Width width) {
  return 1e-6 * max_over_ranks(op.matrix().comm, op.measure_multi_product_us(width));
}

// Of the widths from `first` to `limit` that double, the one whose product takes the least time per
// vector. Collective.
template <class Op>
Width fastest_width(Op& op, Width first, Width limit) {
  double least = std::numeric_limits<double>::infinity();
  Width best = first;
  for (Width width = first; width <= limit; width *= 2) {
    const double each = product_seconds(op, width) / static_cast<double>(width);
    if (each < least) {
      least = each;
      best = width;
    }
  }
  op.times().clear();
  return best;
}

}  // namespace

bool BlockWidth::is_expected() const {
  const std::optional<std::int64_t> asked = context_.spec.solver.block;
  return (asked || columns_ >= kLeastOnGpus) && plan_.solver->solves_blocks();
}

std::size_t BlockWidth::value() {
  if (chosen_ == 0) chosen_ = choose();
  const bool asked = context_.spec.solver.block.has_value();
  if (chosen_ > 1 && !asked && plan_.solver->preconditions_one_by_one()) return 1;
  return chosen_;
}

std::size_t BlockWidth::choose() {
  const MPI_Comm comm = context_.matrix->comm;
  const std::optional<std::int64_t> asked = context_.spec.solver.block;
  if (!plan_.solver->solves_blocks()) {
    if (asked)
      note_ =
          plan_.amat->on_gpu()
              ? "solver.block on GPUs is for method direct, and for the resident engine with a "
                "kernel "
                "that multiplies several vectors at once, without options that print each solve: "
                "the right-hand sides were solved one after another"
              : "solver.block is for method direct and the resident engine, without options that "
                "print each solve: the right-hand sides were solved one after another";
    return 1;
  }
  const std::int64_t rows = context_.matrix->local_rows();
  if (asked) {
    const Width wanted = std::min<Width>(*asked, columns_);
    const Width fits = widest_that_fits(comm, plan_, rows, wanted, {});
    const BlockBytes needed = bytes_of_block(plan_, rows, wanted);
    collectively(comm, [&] {
      if (fits < wanted)
        fail(ExitCode::resource,
             "solver.block: {} right-hand sides at once need {:.3g} GB on a rank{}, which is more "
             "than is available; the largest block that fits is {}",
             wanted, 1e-9 * needed.host,
             needed.gpu > 0 ? fmt::format(" and {:.3g} GB on its GPU", 1e-9 * needed.gpu) : "",
             fits);
    });
    return static_cast<std::size_t>(wanted);
  }
  if (columns_ < kLeastOnGpus || plan_.solver->preconditions_one_by_one() ||
      plan_.solver->is_one_kernel())
    return 1;
  constexpr Width kWidest = 32, kUnmeasured = 8;
  constexpr PartOfMemory kPartOfMemory{.host = 0.25, .gpu = 0.5};
  const Width limit =
      widest_that_fits(comm, plan_, rows, std::min(kWidest, columns_), kPartOfMemory);
  if (plan_.solver->method() == kDirect) return static_cast<std::size_t>(std::max<Width>(1, limit));
  if (!pays(*context_.matrix, plan_, limit)) return 1;
  if (limit <= kUnmeasured) return static_cast<std::size_t>(std::max<Width>(1, limit));
  const std::shared_ptr<Operator> op = plan_.amat->shared_operator();
  Width best = limit;
  if (const auto host = std::dynamic_pointer_cast<HostOperator>(op))
    best = fastest_width(*host, kUnmeasured, limit);
  else if (const auto cuda = std::dynamic_pointer_cast<CudaOperator>(op))
    best = fastest_width(*cuda, kUnmeasured, limit);
  return static_cast<std::size_t>(best);
}

}  // namespace trireme
