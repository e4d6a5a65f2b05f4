// SPDX-License-Identifier: BSD-3-Clause
// Which ranks see a GPU, agreed upon before any rank chooses its device; that choice; and which
// ranks share a GPU then.
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "parallel/nodes.hpp"

namespace trireme {

struct RankGpu {
  std::string node;
  bool usable = false;
};

struct GpusOfRanks {
  bool everywhere = false;  // device: auto takes a GPU then only
  std::string lacking;      // "node7 (ranks 4 to 7)"; empty where all ranks see one, or none does
};

// ranks[r] is what rank r sees.
GpusOfRanks summarise_gpus(std::span<const RankGpu> ranks);

// The same on every rank. Collective.
GpusOfRanks gpus_of_ranks(MPI_Comm comm);

// "node7 (rank 4)": where this rank runs.
std::string place_of_rank(MPI_Comm comm);

// Makes the GPU of this rank's number on its node the current device of this thread. Throws the
// same Error{resource} on every rank where one has no usable GPU. Collective.
DeviceProperties select_gpu_of_rank(MPI_Comm comm);

// A sentence that names the nodes on which several ranks use one GPU, and says what to do; empty
// where each rank has a GPU of its own. uuids[r] identifies the GPU of rank r. A rank may see other
// GPUs than its neighbours (CUDA_VISIBLE_DEVICES), so that numbers of GPUs would not tell.
std::string gpus_that_are_shared(std::span<const Node> nodes, std::span<const std::string> uuids);

// The same of the ranks of `comm`, each of which has selected its GPU. Collective.
std::string gpus_that_are_shared(MPI_Comm comm);

}  // namespace trireme
