// SPDX-License-Identifier: BSD-3-Clause
// Which ranks see a GPU, agreed upon before any rank chooses its device; and that choice.
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"

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

}  // namespace trireme
