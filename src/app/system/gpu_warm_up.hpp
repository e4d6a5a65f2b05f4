// SPDX-License-Identifier: BSD-3-Clause
// Opens the GPU, pins memory and loads kernels on a thread of its own, while the problem is read.
// The entries that are read go to the GPU as soon as it is open.
#pragma once

#include <mpi.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/system/early_upload.hpp"
#include "config/case.hpp"
#include "device/uploader.hpp"
#include "distributed/distributed_matrix.hpp"
#include "distributed/gpus_of_ranks.hpp"
#include "kernels/registry.hpp"

namespace trireme {

// The driver starts at the first call of CUDA, a context is created at the first call that needs
// one, and each kernel is loaded at its first launch. The thread does all that: it solves a tiny
// system by the kernels and the method of the case, so that the first solve of the case finds
// everything done. Meanwhile the caller's parallel loops have one thread fewer where they would
// occupy every core: a loop ends with its slowest thread. A failure of the thread has no effect:
// what failed fails again, with its message, where the result is needed.
class GpuWarmUp {
 public:
  // Begins where one of the kernels runs on a GPU. Where a rank sees no GPU, throws what
  // select_gpu() throws. `gpus` may be what one process expects rather than what it has seen. The
  // arguments must outlive the object. Collective.
  GpuWarmUp(MPI_Comm comm, const std::vector<KernelChoice>& kernels, const GpusOfRanks& gpus,
            const Case& c);
  ~GpuWarmUp();
  GpuWarmUp(const GpuWarmUp&) = delete;
  GpuWarmUp& operator=(const GpuWarmUp&) = delete;

  // Takes the entries of a matrix in a file while they are read. Null where no kernel multiplies by
  // a copy of them in GPU memory, and on several ranks, whose local columns have other numbers.
  EntriesSink* sink() { return early_ ? &*early_ : nullptr; }
  // The problem has been read, and sink() takes no more entries.
  void reading_has_ended();
  // Waits until the thread has opened the GPU. Returns true where one of the kernels runs on a GPU
  // and this process has none. Not collective.
  bool is_missing();
  // Waits until the thread has opened the GPU, and calls select_gpu() for this thread. Returns the
  // name of the GPU, or an empty text where none is used. On several ranks the thread ends first:
  // what they launch for ghosts loads kernels beside it, and a third of the runs on two GPUs
  // crashed in the driver (580.159), where it destroyed a graph whose capture had failed
  // (Graph::abandon()). Collective.
  std::string wait_until_open();
  // Ends the thread after the kernel that it loads.
  void finish();
  // Uploads the matrix, or what sink() has not uploaded, where one of the kernels multiplies by
  // that copy. wait_until_open() comes first. `as_read`: on one rank, the entries are those that
  // sink() took, in their order. Throws the same Error{resource} on every rank where one has too
  // little GPU memory. Collective.
  void upload(DistributedMatrix& matrix, bool as_read);

 private:
  void open(int rank_of_node, int threads);
  void load();

  MPI_Comm comm_;
  const std::vector<KernelChoice>& kernels_;
  const GpusOfRanks& gpus_;
  const Case& case_;
  const bool alone_;            // the run has one rank
  bool shares_blocks_ = false;  // one of the kernels multiplies by DeviceBlocks
  std::unique_ptr<Uploader> uploader_;
  std::optional<EarlyUpload> early_;
  int threads_ = 0;  // of the caller before the thread began; 0: there is no thread
  std::promise<void> opened_;
  std::shared_future<void> opening_;     // of opened_; invalid where there is no thread
  std::atomic<bool> available_ = false;  // the thread has seen a GPU
  std::atomic<bool> hurry_ = false;
  std::thread thread_;
};

}  // namespace trireme
