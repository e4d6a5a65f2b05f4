// SPDX-License-Identifier: BSD-3-Clause
// The levels of rank_set_up.hpp, and how they are built and renewed. Functions are collective where
// they exchange something; those that are called in together() agree before they do.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/stopwatch.hpp"
#include "device/stream.hpp"
#include "distributed/device_blocks.hpp"
#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/cuda/device_set_up.hpp"
#include "multigrid/cuda/rank_set_up.hpp"
#include "multigrid/ranks/coarse_columns.hpp"
#include "multigrid/ranks/ghost_rows.hpp"
#include "multigrid/set_up/aggregates.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

// Runs `work`, which communicates by functions that agree at first (device_ghosts.hpp).
template <class Work>
void together(MPI_Comm comm, const Work& work) {
  std::exception_ptr error;
  try {
    work();
  } catch (const AgreedError&) {
    throw;
  } catch (...) {
    error = std::current_exception();
  }
  agree_on_error(comm, error);
}

inline Array<std::int32_t> numbers_from(std::int64_t first, std::int64_t count) {
  Array<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), static_cast<std::int32_t>(first));
  return numbers;
}

// The plan for rows that stand packed already.
inline HaloPlan of_packed(HaloPlan plan) {
  std::iota(plan.send_rows.begin(), plan.send_rows.end(), 0);
  return plan;
}

template <class T>
ScratchBuffer<T> upload(std::span<const T> from, StreamRef stream) {
  ScratchBuffer<T> to(from.size(), stream);
  copy_to_device(from, to.span(), stream);
  synchronize(stream);
  return to;
}

// The entries of the rows of `m` from column `own` on.
BorderRows border_of(const DeviceCsr<double>& m, std::int64_t own, bool single, StreamRef stream);

struct RankSetUp::Parts {
  // The way to the next coarser level: what DeviceSetUp keeps, and what crosses the border.
  struct Transfer {
    ScratchBuffer<std::uint8_t> strong;
    ScratchBuffer<std::int32_t> aggregate_of_node;  // with the ghosts; local numbers
    std::int32_t aggregates = 0;                    // that columns of P lead to
    DeviceTentative tentative;                      // with the rows of the ghosts
    bool smoothed = true;
    double thinned = 0;  // the part of thinning.hpp; 0: none
    double radius = 0;   // of D^-1 A; 0 where weak entries are filtered out of the prolongator
    CoarseColumns columns;

    // The product of TripleProduct, whose sums are a product with a matrix of ones: row i of
    // `selection` adds the own terms of a coarse row, and those that have come.
    ScratchBuffer<std::int32_t> source;  // of the entries of P^T in P
    GhostRows p_ghost;
    Array<std::int32_t> columns_of_all;
    DeviceRows p_all;  // P with the rows of the ghosts below; empty where there are none
    DeviceRows a_p;    // A P, without values between two calls, as p_all, terms and all_terms
    GhostRows received;
    bool adds = false;
    DeviceRows terms, all_terms, selection;  // empty unless `adds`
    Array<std::int32_t> others;              // coarse rows of other ranks, which are columns
  };

  struct Level : DeviceLevel {  // whose coarse_rows are also those of the finest level, if joined
    std::vector<std::int64_t> starts;
    Array<std::int32_t> ghost_nodes;
    HaloPlan nodes, columns;
    std::int32_t node_size = 1;
    std::unique_ptr<DeviceGhosts> ghosts;
    std::int64_t global_nnz = 0;
    std::optional<Transfer> transfer;

    std::int64_t global_rows() const { return starts.back(); }
  };

  Parts(std::shared_ptr<DistributedMatrix> finest, const NearNullspace& near_nullspace,
        const Options& requested);
  void renew();

  std::shared_ptr<DistributedMatrix> matrix;
  MPI_Comm comm;
  Stream stream;  // outlives the arrays below
  Options options;
  GhostWords way_through_host;  // outlives the levels
  std::shared_ptr<DeviceBlocks> blocks;
  std::vector<std::unique_ptr<Level>> levels;  // that lie on the ranks
  bool whole_is_next = false;                  // a level below lies whole on every rank
  DeviceRows next_of_last;                     // of it, the rows of this rank
  DeviceRows whole;
  std::int32_t whole_node_size = 1;
  std::string whole_prolongator;
  std::optional<DeviceSetUp> below;
  NearNullspace modes;      // of the last level, while levels are added
  bool has_modes = false;   // the same on every rank, also on one without rows
  ScratchBuffer<double> x;  // of relaxed_constants.hpp, while the first transfer is made
  SetUpFacts seconds;
  std::string remark;
  bool symmetric = true;

  BorderRows finest_border;  // of the rows that join_finest() joined

  RankOfRows rank_of_rows(std::size_t l) const {
    const Level& level = *levels[l];
    RankOfRows rank{level.ghosts.get(), level.starts[own_rank()], {}};
    if (l == 0) rank.callers_rows = matrix->callers_rows;
    return rank;
  }
  std::size_t own_rank() const { return static_cast<std::size_t>(rank_of(comm)); }

 private:
  bool end(std::string why) {
    remark = std::move(why);
    return false;
  }
  double lap(Stopwatch& watch) const {
    stream.synchronize();
    return watch.lap();
  }

  // Plans the exchanges of a level whose ghost nodes are set.
  void plan(Level& level);
  void add_finest();
  // The rows of the finest level with the columns of the ghosts.
  void join_finest();
  // Drops the joined rows, of which a cycle needs the border.
  void set_finest_border();
  // A level that lies whole on every rank: the finest one, all rows or their new values, and one
  // of which this rank has `rows`.
  void gather_finest();
  void take_whole(const CsrMatrix<double>& rows);
  void gather_whole(const CoarseColumns& columns, const DeviceRows& rows);
  // Adds a level below the last one. False where no further one lies on the ranks.
  bool coarsen_last();
  // Thins the prolongator until fits() holds after make(). False where it never does.
  template <class Make, class Fits>
  bool thin_until(std::size_t l, const Make& make, const Fits& fits);
  // Makes or renews what a cycle needs on level l.
  void set_numbers(std::size_t l);
  Precision agreed_precision(const Level& level, const DeviceCsr<double>& a, bool rows) const;
  void finish(double total);

  // rank_aggregates.cpp
  void find_aggregates(std::size_t l, Transfer& t, ScratchBuffer<double>& diagonal);
  // Makes a graph symmetric whose edges are on the GPU, as node_graph.cpp does, and returns its
  // plan.
  NodeGraph symmetric_graph(const Level& level, DeviceGraph& graph);
  void take_edges(const DeviceGraph& graph, NodeGraph& host) const;
  // The global aggregate of each node of this rank; of `aggregates`, starts and, with modes, all.
  ScratchBuffer<std::int32_t> aggregates_of(std::size_t l, const DeviceGraph& graph,
                                            NodeGraph&& host, Aggregates& aggregates);
  // Modes travel between hosts.
  void set_tentative(const Level& level, Transfer& t, const Aggregates& aggregates);
  void number_aggregates(const Level& level, Transfer& t, ScratchBuffer<std::int32_t>&& of_node,
                         std::vector<std::int64_t>&& starts);

  // rank_transfer.cpp
  // Calls use(rules) with what P of level l is made of. `diagonal` is that of A.
  template <class Use>
  void with_rules(std::size_t l, const ScratchBuffer<double>& diagonal, const Use& use);
  // Makes P, P^T and this rank's rows of P^T A P.
  DeviceRows made_transfer(std::size_t l, const ScratchBuffer<double>& diagonal);
  const DeviceRows& of_all(const Level& level) const;
  // Rows of P that other ranks need; terms of coarse rows of other ranks.
  CsrMatrix<double> sent_rows(const Level& level) const;
  CsrMatrix<double> sent_terms(const DeviceRows& terms, const Transfer& t) const;
  std::int32_t rows_together(std::size_t l) const;
  DeviceRows product(Level& level, Transfer& t, std::size_t l);
  // Numbers the columns of all terms, and says which ones a coarse row is the sum of.
  void stack_terms(Transfer& t);
  void forget_values(Transfer& t) const;
  void renew_transfer(std::size_t l);
  void product_again(Level& level, Transfer& t, std::size_t l, DeviceRows& coarse);
  // TripleProduct::repair().
  void repair(const Level& level, const Transfer& t, const ScratchBuffer<double>& diagonal,
              DeviceRows& coarse) const;

  NearNullspace coarse_modes;
  bool nodes_share = false;  // columns, on the finest level
};

}  // namespace trireme::multigrid
