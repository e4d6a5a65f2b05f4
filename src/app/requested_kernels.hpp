// SPDX-License-Identifier: BSD-3-Clause
// The runs of a case: each kernel that it names, with its device and precision.
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/kernel_decision.hpp"
#include "config/case.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/gpus_of_ranks.hpp"
#include "kernels/registry.hpp"
#include "planning/choose.hpp"

namespace trireme {

// The kernels of a case in its order, each in each precision. The name auto stays until the matrix
// is known. Throws Error{usage} for a kernel that lacks the device or the precision, and
// Error{resource} where a rank has no GPU for it.
std::vector<KernelChoice> requested_kernels(const Case& c, const GpusOfRanks& gpus);

// A run of a case, and the kernel with which it begins.
struct PlannedRun {
  KernelChoice kernel;
  bool automatic = false;                   // `kernel: auto`: the kernel may change
  std::optional<KernelDecision> earlier{};  // what an earlier run has measured
  std::optional<MatrixTraits> traits{};     // where the rule has looked at them
};

// Finds what an earlier run has decided for `kernel: auto` on that device in that precision.
using FindDecision = std::function<std::optional<KernelDecision>(const KernelChoice& requested)>;

// Whether this program can run the case with what an earlier run, maybe of another build, has
// decided for this kernel. Not collective.
bool can_run(const KernelDecision& decision, const Case& c, const KernelChoice& requested);

// The names of the kernels that this program has for a device and a precision: "csr, sell".
std::string kernels_of_build(Device device, Precision precision);

// Replaces the name auto by the kernel of an earlier decision, or by that of the rule. Collective.
std::vector<PlannedRun> plan_runs(const std::vector<KernelChoice>& requested,
                                  const DistributedMatrix& matrix, const FindDecision& find);

// Selects this rank's GPU, by its number on the node, where one of the kernels runs on a GPU.
// Returns the name of the GPU, or an empty text where none is used. Throws Error{resource} with the
// node and rank that lack one. Collective.
std::string select_gpu(MPI_Comm comm, const std::vector<KernelChoice>& kernels,
                       const GpusOfRanks& gpus);

// "csr", "csr-mixed", "auto"
std::string name_of(const PlannedRun& run);

}  // namespace trireme
