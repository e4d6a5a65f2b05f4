// SPDX-License-Identifier: BSD-3-Clause
// Builds the distributed levels one after the other, as hierarchy_coarsening.cpp does on the host.
#include "multigrid/cuda/rank_set_up.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/stream.hpp"
#include "distributed/device_blocks.hpp"
#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/cuda/device_product.hpp"
#include "multigrid/cuda/device_set_up.hpp"
#include "multigrid/cuda/device_smoother.hpp"
#include "multigrid/cuda/device_transfer.hpp"
#include "multigrid/cuda/level_parts_of.hpp"
#include "multigrid/cuda/rank_rows.hpp"
#include "multigrid/limits.hpp"
#include "multigrid/ranks/coarse_columns.hpp"
#include "multigrid/ranks/edges_of_others.hpp"
#include "multigrid/ranks/ghost_rows.hpp"
#include "multigrid/ranks/local_numbers.hpp"
#include "multigrid/ranks/node_exchange.hpp"
#include "multigrid/ranks/replication.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/aggregates.hpp"
#include "multigrid/set_up/coarsen.hpp"
#include "multigrid/set_up/members.hpp"
#include "multigrid/set_up/thinning.hpp"
#include "multigrid/set_up/triple_product.hpp"
#include "multigrid/store/stored_hierarchy.hpp"
#include "parallel/collective.hpp"
#include "parallel/secret_numbers.hpp"

namespace trireme::multigrid {
namespace {

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

Array<std::int32_t> numbers_from(std::int64_t first, std::int64_t count) {
  Array<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), static_cast<std::int32_t>(first));
  return numbers;
}

// The plan for rows that stand packed already.
HaloPlan of_packed(HaloPlan plan) {
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

DeviceRows upload(const CsrMatrix<double>& m, StreamRef stream) {
  return {m.rows, m.cols, upload(std::span<const std::int32_t>(m.row_ptr), stream),
          upload(std::span<const std::int32_t>(m.col_idx), stream),
          upload(std::span<const double>(m.values), stream)};
}

CsrMatrix<double> on_host(const DeviceCsr<double>& m, StreamRef stream) {
  return {m.rows, m.cols, to_host(m.row_ptr, stream), to_host(m.col_idx, stream),
          to_host(m.values, stream)};
}

// The numbers outside [first, first + own), once each and ascending.
Array<std::int32_t> others_among(DeviceSpan<const std::int32_t> numbers, std::int64_t first,
                                 std::int64_t own, StreamRef stream) {
  const Array<std::int32_t> found = numbers_outside(numbers, first, own, stream);
  return multigrid::others_among(std::span<const std::int32_t>(found), first, own);
}

// The entries of the rows of `m` from column `own` on.
BorderRows border_of(const DeviceCsr<double>& m, std::int64_t own, bool single, StreamRef stream) {
  const Array<std::int32_t> rows = rows_beyond(m, own, stream);
  return border_columns(rows_on_host(m, rows, stream).view(), rows, own, single);
}

}  // namespace

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
        const Options& requested)
      : matrix(std::move(finest)), comm(matrix->comm), options(requested) {
    const Stopwatch total;
    matrix->require_32_bits();
    collectively(comm, [&] {
      check_options(options);
      check_sizes(local_rows(*matrix), near_nullspace, {.block_size = options.block_size});
      blocks = DeviceBlocks::of(*matrix).blocks;
    });
    modes = near_nullspace;
    if (lies_whole(matrix->global_rows(), options)) {
      gather_finest();
    } else {
      add_finest();
      while (coarsen_last()) {
      }
      for (std::size_t l = 0; l < levels.size(); ++l) set_numbers(l);
      set_finest_border();
    }
    if (whole_is_next)
      collectively(comm, [&] {
        below.emplace(whole.view(), modes, options,
                      LevelsAbove{static_cast<int>(levels.size()), whole_node_size, symmetric});
      });
    modes = {};
    finish(total.seconds());
  }

  void renew() {
    const Stopwatch total;
    seconds = {};
    collectively(comm, [&] {
      if (DeviceBlocks::of(*matrix).blocks != blocks)
        fail(ExitCode::internal, "the matrix of a multigrid hierarchy has moved in GPU memory");
    });
    if (levels.empty()) {
      take_whole(Replication(comm, matrix->row_starts).whole(*matrix)->blocks.local);
    } else {
      collectively(comm, [&] { join_finest(); });
      for (std::size_t l = 0; l < levels.size(); ++l) {
        if (levels[l]->transfer) renew_transfer(l);
        set_numbers(l);
      }
      set_finest_border();
      if (whole_is_next) gather_whole(levels.back()->transfer->columns, next_of_last);
    }
    if (below) collectively(comm, [&] { below->renew(); });
    finish(total.seconds());
  }

  std::shared_ptr<DistributedMatrix> matrix;
  MPI_Comm comm;
  Stream stream;  // outlives the arrays below
  Options options;
  std::shared_ptr<DeviceBlocks> blocks;
  std::vector<std::unique_ptr<Level>> levels;  // that lie on the ranks
  bool whole_is_next = false;                  // a level below lies whole on every rank
  DeviceRows next_of_last;                     // of it, the rows of this rank
  DeviceRows whole;
  std::int32_t whole_node_size = 1;
  std::string whole_prolongator;
  std::int64_t whole_nnz = 0;
  std::optional<DeviceSetUp> below;
  NearNullspace modes;      // of the last level, while levels are added
  ScratchBuffer<double> x;  // of relaxed_constants.hpp, while the first transfer is made
  SetUpFacts seconds;
  std::string remark;
  bool symmetric = true;

  BorderRows finest_border;

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
  void plan(Level& level) {
    const std::int64_t size = level.node_size;
    std::vector<std::int64_t> node_starts;
    for (const std::int64_t start : level.starts) node_starts.push_back(start / size);
    level.nodes = plan_halo(comm, node_starts, level.ghost_nodes);
    const std::int64_t own = node_starts[own_rank() + 1] - node_starts[own_rank()];
    collectively(comm, [&] {
      level.columns = widened(level.nodes, own, size, size);
      level.ghosts = std::make_unique<DeviceGhosts>(comm, level.nodes, own, size, stream);
    });
  }

  void add_finest() {
    auto level = std::make_unique<Level>();
    level->starts = matrix->row_starts;
    level->node_size = options.block_size;
    level->global_nnz = matrix->global_nnz;
    collectively(comm, [&] {
      for (const std::int64_t column : matrix->blocks.ghost_columns) {
        const auto node = static_cast<std::int32_t>(column / options.block_size);
        if (level->ghost_nodes.empty() || level->ghost_nodes.back() != node)
          level->ghost_nodes.push_back(node);
      }
    });
    plan(*level);
    levels.push_back(std::move(level));
    collectively(comm, [&] {
      join_finest();
      nodes_share =
          options.block_size > 1 && nodes_share_columns(levels[0]->a, options.block_size, stream);
    });
  }

  // The rows of the finest level with the columns of the ghosts.
  void join_finest() {
    Level& level = *levels.front();
    const DeviceCsr<double> local = blocks->local().view();
    const SplitRows& split = matrix->blocks;
    level.a = local;
    if (level.ghost_nodes.empty()) return;
    const std::int32_t size = level.node_size;
    Array<std::int32_t> place(split.ghost_columns.size());
    std::int32_t node = 0;
    for (std::size_t g = 0; g < place.size(); ++g) {
      const auto column = static_cast<std::int32_t>(split.ghost_columns[g]);
      while (level.ghost_nodes[static_cast<std::size_t>(node)] != column / size) ++node;
      place[g] = static_cast<std::int32_t>(local.rows) + node * size + column % size;
    }
    const std::int64_t cols = local.rows + std::ssize(level.ghost_nodes) * size;
    level.coarse_rows = joined(local, split.ghost.view(), place, cols, stream);
    level.a = level.coarse_rows.view();
  }
  // Drops the joined rows, of which a cycle needs the border.
  void set_finest_border() {
    collectively(comm, [&] {
      Level& level = *levels.front();
      finest_border = border_of(level.a, level.a.rows, level.precision == Precision::mixed, stream);
      level.coarse_rows = {};
      level.a = blocks->local().view();
    });
  }

  void gather_finest() {
    const Replication replication(comm, matrix->row_starts);
    const auto all = replication.whole(*matrix);
    modes = replication.whole(modes);
    whole_is_next = true;
    whole_node_size = options.block_size;
    whole_nnz = matrix->global_nnz;
    take_whole(all->blocks.local);
  }
  void take_whole(const CsrMatrix<double>& rows) {
    collectively(comm, [&] {
      if (whole.row_ptr.empty())
        whole = upload(rows, stream);
      else
        copy_to_device(std::span<const double>(rows.values), whole.values.span(), stream);
      stream.synchronize();
    });
  }
  void gather_whole(const CoarseColumns& columns, const DeviceRows& rows) {
    const Stopwatch watch;
    CsrMatrix<double> mine;
    collectively(comm, [&] {
      mine = with_global_columns(on_host(rows.view(), stream), columns,
                                 levels.back()->transfer->others);
    });
    take_whole(Replication(comm, columns.starts).whole(mine));
    seconds.distribution += watch.seconds();
  }

  // Adds a level below the last one. False where no further one lies on the ranks.
  bool coarsen_last() {
    const int l = static_cast<int>(levels.size()) - 1;
    Level& level = *levels.back();
    const std::int64_t rows = level.global_rows();
    if (rows <= options.coarsest_rows) return false;
    if (l + 1 >= options.max_levels)
      return end(fmt::format("max_levels is {}", options.max_levels));
    Transfer t;
    t.smoothed = options.smoothed_prolongator;
    ScratchBuffer<double> diagonal;
    together(comm, [&] { find_aggregates(static_cast<std::size_t>(l), t, diagonal); });
    const std::int64_t coarse = t.columns.starts.back();
    if (static_cast<double>(coarse) > kShrinksTooLittle * static_cast<double>(rows))
      return end(
          fmt::format("level {} has {} rows, and the next one would have {}", l, rows, coarse));
    if (coarse == 0) return end(fmt::format("no row of level {} has a strong connection", l));
    level.transfer = std::move(t);
    Transfer& transfer = *level.transfer;
    DeviceRows next;
    std::int64_t nnz = 0;
    const auto make = [&] {
      together(comm, [&] { next = made_transfer(static_cast<std::size_t>(l), diagonal); });
      nnz = sum_over_ranks(comm, next.nnz());
    };
    make();
    const std::int64_t most =
        transfer.smoothed ? most_nonzeros(options.fill, level.global_nnz) : std::int64_t{INT64_MAX};
    const auto fits = [&] { return nnz <= most; };
    if (!fits() && !thin_until(static_cast<std::size_t>(l), make, fits)) {
      transfer = {};  // before memory is taken for the new one
      transfer.smoothed = false;
      together(comm, [&] { find_aggregates(static_cast<std::size_t>(l), transfer, diagonal); });
      make();
    }
    x = {};
    modes = std::move(coarse_modes);
    std::string words = prolongator_words({transfer.smoothed, transfer.thinned}, options);
    if (lies_whole(coarse, options)) {
      whole_is_next = true;
      whole_node_size = transfer.tentative.width;
      whole_prolongator = std::move(words);
      whole_nnz = nnz;
      next_of_last = std::move(next);
      gather_whole(transfer.columns, next_of_last);
      modes = Replication(comm, transfer.columns.starts).whole(modes);
      return false;
    }
    auto below_it = std::make_unique<Level>();
    below_it->coarse_rows = std::move(next);
    below_it->a = below_it->coarse_rows.view();
    below_it->starts = transfer.columns.starts;
    below_it->node_size = transfer.tentative.width;
    below_it->global_nnz = nnz;
    below_it->prolongator = std::move(words);
    for (std::size_t k = 0; k < transfer.others.size();
         k += static_cast<std::size_t>(below_it->node_size))
      below_it->ghost_nodes.push_back(transfer.others[k] / below_it->node_size);
    plan(*below_it);
    levels.push_back(std::move(below_it));
    return true;
  }

  // Thins the prolongator until fits() holds after make(). False where it never does.
  template <class Make, class Fits>
  bool thin_until(std::size_t l, const Make& make, const Fits& fits) {
    Level& level = *levels[l];
    Transfer& t = *level.transfer;
    const std::int32_t run = t.tentative.width;
    double runs = 0;
    together(comm, [&] {
      runs = level.ghosts->sum(runs_of_terms(level.a, of_all(level).view(), run, stream));
    });
    return find_thinning(runs, level.global_nnz, [&](double part) {
      double dropped = 0;
      together(comm, [&] {
        dropped = level.ghosts->sum(
            static_cast<double>(thin(level.a, level.node_size, t.aggregate_of_node.view(),
                                     level.p.view(), run, part, t.strong, stream)));
      });
      if (dropped == 0) return false;
      t.thinned = part;
      make();
      return fits();
    });
  }

  void find_aggregates(std::size_t l, Transfer& t, ScratchBuffer<double>& diagonal) {
    Level& level = *levels[l];
    const RankOfRows rank = rank_of_rows(l);
    Stopwatch watch;
    x = {};
    if (l == 0 && modes.width == 0) x = relaxed_constants(level.a, level.node_size, stream, rank);
    seconds.prolongator += lap(watch);
    const DeviceScaledRows rows(level.a, x, stream);
    DeviceStrength strength =
        find_strength(rows.a, level.node_size, options.threshold, stream, rank);
    t.strong = std::move(strength.strong);
    diagonal = x.empty() ? std::move(strength.diagonal) : checked_diagonal(level.a, stream, rank);
    NodeGraph graph = symmetric_graph(level, strength.graph);
    seconds.strength += lap(watch);
    Aggregates aggregates;
    ScratchBuffer<std::int32_t> of_node =
        aggregates_of(l, strength.graph, std::move(graph), aggregates);
    seconds.aggregation += lap(watch);
    set_tentative(level, t, aggregates);
    number_aggregates(level, t, std::move(of_node), std::move(aggregates.starts));
    seconds.prolongator += lap(watch);
  }

  // Makes a graph symmetric whose edges are on the GPU, as node_graph.cpp does, and returns its
  // plan.
  NodeGraph symmetric_graph(const Level& level, DeviceGraph& graph) {
    NodeGraph host{.comm = comm,
                   .starts = {},
                   .neighbour = {},
                   .ghosts = level.ghost_nodes,
                   .halo = level.nodes};
    for (const std::int64_t start : level.starts) host.starts.push_back(start / level.node_size);
    host.nodes = graph.nodes;
    level.ghosts->agree();
    const std::uint64_t key = secret_number(comm);
    if (is_symmetric_on_ranks(graph, level.ghost_nodes, host.first(), key, *level.ghosts, stream))
      return host;
    const auto first = static_cast<std::int32_t>(host.first());
    const DeviceCsr<double> pattern{graph.nodes,
                                    graph.nodes + std::ssize(level.ghost_nodes),
                                    static_cast<std::int64_t>(graph.neighbour.size()),
                                    graph.row_ptr.view(),
                                    graph.neighbour.view(),
                                    {}};
    const Array<std::int32_t> beyond = rows_beyond(pattern, graph.nodes, stream);
    const CsrMatrix<double> crossing = rows_on_host(pattern, beyond, stream);
    Array<Edge> edges;
    for (std::size_t i = 0; i < beyond.size(); ++i)
      for (std::int32_t k = crossing.row_ptr[i]; k < crossing.row_ptr[i + 1]; ++k) {
        const std::int32_t to = crossing.col_idx[static_cast<std::size_t>(k)];
        if (to >= graph.nodes)
          edges.push_back(
              {level.ghost_nodes[static_cast<std::size_t>(to - graph.nodes)], first + beyond[i]});
      }
    level.ghosts->agree();
    const EdgesOfOthers received(comm, host.starts, edges);
    Array<std::int32_t> ends = received.to();
    ends.insert(ends.end(), level.ghost_nodes.begin(), level.ghost_nodes.end());
    host.ghosts = multigrid::others_among(std::span<const std::int32_t>(ends), first, host.nodes);
    const LocalNumbers local(first, host.nodes, host.ghosts);
    Array<std::int32_t> place, of_others;
    for (const std::int32_t ghost : level.ghost_nodes) place.push_back(local(ghost));
    for (const std::int32_t edge : received.by_node().member)
      of_others.push_back(local(received.to()[static_cast<std::size_t>(edge)]));
    add_edges_back(graph, place, received.by_node().first, of_others,
                   graph.nodes + std::ssize(host.ghosts), stream);
    level.ghosts->agree();
    host.halo = plan_halo(comm, host.starts, host.ghosts);
    return host;
  }
  void take_edges(const DeviceGraph& graph, NodeGraph& host) const {
    host.row_ptr = to_host(graph.row_ptr.view(), stream);
    host.neighbour = to_host(graph.neighbour.view(), stream);
  }

  // The global aggregate of each node of this rank; of `aggregates`, starts and, with modes, all.
  ScratchBuffer<std::int32_t> aggregates_of(std::size_t l, const DeviceGraph& graph,
                                            NodeGraph&& host, Aggregates& aggregates) {
    const Level& level = *levels[l];
    level.ghosts->agree();
    if (static_cast<int>(l) < options.aggressive_levels) {
      take_edges(graph, host);
      level.ghosts->agree();
      aggregates = aggregate_twice(host);
      return upload(std::span<const std::int32_t>(aggregates.of_node), stream);
    }
    const DeviceGhosts exchange(comm, host.halo, host.nodes, 1, stream);
    DeviceAggregates found =
        aggregate_on_ranks(graph, host.first(), exchange, aggregates.starts, stream);
    if (modes.width > 0) {
      aggregates.of_node = to_host(found.of_node.view(), stream);
      aggregates.roots = to_host(found.roots.view(), stream);
    }
    return std::move(found.of_node);
  }

  // Modes travel between hosts.
  void set_tentative(const Level& level, Transfer& t, const Aggregates& aggregates) {
    coarse_modes = {};
    t.tentative.block_size = level.node_size;
    t.tentative.width = modes.width > 0 ? modes.width : level.node_size;
    if (modes.width == 0) return;
    level.ghosts->agree();
    Tentative tentative = make_tentative(comm, aggregates, modes, level.node_size);
    coarse_modes = std::move(tentative.coarse_modes);
    const std::int64_t width = std::int64_t{level.node_size} * tentative.width;
    tentative.values.resize(tentative.values.size() +
                            level.ghost_nodes.size() * static_cast<std::size_t>(width));
    level.ghosts->agree();
    NodeExchange(comm, level.nodes, std::ssize(aggregates.of_node))
        .fetch(std::span(tentative.values), static_cast<int>(width));
    t.tentative.values = upload(std::span<const double>(tentative.values), stream);
  }

  void number_aggregates(const Level& level, Transfer& t, ScratchBuffer<std::int32_t>&& of_node,
                         std::vector<std::int64_t>&& starts) {
    const std::size_t nodes = of_node.size(), ghosts = level.ghost_nodes.size();
    t.aggregate_of_node = ScratchBuffer<std::int32_t>(nodes + ghosts, stream);
    copy_on_device(of_node.view(), t.aggregate_of_node.span(), stream);
    fill_nan(t.aggregate_of_node.span().subspan(nodes, ghosts), stream);  // -1
    if (t.smoothed) level.ghosts->fetch(t.aggregate_of_node.data());
    const std::int64_t first = starts[own_rank()], own = starts[own_rank() + 1] - first;
    const Array<std::int32_t> others = others_among(t.aggregate_of_node.view(), first, own, stream);
    make_local(t.aggregate_of_node.span(), first, own, others, stream);
    t.aggregates = static_cast<std::int32_t>(own + std::ssize(others));
    const std::int32_t width = t.tentative.width;
    for (std::int64_t& start : starts) start *= width;
    Array<std::int32_t> columns;
    for (const std::int32_t number : others)
      for (std::int32_t j = 0; j < width; ++j) columns.push_back(number * width + j);
    level.ghosts->agree();
    t.columns = coarse_columns(comm, std::move(starts), std::move(columns));
  }

  // Calls use(rules) with what P of level l is made of. `diagonal` is that of A.
  template <class Use>
  void with_rules(std::size_t l, const ScratchBuffer<double>& diagonal, const Use& use) {
    Level& level = *levels[l];
    Transfer& t = *level.transfer;
    const DeviceProlongatorTask task{
        t.strong.view(), level.node_size, diagonal.view(), t.smoothed, t.aggregate_of_node.view(),
        t.aggregates,    &t.tentative};
    t.radius = with_prolongator_rules(level.a, x, task, stream, rank_of_rows(l), use);
    if (level.ghosts->max(t.strong.empty() ? 0 : 1) > 0) t.radius = 0;
  }

  // Makes P, P^T and this rank's rows of P^T A P.
  DeviceRows made_transfer(std::size_t l, const ScratchBuffer<double>& diagonal) {
    Level& level = *levels[l];
    Transfer& t = *level.transfer;
    Stopwatch watch;
    with_rules(l, diagonal, [&](const DeviceProlongatorRules& rules) {
      level.p = make_prolongator(rules, stream);
    });
    if (!x.empty()) scale_rows(x.view(), level.p, stream);
    seconds.prolongator += lap(watch);
    DeviceTransposed restriction = transposed(level.p.view(), stream);
    level.p_transposed = std::move(restriction.matrix);
    t.source = std::move(restriction.source);
    DeviceRows coarse = product(level, t, l);
    repair(level, t, diagonal, coarse);
    forget_values(t);
    seconds.products += lap(watch);
    return coarse;
  }

  const DeviceRows& of_all(const Level& level) const {
    return level.transfer->p_all.row_ptr.empty() ? level.p : level.transfer->p_all;
  }

  // Rows of P that other ranks need; terms of coarse rows of other ranks.
  CsrMatrix<double> sent_rows(const Level& level) const {
    return rows_on_host(level.p.view(), level.columns.send_rows, stream);
  }
  CsrMatrix<double> sent_terms(const DeviceRows& terms, const Transfer& t) const {
    const std::int64_t own = t.columns.own();
    return rows_on_host(terms.view(), numbers_from(own, terms.rows - own), stream);
  }
  std::int32_t rows_together(std::size_t l) const {
    return l > 0 || nodes_share ? levels[l]->node_size : 1;
  }

  DeviceRows product(Level& level, Transfer& t, std::size_t l) {
    const std::int64_t own = t.columns.own();
    const std::int32_t run = t.tentative.width;
    Array<std::int32_t> global = numbers_from(t.columns.first(), own);
    global.insert(global.end(), t.columns.ghosts.begin(), t.columns.ghosts.end());
    t.p_all = {};
    {
      const CsrMatrix<double> sent = sent_rows(level);
      level.ghosts->agree();
      t.p_ghost = GhostRows(comm, of_packed(level.columns), sent.view(), global);
    }
    const Array<std::int32_t> place =
        place_of_ghosts(t.columns, t.p_ghost.columns(), t.columns_of_all);
    const std::int64_t columns = own + std::ssize(t.columns_of_all);
    if (t.p_ghost.rows().rows > 0) {
      CsrMatrix<double> ghosts = t.p_ghost.rows();
      for (std::int32_t& column : ghosts.col_idx) column = place[static_cast<std::size_t>(column)];
      t.p_all = stacked(level.p.view(), {}, ghosts.view(), columns, stream);
    }
    t.a_p = multiply(level.a, of_all(level).view(), false, run, stream, rows_together(l));
    DeviceRows terms = multiply(level.p_transposed.view(), t.a_p.view(), true, run, stream, run);
    global = numbers_from(t.columns.first(), own);
    global.insert(global.end(), t.columns_of_all.begin(), t.columns_of_all.end());
    {
      const CsrMatrix<double> sent = sent_terms(terms, t);
      level.ghosts->agree();
      t.received = GhostRows(comm, of_packed(t.columns.back), sent.view(), global);
    }
    t.adds = t.received.rows().rows > 0 || !t.columns_of_all.empty();
    t.others = {};
    if (!t.adds) return terms;
    t.terms = std::move(terms);
    stack_terms(t);
    return multiply(t.selection.view(), t.all_terms.view(), false, run, stream);
  }

  // Numbers the columns of all terms, and says which ones a coarse row is the sum of.
  void stack_terms(Transfer& t) {
    const std::int64_t first = t.columns.first(), own = t.columns.own();
    CsrMatrix<double> received = t.received.rows();
    const DeviceCsr<double> terms = head_of(t.terms.view(), own, stream);
    // Some columns of all terms come only in those for other ranks.
    const Array<std::int32_t> come = others_among(terms.col_idx, 0, own, stream);
    Array<std::int32_t> all = t.received.columns();
    for (const std::int32_t column : come)
      all.push_back(t.columns_of_all[static_cast<std::size_t>(column - own)]);
    t.others = multigrid::others_among(std::span<const std::int32_t>(all), first, own);
    const LocalNumbers local(first, own, t.others);
    Array<std::int32_t> place = numbers_from(0, own + std::ssize(t.columns_of_all));
    for (const std::int32_t column : come)
      place[static_cast<std::size_t>(column)] =
          local(t.columns_of_all[static_cast<std::size_t>(column - own)]);
    for (std::int32_t& column : received.col_idx)
      column = local(t.received.columns()[static_cast<std::size_t>(column)]);
    const std::int64_t columns = own + std::ssize(t.others);
    t.all_terms = stacked(terms, place, received.view(), columns, stream);
    const Members members(t.columns.halo.send_rows, static_cast<std::int32_t>(own));
    t.selection = selection_of(own, received.rows, members.first, members.member, stream);
  }

  void forget_values(Transfer& t) const {
    for (DeviceRows* rows : {&t.p_all, &t.a_p, &t.terms, &t.all_terms}) rows->values = {};
    t.p_ghost.forget_values();
    t.received.forget_values();
  }

  void renew_transfer(std::size_t l) {
    Stopwatch watch;
    Level& level = *levels[l];
    Transfer& t = *level.transfer;
    DeviceRows& next = l + 1 < levels.size() ? levels[l + 1]->coarse_rows : next_of_last;
    together(comm, [&] {
      const RankOfRows rank = rank_of_rows(l);
      const ScratchBuffer<double> diagonal = checked_diagonal(level.a, stream, rank);
      if (l == 0 && t.tentative.values.empty())
        x = relaxed_constants(level.a, level.node_size, stream, rank);
      with_rules(l, diagonal, [&](const DeviceProlongatorRules& rules) {
        refill_prolongator(rules, level.p, stream);
      });
      if (!x.empty()) scale_rows(x.view(), level.p, stream);
      x = {};
      seconds.prolongator += lap(watch);
      take_values(level.p, t.source.view(), level.p_transposed, stream);
      product_again(level, t, l, next);
      repair(level, t, diagonal, next);
      forget_values(t);
    });
    if (l + 1 < levels.size()) levels[l + 1]->a = next.view();
    seconds.products += lap(watch);
  }

  void product_again(Level& level, Transfer& t, std::size_t l, DeviceRows& coarse) {
    const std::int32_t run = t.tentative.width;
    {
      const CsrMatrix<double> sent = sent_rows(level);
      level.ghosts->agree();
      t.p_ghost.renew(sent.view());
    }
    if (!t.p_all.row_ptr.empty())
      stack_values(level.p.view(), t.p_ghost.rows().values, t.p_all, stream);
    multiply_again(level.a, of_all(level).view(), false, run, t.a_p, stream, rows_together(l));
    DeviceRows& terms = t.adds ? t.terms : coarse;
    multiply_again(level.p_transposed.view(), t.a_p.view(), true, run, terms, stream, run);
    {
      const CsrMatrix<double> sent = sent_terms(terms, t);
      level.ghosts->agree();
      t.received.renew(sent.view());
    }
    if (!t.adds) return;
    stack_values(head_of(t.terms.view(), t.columns.own(), stream), t.received.rows().values,
                 t.all_terms, stream);
    multiply_again(t.selection.view(), t.all_terms.view(), false, run, coarse, stream);
  }

  // TripleProduct::repair().
  void repair(const Level& level, const Transfer& t, const ScratchBuffer<double>& diagonal,
              DeviceRows& coarse) const {
    const std::int64_t columns = level.p_transposed.rows, own = t.columns.own();
    Array<double> weights =
        to_host(column_weights(level.p_transposed.view(), diagonal.view(), stream).view(), stream);
    weights.resize(static_cast<std::size_t>(columns + t.columns.back.ghosts));
    level.ghosts->agree();
    NodeExchange(comm, t.columns.back, columns).fetch(std::span(weights));
    const Array<std::int32_t>& rows = t.columns.halo.send_rows;
    for (std::size_t k = 0; k < rows.size(); ++k)
      weights[static_cast<std::size_t>(rows[k])] += weights[static_cast<std::size_t>(columns) + k];
    weights.resize(static_cast<std::size_t>(own));
    const auto here = upload(std::span<const double>(weights), stream);
    const double largest = level.ghosts->max(largest_of(here.view(), stream));
    repair_diagonal(coarse, here.view(), largest, stream);
  }

  // Makes or renews what a cycle needs on level l.
  void set_numbers(std::size_t l) {
    Stopwatch watch;
    Level& level = *levels[l];
    const bool coarsest = !level.transfer;
    together(comm, [&] {
      const RankOfRows rank = rank_of_rows(l);
      level.precision = agreed_precision(level, level.a, true);
      if (!coarsest) level.transfer_precision = agreed_precision(level, level.p.view(), false);
      seconds.kernels += lap(watch);
      if (l == 0) symmetric = is_symmetric(level.a, stream, rank, level.node_size);
      set_smoother(level, options,
                   {.number = static_cast<int>(l),
                    .node_size = level.node_size,
                    .coarsest = coarsest,
                    .symmetric = symmetric,
                    .radius = coarsest ? 0 : level.transfer->radius},
                   stream, rank);
    });
    seconds.smoothers += lap(watch);
  }
  Precision agreed_precision(const Level& level, const DeviceCsr<double>& a, bool rows) const {
    const bool fits = options.precision == Precision::mixed && fits_fp32(a, rows, stream);
    return level.ghosts->max(fits ? 0 : 1) > 0 ? Precision::full : Precision::mixed;
  }

  void finish(double total) {
    if (below) {
      const SetUpFacts& of_whole = below->seconds();
      seconds.strength += of_whole.strength;
      seconds.aggregation += of_whole.aggregation;
      seconds.prolongator += of_whole.prolongator;
      seconds.products += of_whole.products;
      seconds.kernels += of_whole.kernels;
      seconds.smoothers += of_whole.smoothers;
      seconds.coarsest += of_whole.coarsest;
      if (levels.empty()) symmetric = below->symmetric();
      if (remark.empty()) remark = below->remark();
    }
    seconds.total = total;
    double* parts[] = {&seconds.strength,  &seconds.aggregation,  &seconds.prolongator,
                       &seconds.products,  &seconds.distribution, &seconds.kernels,
                       &seconds.smoothers, &seconds.coarsest,     &seconds.total};
    for (double* part : parts) *part = max_over_ranks(comm, *part);
  }

  NearNullspace coarse_modes;
  bool nodes_share = false;  // columns, on the finest level
};

RankSetUp::RankSetUp(std::shared_ptr<DistributedMatrix> matrix, const NearNullspace& modes,
                     const Options& options)
    : parts_(std::make_unique<Parts>(std::move(matrix), modes, options)) {}
RankSetUp::~RankSetUp() = default;

void RankSetUp::renew() { parts_->renew(); }
const DistributedMatrix& RankSetUp::matrix() const { return *parts_->matrix; }

RankSetUp::ForCycle RankSetUp::for_cycle() const {
  const Parts& p = *parts_;
  const StreamRef stream = p.stream;
  ForCycle all;
  for (std::size_t l = 0; l < p.levels.size(); ++l) {
    const Parts::Level& level = *p.levels[l];
    const bool single = level.precision == Precision::mixed;
    const bool to_whole = p.whole_is_next && l + 1 == p.levels.size();
    RankLevel border;
    DeviceLevelParts part;
    if (level.transfer && to_whole) {
      const CoarseColumns& columns = level.transfer->columns;
      border.gathering = gathering(p.comm, columns.starts, columns.ghosts);
    }
    collectively(p.comm, [&] {
      const std::int64_t own = level.a.rows;
      part.rows = border.parts.rows = own;
      part.precision = level.precision;
      part.transfer_precision = level.transfer_precision;
      part.smoothing = level.smoothing;
      part.block_size = level.block_size;
      part.inverse = level.inverse.view();
      if (l == 0) {
        part.a = p.blocks->local().view();
        border.a = p.finest_border;
      } else {
        part.a = all.cut.emplace_back(columns_below(level.a, own, stream)).view();
        border.a = border_of(level.a, own, single, stream);
      }
      border.halo = level.columns;
      if (!level.transfer) return;
      const CoarseColumns& columns = level.transfer->columns;
      const bool single_p = level.transfer_precision == Precision::mixed;
      border.to_whole = to_whole;
      if (to_whole) {
        DeviceRows rows{level.p.rows, columns.starts.back(),
                        ScratchBuffer<std::int32_t>(level.p.row_ptr.size(), stream),
                        ScratchBuffer<std::int32_t>(level.p.col_idx.size(), stream),
                        ScratchBuffer<double>(level.p.values.size(), stream)};
        copy_on_device(level.p.row_ptr.view(), rows.row_ptr.span(), stream);
        copy_on_device(level.p.col_idx.view(), rows.col_idx.span(), stream);
        copy_on_device(level.p.values.view(), rows.values.span(), stream);
        make_global(rows.col_idx.span(), columns.first(), columns.own(), columns.ghosts, stream);
        part.p = all.cut.emplace_back(std::move(rows)).view();
        part.restriction = level.p_transposed.view();
      } else {
        const std::int64_t coarse = columns.own();
        part.p = all.cut.emplace_back(columns_below(level.p.view(), coarse, stream)).view();
        border.p = border_of(level.p.view(), coarse, single_p, stream);
        border.p_halo = columns.halo;
        const DeviceCsr<double> restriction = level.p_transposed.view();
        border.others = border_tail(
            rows_on_host(restriction, numbers_from(coarse, restriction.rows - coarse), stream)
                .view(),
            0, single_p);
        border.back = of_packed(columns.back);
        border.received = received_terms(columns.halo.send_rows);
        part.restriction = head_of(restriction, coarse, stream);
      }
      border.parts.p.cols = part.p.cols;
    });
    all.borders.push_back(std::move(border));
    all.levels.push_back(part);
  }
  if (p.below) {
    const std::vector<DeviceLevelParts> whole = level_parts_of(p.below->levels());
    all.levels.insert(all.levels.end(), whole.begin(), whole.end());
  }
  p.stream.synchronize();
  return all;
}

HierarchyFacts RankSetUp::facts() const {
  const Parts& p = *parts_;
  HierarchyFacts facts{.options = p.options, .levels = {}, .set_up = p.seconds, .remark = p.remark};
  facts.smoother = chosen_smoother(
      p.options, {.node_size = p.options.block_size, .coarsest = false, .symmetric = p.symmetric});
  if (p.levels.empty() && p.below) facts.smoother = p.below->smoother();
  for (const auto& level : p.levels) {
    LevelFacts& fact = facts.levels.emplace_back();
    fact.rows = level->global_rows();
    fact.nnz = level->global_nnz;
    fact.precision = level->precision;
    fact.spectral_radius = level->spectral_radius;
    fact.prolongator = level->prolongator;
  }
  if (!p.below) return facts;
  for (const DeviceLevel& level : p.below->levels()) {
    LevelFacts& fact = facts.levels.emplace_back();
    fact.rows = level.a.rows;
    fact.nnz = level.a.nnz;
    fact.precision = level.precision;
    fact.replicated = true;
    fact.spectral_radius = level.spectral_radius;
    fact.prolongator = level.prolongator;
    if (level.solved) fact.kernel = "dense inverse";
  }
  facts.levels[p.levels.size()].prolongator = p.whole_prolongator;
  return facts;
}

}  // namespace trireme::multigrid
