// SPDX-License-Identifier: BSD-3-Clause
// Builds the levels one after the other, as hierarchy_parts.cpp does on the host.
#include "multigrid/cuda/device_set_up.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/stream.hpp"
#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/cuda/device_product.hpp"
#include "multigrid/cuda/device_smoother.hpp"
#include "multigrid/cuda/device_transfer.hpp"
#include "multigrid/limits.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/row_checks.hpp"
#include "multigrid/set_up/semidefinite_elimination.hpp"
#include "multigrid/set_up/smoother_numbers.hpp"
#include "multigrid/set_up/thinning.hpp"

namespace trireme::multigrid {
namespace {

CsrMatrix<double> on_host(const DeviceCsr<double>& a, StreamRef stream) {
  return {a.rows, a.cols, to_host(a.row_ptr, stream), to_host(a.col_idx, stream),
          to_host(a.values, stream)};
}

}  // namespace

struct DeviceSetUp::Parts {
  // What renewal needs beside the DeviceLevel.
  struct Transfer {
    ScratchBuffer<std::uint8_t> strong;
    DeviceAggregates aggregates;
    DeviceTentative tentative;
    bool smoothed = true;
    double thinned = 0;  // the part of thinning.hpp; 0: none
    double radius = 0;   // of D^-1 A; 0 where weak entries are filtered out of the prolongator
    ScratchBuffer<std::int32_t> source;  // of the entries of P^T in P
    DeviceRows a_p;                      // A P, without values between two calls
  };

  Parts(const DeviceCsr<double>& finest, const NearNullspace& near_nullspace,
        const Options& requested, const LevelsAbove& levels_above)
      : options(requested), above(levels_above), symmetric(levels_above.symmetric) {
    const Stopwatch total;
    if (above.count > 0) options.block_size = above.node_size;
    check(finest, near_nullspace);
    modes.width = near_nullspace.width;
    modes.values = ScratchBuffer<double>(near_nullspace.values.size(), stream);
    copy_to_device(std::span<const double>(near_nullspace.values), modes.values.span(), stream);
    levels.emplace_back().a = finest;
    if (above.count > 0 ||
        (options.block_size > 1 && nodes_share_columns(finest, options.block_size, stream)))
      rows_of_node = options.block_size;
    node_sizes.push_back(options.block_size);
    while (coarsen_last()) {
    }
    modes = {};
    x = {};
    for (std::size_t l = 0; l < levels.size(); ++l) set_numbers(l);
    seconds.total = total.seconds();
  }

  void renew() {
    const Stopwatch total;
    seconds = {};
    for (std::size_t l = 0; l < levels.size(); ++l) {
      if (l + 1 < levels.size()) renew_transfer(l);
      set_numbers(l);
    }
    seconds.total = total.seconds();
  }

  Smoother smoother() const {
    if (levels.front().solved) return options.smoother;
    return chosen_smoother(options, {.number = 0,
                                     .node_size = node_sizes.front(),
                                     .coarsest = levels.size() == 1,
                                     .symmetric = symmetric});
  }

  std::int64_t bytes() const {
    std::size_t sum = 0;
    const auto add = [&](const auto&... arrays) {
      ((sum += arrays.size() * sizeof(*arrays.data())), ...);
    };
    const auto add_rows = [&](const DeviceRows& m) { add(m.row_ptr, m.col_idx, m.values); };
    for (const DeviceLevel& level : levels) {
      for (const DeviceRows* rows : {&level.coarse_rows, &level.p, &level.p_transposed})
        add_rows(*rows);
      add(level.inverse, level.dense_inverse);
    }
    for (const Transfer& t : transfers) {
      add(t.strong, t.aggregates.of_node, t.aggregates.roots, t.tentative.values, t.source);
      add_rows(t.a_p);
    }
    return static_cast<std::int64_t>(sum);
  }

  Stream stream;    // outlives the arrays below
  Options options;  // with the block size of the first level
  LevelsAbove above;
  std::vector<DeviceLevel> levels;
  std::vector<std::int32_t> node_sizes;
  std::vector<Transfer> transfers;
  std::int32_t rows_of_node = 1;  // with the same columns, on the finest level
  DeviceModes modes;              // of the last level, while levels are added
  ScratchBuffer<double> x;        // of relaxed_constants.hpp, while the first transfer is made
  SetUpFacts seconds;
  std::string remark;
  bool symmetric;

 private:
  int number_of(std::size_t l) const { return above.count + static_cast<int>(l); }

  void check(const DeviceCsr<double>& finest, const NearNullspace& near_nullspace) const {
    check_options(options);
    if (finest.rows % options.block_size != 0)
      fail(ExitCode::usage, "the {} rows of a matrix are no multiple of the block size {}",
           finest.rows, options.block_size);
    if (static_cast<std::int64_t>(near_nullspace.values.size()) !=
        finest.rows * near_nullspace.width)
      fail(ExitCode::internal, "{} values of {} near-nullspace vectors for {} rows",
           near_nullspace.values.size(), near_nullspace.width, finest.rows);
  }

  // The time since the last call, once the stream has done its work.
  double lap(Stopwatch& watch) const {
    stream.synchronize();
    return watch.lap();
  }

  bool end(std::string why) {
    remark = std::move(why);
    return false;
  }

  // Adds a level below the last one. False where the last level is the coarsest one.
  bool coarsen_last() {
    const int l = static_cast<int>(levels.size()) - 1;
    const DeviceCsr<double> a = levels[l].a;
    if (a.rows <= options.coarsest_rows) return false;
    const int number = number_of(l);
    if (number + 1 >= options.max_levels)
      return end(fmt::format("max_levels is {}", options.max_levels));
    Stopwatch watch;
    Transfer t;
    t.smoothed = options.smoothed_prolongator;
    x = {};
    if (number == 0 && modes.width == 0) x = relaxed_constants(a, node_sizes[l], stream);
    seconds.prolongator += lap(watch);
    ScratchBuffer<double> diagonal;
    {
      const DeviceScaledRows rows(a, x, stream);
      DeviceStrength strength = find_strength(rows.a, node_sizes[l], options.threshold, stream);
      t.strong = std::move(strength.strong);
      diagonal = x.empty() ? std::move(strength.diagonal) : checked_diagonal(a, stream);
      seconds.strength += lap(watch);
      t.aggregates = number < options.aggressive_levels ? aggregate_twice(strength.graph, stream)
                                                        : aggregate(strength.graph, false, stream);
      seconds.aggregation += lap(watch);
    }
    t.tentative = make_tentative(t.aggregates, modes, node_sizes[l], stream);
    const std::int64_t coarse = std::int64_t{t.aggregates.count()} * t.tentative.width;
    if (static_cast<double>(coarse) > kShrinksTooLittle * static_cast<double>(a.rows))
      return end(fmt::format("level {} has {} rows, and the next one would have {}", number, a.rows,
                             coarse));
    if (coarse == 0) return end(fmt::format("no row of level {} has a strong connection", number));
    modes = std::move(t.tentative.coarse_modes);
    DeviceLevel next;
    make_transfer(l, t, diagonal, next, watch);
    const std::int64_t most =
        t.smoothed ? most_nonzeros(options.fill, a.nnz) : std::int64_t{INT64_MAX};
    if (next.a.nnz > most && !thin_until_it_fits(l, t, diagonal, next, most, watch)) {
      t.smoothed = false;
      make_transfer(l, t, diagonal, next, watch);
    }
    next.prolongator = prolongator_words({t.smoothed, t.thinned}, options);
    node_sizes.push_back(t.tentative.width);
    levels.push_back(std::move(next));
    transfers.push_back(std::move(t));
    return true;
  }

  // Calls use(rules) with what P of level l is made of. `diagonal` is that of A.
  template <class Use>
  void with_rules(std::size_t l, Transfer& t, const ScratchBuffer<double>& diagonal,
                  const Use& use) {
    const DeviceProlongatorTask task{t.strong.view(),
                                     node_sizes[l],
                                     diagonal.view(),
                                     t.smoothed,
                                     t.aggregates.of_node.view(),
                                     t.aggregates.count(),
                                     &t.tentative};
    const double radius = with_prolongator_rules(levels[l].a, x, task, stream, {}, use);
    t.radius = t.strong.empty() ? radius : 0;
  }

  void make_transfer(std::size_t l, Transfer& t, const ScratchBuffer<double>& diagonal,
                     DeviceLevel& next, Stopwatch& watch) {
    DeviceLevel& level = levels[l];
    with_rules(l, t, diagonal, [&](const DeviceProlongatorRules& rules) {
      level.p = make_prolongator(rules, stream);
    });
    if (!x.empty()) scale_rows(x.view(), level.p, stream);
    seconds.prolongator += lap(watch);
    DeviceTransposed restriction = transposed(level.p.view(), stream);
    level.p_transposed = std::move(restriction.matrix);
    t.source = std::move(restriction.source);
    const std::int32_t run = t.tentative.width;
    t.a_p = multiply(level.a, level.p.view(), false, run, stream, rows_together(l));
    next.coarse_rows = multiply(level.p_transposed.view(), t.a_p.view(), true, run, stream, run);
    t.a_p.values = {};
    repair(level, diagonal, next);
    seconds.products += lap(watch);
  }

  // Thins the prolongator of level l, and makes the transfer again. False where `next` then still
  // has more than `most` nonzeros.
  bool thin_until_it_fits(std::size_t l, Transfer& t, const ScratchBuffer<double>& diagonal,
                          DeviceLevel& next, std::int64_t most, Stopwatch& watch) {
    const DeviceCsr<double>& a = levels[l].a;
    const std::int32_t run = t.tentative.width;
    const double runs = runs_of_terms(a, levels[l].p.view(), run, stream);
    return find_thinning(runs, a.nnz, [&](double part) {
      if (thin(a, node_sizes[l], t.aggregates.of_node.view(), levels[l].p.view(), run, part,
               t.strong, stream) == 0)
        return false;
      t.thinned = part;
      make_transfer(l, t, diagonal, next, watch);
      return next.a.nnz <= most;
    });
  }

  // Consecutive rows of level l with the same columns. Those of an aggregate have the same ones,
  // because rows of P consist of whole runs.
  std::int32_t rows_together(std::size_t l) const { return l == 0 ? rows_of_node : node_sizes[l]; }

  void renew_transfer(std::size_t l) {
    Stopwatch watch;
    DeviceLevel& level = levels[l];
    DeviceLevel& next = levels[l + 1];
    Transfer& t = transfers[l];
    const ScratchBuffer<double> diagonal = checked_diagonal(level.a, stream);
    if (number_of(l) == 0 && t.tentative.values.empty())
      x = relaxed_constants(level.a, node_sizes[l], stream);
    with_rules(l, t, diagonal, [&](const DeviceProlongatorRules& rules) {
      refill_prolongator(rules, level.p, stream);
    });
    if (!x.empty()) scale_rows(x.view(), level.p, stream);
    x = {};
    seconds.prolongator += lap(watch);
    take_values(level.p, t.source.view(), level.p_transposed, stream);
    const std::int32_t run = t.tentative.width;
    multiply_again(level.a, level.p.view(), false, run, t.a_p, stream, rows_together(l));
    multiply_again(level.p_transposed.view(), t.a_p.view(), true, run, next.coarse_rows, stream,
                   run);
    t.a_p.values = {};
    repair(level, diagonal, next);
    seconds.products += lap(watch);
  }

  void repair(const DeviceLevel& level, const ScratchBuffer<double>& diagonal,
              DeviceLevel& next) const {
    const auto weights = column_weights(level.p_transposed.view(), diagonal.view(), stream);
    repair_diagonal(next.coarse_rows, weights.view(), largest_of(weights.view(), stream), stream);
    next.a = next.coarse_rows.view();
  }

  // Makes or renews what a cycle needs on level l.
  void set_numbers(std::size_t l) {
    Stopwatch watch;
    DeviceLevel& level = levels[l];
    const bool coarsest = l + 1 == levels.size();
    if (coarsest && level.a.rows <= std::max<std::int64_t>(options.coarsest_rows, kMaxDenseRows)) {
      const CsrMatrix<double> a = on_host(level.a, stream);
      if (number_of(l) == 0) require_nonzero_rows({a.view(), 0, {}});
      ScaledMatrix scaled = scaled_dense(a.view());
      if (!scaled.symmetric || !eliminate_semidefinite(scaled.elimination))
        eliminate_on_device(scaled.elimination, stream);
      const DenseInverse inverse = inverse_from(std::move(scaled));
      if (level.dense_inverse.empty())
        level.dense_inverse = ScratchBuffer<double>(inverse.values.size(), stream);
      copy_to_device(std::span<const double>(inverse.values), level.dense_inverse.span(), stream);
      level.solved = true;
      seconds.coarsest += lap(watch);
      return;
    }
    level.precision = stored_precision(level.a, true);
    if (!coarsest) level.transfer_precision = stored_precision(level.p.view(), false);
    seconds.kernels += lap(watch);
    if (number_of(l) == 0) symmetric = is_symmetric(level.a, stream);
    set_smoother(level, options,
                 {.number = number_of(l),
                  .node_size = node_sizes[l],
                  .coarsest = coarsest,
                  .symmetric = symmetric,
                  .radius = coarsest ? 0 : transfers[l].radius},
                 stream);
    seconds.smoothers += lap(watch);
  }

  Precision stored_precision(const DeviceCsr<double>& a, bool rows) const {
    const bool mixed = options.precision == Precision::mixed && fits_fp32(a, rows, stream);
    return mixed ? Precision::mixed : Precision::full;
  }
};

DeviceSetUp::DeviceSetUp(const DeviceCsr<double>& finest, const NearNullspace& modes,
                         const Options& options)
    : DeviceSetUp(finest, modes, options, {}) {}
DeviceSetUp::DeviceSetUp(const DeviceCsr<double>& first, const NearNullspace& modes,
                         const Options& options, const LevelsAbove& above)
    : parts_(std::make_unique<Parts>(first, modes, options, above)) {}
DeviceSetUp::~DeviceSetUp() = default;

void DeviceSetUp::renew() { parts_->renew(); }
const std::vector<DeviceLevel>& DeviceSetUp::levels() const { return parts_->levels; }
bool DeviceSetUp::symmetric() const { return parts_->symmetric; }
const SetUpFacts& DeviceSetUp::seconds() const { return parts_->seconds; }
const std::string& DeviceSetUp::remark() const { return parts_->remark; }
Smoother DeviceSetUp::smoother() const { return parts_->smoother(); }
std::int64_t DeviceSetUp::bytes() const { return parts_->bytes(); }

}  // namespace trireme::multigrid
