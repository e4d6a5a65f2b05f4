// SPDX-License-Identifier: BSD-3-Clause
// Opens the GPU, pins memory and loads kernels on a thread of its own, while the problem is read.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "config/case.hpp"
#include "device/uploader.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/gpus_of_ranks.hpp"
#include "kernels/registry.hpp"

namespace trireme {

// CUDA loads each kernel at its first launch, and creates its context at the first call. The thread
// solves a tiny system by the kernels and the method of the case, so that the first solve of the
// case finds both done. A failure of the thread has no effect: what failed fails again, with its
// message, where the result is needed.
class GpuWarmUp {
 public:
  // Begins where one of the kernels runs on a GPU. Where a rank sees no GPU, throws what
  // select_gpu() throws. Collective.
  GpuWarmUp(MPI_Comm comm, const std::vector<KernelChoice>& kernels, const GpusOfRanks& gpus,
            const SolverSpec& solver);
  ~GpuWarmUp();
  GpuWarmUp(const GpuWarmUp&) = delete;
  GpuWarmUp& operator=(const GpuWarmUp&) = delete;

  // Ends the thread after the kernel that it loads, and calls select_gpu() for this thread. Returns
  // the name of the GPU, or an empty text where none is used. Collective.
  std::string finish();
  // Uploads the matrix, where one of the kernels multiplies by that copy. Throws the same
  // Error{resource} on every rank where one has too little GPU memory. Collective.
  void upload(DistributedMatrix& matrix);

 private:
  void work(int rank_of_node, int threads);

  MPI_Comm comm_;
  const std::vector<KernelChoice>& kernels_;
  const GpusOfRanks& gpus_;
  const SolverSpec& solver_;
  bool shares_blocks_ = false;  // one of the kernels multiplies by DeviceBlocks
  std::unique_ptr<Uploader> uploader_;
  std::atomic<bool> hurry_ = false;
  std::thread thread_;
};

}  // namespace trireme
