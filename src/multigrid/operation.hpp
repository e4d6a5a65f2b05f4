// SPDX-License-Identifier: BSD-3-Clause
// Multigrid as the operation of a loop (solvers/preconditioners/given.hpp): the hierarchies of one
// matrix on the host and on the GPUs of its ranks, each made when it is needed.
//
//   place          build() makes             the cycle runs
//   host           Hierarchy                 on the host
//   one GPU        DeviceHierarchy           there; where the set-up does not fit, the host builds
//   several GPUs   RankHierarchy             there, likewise
//
// The hierarchy for the other side is made when the first cycle is asked for there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "distributed/distributed_matrix.hpp"
#include "distributed/gpu_exchange.hpp"
#include "multigrid/cuda/device_hierarchy.hpp"
#include "multigrid/cuda/rank_hierarchy.hpp"
#include "multigrid/facts.hpp"
#include "multigrid/hierarchy.hpp"
#include "multigrid/near_nullspace.hpp"
#include "multigrid/options.hpp"
#include "multigrid/store/hierarchy_entry.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme::multigrid {

class MultigridOperation : public solvers::GivenPreconditioner {
 public:
  // Gives the vectors for a hierarchy, each time that one is built: the operation keeps no copy of
  // them. Collective.
  using GiveModes = std::function<NearNullspace()>;

  // Where the cycles will be asked for: on GPUs, whose ranks exchange as `exchange` says, or on the
  // host (none). The next build() is for that place.
  void set_place(const std::optional<ExchangeRequest>& exchange);
  // Where the first hierarchy of the host may be found, and is kept for later runs. A hierarchy
  // that GPUs build is in neither.
  void use_store(const HierarchyStore& store) { store_ = store; }

  // Builds a new hierarchy, which shares the matrix. Where neither `options` nor `modes` say what
  // the unknowns of a node are, it finds them (set_up/node_size.hpp). An error leaves none: then
  // is_set_up() is false. Throws what Hierarchy and `modes` throw, on every rank, and
  // Error{resource} where a GPU has no memory for the hierarchy. Collective.
  void build(std::shared_ptr<DistributedMatrix> matrix, GiveModes modes, const Options& options);
  // Takes the present values of the matrix: aggregates and patterns stay. Errors are those of
  // build(), and Error{internal} where nothing is set up. Collective.
  void renew();
  // Whether renew() suffices for these options on a matrix of unchanged pattern.
  bool is_built_with(const Options& options) const;
  bool is_set_up() const { return hierarchy_ || on_device_ || on_ranks_; }
  // Leaves nothing set up. What set_place() and use_store() have said, and the counters, remain.
  void forget_levels();

  // Throws Error{internal} where nothing is set up. Collective.
  void apply(std::span<const double> r, std::span<double> z) override;
  // z = M^-T r, on the host. Likewise.
  void apply_transposed(std::span<const double> r, std::span<double> z);
  // Builds or renews the hierarchy on the current device, where build() and renew() have not.
  // Throws Error{internal} where nothing is set up. Collective.
  bool prepare_on_device() override;
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override;
  void enqueue_in_loop(DeviceSpan<const double> r, DeviceSpan<double> z,
                       const solvers::LoopHints& hints, StreamRef stream) override;
  std::uint64_t device_version() const override { return device_version_; }
  void check_device() const override;

  // Of the hierarchy on the GPU where there is one, else of that on the host. None: nothing is set
  // up.
  std::optional<HierarchyFacts> facts() const;
  // Null: no cycle was asked for on the host.
  const Hierarchy* hierarchy() const { return hierarchy_.get(); }
  // Null: no cycle was asked for on one GPU.
  const DeviceHierarchy* on_device() const { return on_device_.get(); }
  // Null: no cycle was asked for on the GPUs of several ranks.
  const RankHierarchy* on_ranks() const { return on_ranks_.get(); }
  int builds() const { return builds_; }
  int renewals() const { return renewals_; }

 private:
  void update();
  void update_on_host();
  void update_on_device();
  void update_on_one_device();
  void update_on_ranks();
  NearNullspace modes_of_nodes();
  Options for_place(const Options& options) const;
  bool on_several_ranks() const;
  void require_set_up() const;

  bool for_device_ = false;
  ExchangeRequest exchange_;  // of the ranks' GPUs
  HierarchyStore store_;      // null: none
  std::shared_ptr<DistributedMatrix> matrix_;
  GiveModes modes_;
  Options asked_, built_;  // of build(), and of the hierarchies
  std::unique_ptr<Hierarchy> hierarchy_;
  std::unique_ptr<DeviceHierarchy> on_device_;
  std::unique_ptr<RankHierarchy> on_ranks_;              // refers to hierarchy_
  std::uint64_t version_ = 0;                            // of the values that were last taken
  std::uint64_t host_version_ = 0, device_version_ = 0;  // of those in each hierarchy
  int builds_ = 0, renewals_ = 0;
};

}  // namespace trireme::multigrid
