// SPDX-License-Identifier: BSD-3-Clause
// The levels of a hierarchy in the memory of one GPU, and a cycle that is queued in a stream. A
// build without CUDA has the same class, whose constructors throw Error{resource}.
//
// A cycle is the list of steps of cycle_program.hpp, one launch each, of which a launch waits for
// its matrix while the step before still runs. With Chebyshev of degree 2 and a V-cycle, a level
// costs six launches. Where all values are stored in FP32, the vectors of the levels are FP32 too.
//
// Bytes moved per row of a level by that V-cycle, for n nonzeros per row of A, t per row of P, and
// stored entries of e bytes (6 with FP32 values and narrow columns): four products with A move
// 4 n e, those with P and P^T 2 t e, and FP32 vectors 12 + 16 + 12 + 4 + 8 + 20 + 20 = 92. The
// finest level moves 12 more for the vectors of the caller, which are FP64.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/span.hpp"
#include "device/stream.hpp"
#include "multigrid/cuda/cuda_rows.hpp"
#include "multigrid/cycle/level_parts.hpp"
#include "multigrid/options.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme::multigrid {

class StepBorders;

// The type of the vectors between the levels. Automatic: FP32 where all values are stored so, and
// the numbers of the smoothers suit it.
enum class CycleVectors { automatic, fp32, fp64 };

struct CudaCycleOptions {
  int lanes = 0;      // per four rows of all matrices: 1, 2, 4, .. 32; 0: chosen for each matrix
  bool wide = false;  // columns take 4 bytes
  CycleVectors vectors = CycleVectors::automatic;
  // On several ranks: what the steps of the finest levels need of other ranks. It must outlive the
  // hierarchy, whose enqueue() is collective then.
  StepBorders* borders = nullptr;
};

// What is in GPU memory of a level, for reports and measurements.
struct CudaLevelFacts {
  std::int64_t rows = 0;
  int lanes_of_a = 0, lanes_of_p = 0, lanes_of_restriction = 0;  // 0: there is no such matrix
  double padding_of_a = 0;  // stored entries per nonzero, less one
  StoredValues stored_of_a = StoredValues::full;
  std::int64_t bytes = 0;  // of matrices, W and the dense inverse
};

// Products with A per measurement of LevelFacts::product_us.
inline constexpr int kMeasuredProducts = 5;

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
  // must have ended. A recorded cycle becomes invalid, because it has the old coefficients. False,
  // and nothing changes, for levels of other sizes or precisions.
  bool renew(std::span<const HostLevelParts> levels);
  bool renew(std::span<const DeviceLevelParts> levels);

  // Queues z = M^-1 r by one cycle. r and z have the rows of the finest level and do not overlap.
  // Asynchronous in `stream`, which may be recorded into a CUDA graph, also into one that loops on
  // the device. One cycle at a time may be in flight. `hints` as for GivenPreconditioner.
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream,
               const solvers::LoopHints& hints = {}) const;

  std::int64_t rows() const;
  int steps() const;  // of a cycle
  std::int64_t bytes() const;
  const std::vector<CudaLevelFacts>& levels() const;
  // Microseconds of one product with A of a level in a launch of its own, the mean over `products`;
  // 0 for a level that is solved. Waits for the device.
  double measure_product_us(int level, int products) const;

  struct Parts;

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace trireme::multigrid
