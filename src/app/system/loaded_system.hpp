// SPDX-License-Identifier: BSD-3-Clause
// The system of a case as its runs need it: read, identified, on its ranks, scaled, on the GPU.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/figures/start_clock.hpp"
#include "app/kept/case_cache.hpp"
#include "app/kept/run_identity.hpp"
#include "app/rank_zero.hpp"
#include "app/solves/plain_product.hpp"
#include "app/solves/steps.hpp"
#include "app/system/gpu_warm_up.hpp"
#include "app/system/row_distribution.hpp"
#include "config/case.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/gpus_of_ranks.hpp"
#include "io/problem.hpp"
#include "kernels/registry.hpp"
#include "report/outcome.hpp"

namespace trireme {

// A case for CPUs does not wait for the driver of a GPU. Collective.
GpusOfRanks gpus_for(MPI_Comm comm, const Case& c);

class LoadedSystem {
 public:
  // Refuses what can be refused before it reads, and throws what run_case() documents. `outcome`
  // gets the machine, the problem, its hashes and the distribution; `clock` the times. The
  // references must outlive the object. Collective.
  LoadedSystem(MPI_Comm comm, const Case& c, const RankZero& rank_zero, StartClock& clock,
               CaseOutcome& outcome);

  const std::vector<KernelChoice>& requested() const { return requested_; }
  // Whether the first run is on a GPU.
  bool begins_on_gpu() const {
    return !requested_.empty() && requested_.front().device == Device::cuda;
  }
  const Problem& problem() const { return problem_; }
  const RunIdentity& identity() const { return identity_; }
  RowRange rows_of_file() const { return rows_of_file_; }  // of this rank, before rows were moved
  CaseCache& cached() { return cached_; }
  const std::shared_ptr<DistributedMatrix>& matrix() const { return matrix_; }
  // How the rows were redistributed; null: they stay in their order.
  const std::shared_ptr<Redistribution>& moved() const { return distribution_.moved; }
  Steps* steps() { return steps_ ? &*steps_ : nullptr; }  // null: the case has one system
  PlainProduct& plain() { return *plain_; }
  // Brings the steps, if any, to step 0 for a further run.
  void begin_again();
  int matrix_exponent() const { return matrix_exponent_; }  // `matrix` is the problem's / 2^this
  const std::vector<std::string>& notes() const { return notes_; }  // for every run
  // The number of products ahead decided on the distribution; `earlier` is what the cache knew.
  bool products_decided() const { return distribution_.products_decided; }
  std::optional<std::int64_t> earlier_iterations() const { return earlier_; }

 private:
  void read();
  void identify();
  void distribute();
  void begin_steps(DistributionRequest request, std::optional<LastPattern> pattern);
  void use_gpu();
  // What every run of the case notes. Collective.
  void note();

  MPI_Comm comm_;
  const Case& case_;
  const RankZero& rank_zero_;
  StartClock& clock_;
  CaseOutcome& outcome_;
  const bool expected_gpu_;
  GpusOfRanks gpus_;
  std::vector<KernelChoice> requested_;
  std::optional<GpuWarmUp> gpu_;
  ProblemSpec spec_;
  Problem problem_;
  MatrixIdentity fingerprints_;
  RunIdentity identity_;
  RowRange rows_of_file_{};
  CaseCache cached_;
  std::optional<std::int64_t> earlier_;
  RowDistribution distribution_;
  std::shared_ptr<DistributedMatrix> matrix_;
  std::optional<Steps> steps_;
  std::optional<PlainProduct> plain_;
  int matrix_exponent_ = 0;
  std::vector<std::string> notes_;
};

// What reports say of the problem, and which b and x0 it has.
ProblemDescription describe_problem(const Case& c, const Problem& problem);

}  // namespace trireme
