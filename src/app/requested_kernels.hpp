// SPDX-License-Identifier: BSD-3-Clause
// The runs of a case: each kernel that it names, with its device and precision.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "config/case.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/gpus_of_ranks.hpp"
#include "kernels/registry.hpp"

namespace trireme {

// The kernels of a case in its order, each in each precision. The name auto stays until the matrix
// is known. Throws Error{usage} for a kernel that lacks the device or the precision, and
// Error{resource} where a rank has no GPU for it.
std::vector<KernelChoice> requested_kernels(const Case& c, const GpusOfRanks& gpus);

// Replaces the name auto by the kernel for this matrix, and leaves out repetitions. Collective.
std::vector<KernelChoice> decide_kernels(const std::vector<KernelChoice>& requested,
                                         const DistributedMatrix& matrix);

// Selects this rank's GPU, by its number on the node, where one of the kernels runs on a GPU.
// Returns the name of the GPU, or an empty text where none is used. Throws Error{resource} with the
// node and rank that lack one. Collective.
std::string select_gpu(MPI_Comm comm, const std::vector<KernelChoice>& kernels,
                       const GpusOfRanks& gpus);

// "csr", "csr-mixed"
std::string name_of(const KernelChoice& kernel);

}  // namespace trireme
