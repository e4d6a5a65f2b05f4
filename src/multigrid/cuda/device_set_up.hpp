// SPDX-License-Identifier: BSD-3-Clause
// The levels of smoothed aggregation, built in GPU memory for one rank.
//
// The functors are those of the host (Hierarchy), and so are the bits of aggregates, prolongators
// and coarse matrices. Only the estimates of the smoothers sum in another order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/device_csr.hpp"
#include "multigrid/cuda/device_level.hpp"
#include "multigrid/facts.hpp"
#include "multigrid/near_nullspace.hpp"
#include "multigrid/options.hpp"

namespace trireme::multigrid {

// Levels that go on below those of several ranks.
struct LevelsAbove {
  int count = 0;
  std::int32_t node_size = 1;  // of the first level below
  bool symmetric = true;       // the finest matrix
};

class DeviceSetUp {
 public:
  // Builds all levels. `finest` is complete, and must outlive this object. `options` are those that
  // Hierarchy takes. Throws the errors of Hierarchy, and Error{resource} where the GPU memory does
  // not suffice. Returns when the levels are complete.
  DeviceSetUp(const DeviceCsr<double>& finest, const NearNullspace& modes, const Options& options);
  // The same below levels that lie on several ranks: `first` is then a coarse matrix, whose rows of
  // a node have the same columns.
  DeviceSetUp(const DeviceCsr<double>& first, const NearNullspace& modes, const Options& options,
              const LevelsAbove& above);
  // No work that uses the levels may be under way.
  ~DeviceSetUp();
  DeviceSetUp(const DeviceSetUp&) = delete;
  DeviceSetUp& operator=(const DeviceSetUp&) = delete;

  // Takes the present values of `finest`: aggregates and patterns stay. No work that uses the
  // levels may be under way. Returns when the levels are complete.
  void renew();

  const std::vector<DeviceLevel>& levels() const;  // the finest one first
  bool symmetric() const;                          // the finest matrix
  const SetUpFacts& seconds() const;               // of the constructor or the last renewal
  const std::string& remark() const;               // that of Hierarchy
  Smoother smoother() const;                       // likewise
  std::int64_t bytes() const;                      // of all arrays, without the finest matrix

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace trireme::multigrid
