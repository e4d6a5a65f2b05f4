// SPDX-License-Identifier: BSD-3-Clause
// What a hierarchy consists of, and how it is built and renewed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "multigrid/hierarchy.hpp"
#include "multigrid/level.hpp"
#include "multigrid/set_up/relaxed_constants.hpp"
#include "multigrid/store/stored_hierarchy.hpp"
#include "parallel/collective.hpp"
#include "parallel/communicator.hpp"

namespace trireme::multigrid {

struct Hierarchy::Parts {
  Parts(std::shared_ptr<DistributedMatrix> finest, const NearNullspace& modes,
        const Options& requested);
  // What `from` says of the same matrix. Collective.
  Parts(std::shared_ptr<DistributedMatrix> finest, StoredHierarchy&& from,
        const Options& requested);
  void renew();
  Array<std::byte> stored() const;    // collective
  std::int64_t stored_bytes() const;  // about as many, of this rank
  std::int64_t bytes() const;

  Options options;
  Communicator comm;  // of all ranks, also where levels lie whole on every rank
  std::vector<std::unique_ptr<Level>> levels;
  std::vector<LevelFacts> facts;
  SetUpFacts set_up;
  std::string remark;
  bool symmetric = true;  // the finest matrix
  std::optional<ReadFacts> read;
  std::optional<KeptFacts> kept;

 private:
  void add_level(std::shared_ptr<DistributedMatrix> matrix, NearNullspace& modes,
                 std::int64_t node_size);
  bool coarsen_last(const NearNullspace& modes);
  bool thin_until_it_fits(Level& level, std::int64_t most);
  Transfer coarsened(const Level& level, const NearNullspace& modes, const CoarsenRules& rules);
  void add_seconds(const CoarsenSeconds& seconds);
  std::int64_t coarse_nonzeros(const Level& level) const;
  void find_coarse_matrix(Level& level, std::int64_t most = INT64_MAX);
  void relax_constants(const Level& level, Transfer& transfer) const;
  // Calls work() while transfer.rows are those of X A X. Where it returns true, it has made P, of
  // which X P is made.
  template <class Work>
  void with_scaled_rows(const Level& level, Transfer& transfer, const Work& work) const;
  RowSlab coarse_slab(const Level& level) const;
  Transfer transfer_from(const Level& level, StoredTransfer& from);
  void complete(Level& level);
  void set_operator(Level& level);
  void set_smoother(int l, bool alone);
  void set_numbers(int l, bool known_symmetry = false);
  void finish(double seconds);
  // False, with the remark.
  bool end(std::string why);
  MPI_Comm comm_of(const Level& level) const;
  // Runs a part of the set-up of a level, which agrees on its outcome among the ranks that work on
  // the level together. Where each rank does all of it, all ranks agree.
  template <class Work>
  void together(const Level& level, const Work& work) const {
    if (size_of(comm_of(level)) > 1)
      work();
    else
      collectively(comm, work);
  }
};

template <class Work>
void Hierarchy::Parts::with_scaled_rows(const Level& level, Transfer& t, const Work& work) const {
  bool made = false;
  if (t.x) collectively(comm, [&] { t.rows->scale(*t.x); });
  together(level, [&] { made = work(); });
  if (t.x && made) scale_rows(*t.x, t.coarsening.p);
  if (t.x) t.rows->unscale();
}

}  // namespace trireme::multigrid
