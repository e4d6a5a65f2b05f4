// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy on one GPU, from the finest matrix to the cycle.
//
//   DeviceBlocks of the matrix --DeviceSetUp--> levels in CSR --CudaHierarchy--> layouts and steps
//   Hierarchy on the host      ------------- copies ---------------^
//
// The levels in CSR stay in GPU memory, because new values are computed in them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "distributed/device_blocks.hpp"
#include "distributed/distributed_matrix.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/cuda/device_set_up.hpp"
#include "multigrid/facts.hpp"
#include "multigrid/hierarchy.hpp"
#include "multigrid/near_nullspace.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

class DeviceHierarchy {
 public:
  // Builds all levels on the current device. The finest matrix is that of DeviceBlocks::of().
  // `matrix` is on one rank. Throws what DeviceSetUp and DeviceBlocks throw.
  DeviceHierarchy(std::shared_ptr<DistributedMatrix> matrix, const NearNullspace& modes,
                  const Options& options);
  // Copies the levels of `host` to the current device. Throws Error{resource} where the memory does
  // not suffice.
  explicit DeviceHierarchy(const Hierarchy& host);

  // Takes the present values of the matrix: aggregates and patterns stay. No cycle may be under
  // way, and recorded ones become invalid. After an error the object is of no use. Throws what the
  // constructors throw.
  void renew();
  // The same for a hierarchy that was copied, from its present numbers.
  void renew(const Hierarchy& host);

  bool built_on_host() const { return !set_up_; }
  const CudaHierarchy& cycle() const { return *cycle_; }
  // Seconds are those of the constructor or of the last renewal, `distribution` is the upload of
  // the finest matrix, and `kernels` are the layouts. The products of all levels are timed, for
  // which the device must have nothing else to do.
  HierarchyFacts facts() const;

 private:
  void set_cycle(double upload_seconds);

  std::shared_ptr<DistributedMatrix> matrix_;
  std::shared_ptr<DeviceBlocks> blocks_;
  Options options_;
  std::optional<DeviceSetUp> set_up_;  // none: the levels are those of a Hierarchy
  std::unique_ptr<CudaHierarchy> cycle_;
  HierarchyFacts facts_;  // without the times of products
};

}  // namespace trireme::multigrid
