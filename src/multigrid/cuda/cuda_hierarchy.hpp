// SPDX-License-Identifier: BSD-3-Clause
// The levels of a hierarchy in the memory of one GPU, and a cycle that is queued in a stream. A build
// without CUDA has the same class, whose constructors throw Error{resource}.
//
// A cycle is the list of steps of cycle_program.hpp. Each step of a large level is one launch. The
// steps of small levels that follow each other are one cooperative launch. With Chebyshev of degree 2
// and a V-cycle, a large level costs six launches.
//
// Bytes moved per row of a level by that V-cycle, for n nonzeros per row of A, t per row of P, and
// stored entries of e bytes (6 with FP32 values and narrow columns): four products with A move
// 4 n e, those with P and P^T 2 t e, and the vectors 32 + 32 + 16 + 16 + 48 + 48 = 192.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/span.hpp"
#include "device/stream.hpp"
#include "multigrid/level_parts.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

class StepBorders;

struct CudaCycleOptions {
  // Levels of at most so many rows run together in one launch; 0: none does. At most 65,000.
  std::int64_t rows_together = 40'000;
  int lanes = 0;      // per row of all matrices: 1, 2, 4, .. 32; 0: chosen for each matrix
  bool wide = false;  // columns take 4 bytes; only levels that do not run together
  // On several ranks: what the steps of the finest levels need of other ranks. It must outlive the
  // hierarchy, whose enqueue() is collective then.
  StepBorders* borders = nullptr;
};

// What is in GPU memory of a level, for reports and measurements.
struct CudaLevelFacts {
  std::int64_t rows = 0;
  bool together = false;
  int lanes_of_a = 0, lanes_of_p = 0, lanes_of_restriction = 0;  // 0: there is no such matrix
  double padding_of_a = 0;  // stored entries per nonzero, less one
  std::int64_t bytes = 0;   // of matrices, W and the dense inverse
};

class CudaHierarchy {
 public:
  // Copies the levels into layouts of their own on the current device, in a stream of its own, and
  // waits for that. The arrays of `levels` are not needed afterwards. Throws Error{resource} where
  // the memory does not suffice.
  CudaHierarchy(std::span<const HostLevelParts> levels, CycleKind cycle,
                const CudaCycleOptions& options = {});
  CudaHierarchy(std::span<const DeviceLevelParts> levels, CycleKind cycle,
                const CudaCycleOptions& options = {});
  ~CudaHierarchy();
  CudaHierarchy(const CudaHierarchy&) = delete;
  CudaHierarchy& operator=(const CudaHierarchy&) = delete;

  // Takes new numbers for the same patterns, and waits for the copies. What enqueue() queued before
  // must have ended. A recorded cycle becomes invalid, because it has the old coefficients. False, and
  // nothing changes, for levels of other sizes or precisions.
  bool renew(std::span<const HostLevelParts> levels);
  bool renew(std::span<const DeviceLevelParts> levels);

  // Queues z = M^-1 r by one cycle. r and z have the rows of the finest level and do not overlap.
  // Asynchronous in `stream`, which may be recorded into a CUDA graph, also into one that loops on the
  // device. One cycle at a time may be in flight.
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) const;

  std::int64_t rows() const;
  int launches() const;  // of a cycle
  int steps() const;     // of a cycle
  std::int64_t bytes() const;
  const std::vector<CudaLevelFacts>& levels() const;
  // Microseconds of one product with A of a level in a launch of its own, the mean over `products`; 0
  // for a level that is solved. Waits for the device.
  double measure_product_us(int level, int products) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace trireme::multigrid
