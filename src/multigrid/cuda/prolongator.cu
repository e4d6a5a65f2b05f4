// SPDX-License-Identifier: BSD-3-Clause
// Tentative and smoothed prolongators on a GPU, and the repair of coarse diagonals.
#include <cmath>
#include <utility>
#include <vector>

#include "multigrid/cuda/device_parts.hpp"
#include "multigrid/cuda/make_rows.cuh"
#include "multigrid/cuda/members.cuh"
#include "multigrid/cuda/row_products.cuh"
#include "multigrid/cuda/with_run.hpp"
#include "multigrid/refusals.hpp"
#include "multigrid/set_up/diagonal_repair_functors.hpp"
#include "multigrid/set_up/lanczos_steps.hpp"
#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/orthogonalise_modes.hpp"
#include "multigrid/set_up/prolongator_row.hpp"
#include "multigrid/set_up/thin_row.hpp"

namespace trireme::multigrid {
namespace {

// The number of values from one that is not finite to the end, or 0 for a finite one.
struct UnfitValue {
  const double* values;
  std::int64_t count;
  __device__ std::int64_t operator()(std::int64_t k) const {
    return values[k] - values[k] == 0 ? 0 : count - k;
  }
};

// The mark of a strong entry.
struct Strong {
  __device__ std::uint8_t operator()(std::int64_t) const { return 1; }
};

FilteredRows rows_of(const DeviceFiltered& f) {
  return {MatrixPointers(f.a), f.strong.empty() ? nullptr : f.strong.data(), f.block_size};
}

template <int kWidth>
ProlongatorRow<kWidth> row_of(const DeviceProlongatorRules& rules) {
  const DeviceTentative& t = *rules.tentative;
  return {rows_of(rules.a), rules.diagonal.data(),
          rules.weight,     rules.aggregate_of_node.data(),
          t.values.data(),  t.width};
}

// The steps of the Lanczos method, whose scalars lie in GPU memory.
struct FindScalars {
  const double* squared;  // beta^2, and before it that of the last step
  bool begins;            // there is no last step
  LanczosScalars* scalars;
  __device__ void operator()(std::int64_t) const {
    const double beta = std::sqrt(squared[0]);
    *scalars = LanczosScalars::of(beta, begins ? beta : std::sqrt(squared[-1]));
  }
};
struct MultiplyBy {
  LanczosMultiply step;
  const LanczosScalars* scalars;
  __device__ void operator()(std::int64_t i, double product) const { step(i, product, *scalars); }
};
struct OrthogonaliseBy {
  LanczosOrthogonalise step;
  const LanczosScalars* scalars;
  const double* dot;  // alpha * beta
  __device__ double operator()(std::int64_t i) const {
    LanczosOrthogonalise mine = step;
    mine.factor = scalars->inverse * *dot * scalars->inverse;
    return mine(i);
  }
};

// The scalars are on the hosts.
double radius_on_ranks(const DeviceFiltered& f, DeviceSpan<const double> diagonal, double bound,
                       const RankOfRows& rank, StreamRef stream) {
  const CudaPlace place(stream);
  const DeviceGhosts& ghosts = *rank.ghosts;
  const std::int64_t rows = f.a.rows;
  const FilteredRows a = rows_of(f);
  const bool unfiltered = ghosts.max(f.strong.empty() ? 0 : 1) == 0;
  const int steps = unfiltered ? kLanczosStepsForSmoother : kLanczosSteps;
  const auto scale = place.array<double>(rows), scaled = place.array<double>(f.a.cols);
  auto last = place.array<double>(rows), now = place.array<double>(rows),
       next = place.array<double>(rows);
  const auto total = place.array<double>(1);
  const auto scalars = place.array<LanczosScalars>(1);
  const auto sum = [&](const auto& terms) {
    place.sum_into(rows, terms, total.data());
    return ghosts.sum(read_back(total.data(), stream));
  };
  const double squared = sum(LanczosBegin{diagonal.data(), rank.first_row, scale.data(),
                                          scaled.data(), now.data(), next.data()});
  return lanczos_radius(
      steps, bound, squared,
      [&](const LanczosScalars& of_step) {
        std::swap(last, now);
        std::swap(now, next);
        ghosts.fetch(scaled.data(), f.block_size);
        copy_to_device(std::span<const LanczosScalars>(&of_step, 1), scalars.span(), stream);
        multiply_rows(rows, a, scaled.data(),
                      MultiplyBy{{scale.data(), last.data(), next.data()}, scalars.data()}, stream);
        return sum(LanczosDot{now.data(), next.data()});
      },
      [&](double factor) {
        return sum(
            LanczosOrthogonalise{scale.data(), now.data(), factor, next.data(), scaled.data()});
      });
}

}  // namespace

DeviceTentative make_tentative(const DeviceAggregates& aggregates, const DeviceModes& modes,
                               std::int32_t block_size, StreamRef stream) {
  const CudaPlace place(stream);
  DeviceTentative result;
  result.block_size = block_size;
  result.width = modes.width > 0 ? modes.width : block_size;
  if (modes.width == 0) return result;
  const auto count = static_cast<std::int64_t>(modes.values.size());
  const std::int64_t width = modes.width;
  const std::int64_t behind =
      place.maximum(count, std::int64_t{0}, UnfitValue{modes.values.data(), count});
  if (behind > 0) refuse_mode((count - behind) % width);
  result.values = place.array<double>(count);
  copy_on_device(modes.values.view(), result.values.span(), stream);
  result.coarse_modes = {place.array<double>(aggregates.count() * width * width), modes.width};
  fill_zero(result.coarse_modes.values.span(), stream);
  const DeviceMembers members = members_of(aggregates.of_node.view(), aggregates.count(), place);
  place.for_each(std::int64_t{kLanesOfAggregate} * aggregates.count(),
                 by_lanes<kLanesOfAggregate>(OrthogonaliseModes{
                     members.first.data(), members.member.data(), block_size, modes.width,
                     result.values.data(), result.coarse_modes.values.data()}));
  return result;
}

ScratchBuffer<double> filtered_diagonal(const DeviceFiltered& f, StreamRef stream) {
  const CudaPlace place(stream);
  ScratchBuffer<double> diagonal = place.array<double>(f.a.rows);
  place.for_each(f.a.rows * kLanesOfRow,
                 by_lanes<kLanesOfRow>(FindFilteredDiagonal{rows_of(f), diagonal.data()}));
  return diagonal;
}

// All steps are queued at once. The host reads the scalars at the end, and drops those of the steps
// that the loop of spectral_radius.cpp would not have done.
double filtered_spectral_radius(const DeviceFiltered& f, DeviceSpan<const double> diagonal,
                                StreamRef stream, const RankOfRows& rank) {
  const CudaPlace place(stream);
  const std::int64_t rows = f.a.rows;
  const FilteredRows a = rows_of(f);
  double bound = place.maximum(rows * kLanesOfRow, 0.0,
                               by_lanes<kLanesOfRow>(FilteredRowSum{a, diagonal.data()}));
  if (!rank.alone()) bound = rank.ghosts->max(bound);
  if (bound == 0 || !std::isfinite(bound)) return bound;
  if (!rank.alone()) return radius_on_ranks(f, diagonal, bound, rank, stream);
  const int steps = f.strong.empty() ? kLanczosStepsForSmoother : kLanczosSteps;
  const auto scale = place.array<double>(rows), scaled = place.array<double>(rows);
  auto last = place.array<double>(rows), now = place.array<double>(rows),
       next = place.array<double>(rows);
  const auto dots = place.array<double>(steps);
  const auto scalars = place.array<LanczosScalars>(1);
  const auto squared = place.array<double>(steps + 1);  // beta^2 before and after each step
  place.sum_into(
      rows, LanczosBegin{diagonal.data(), 0, scale.data(), scaled.data(), now.data(), next.data()},
      squared.data());
  for (int step = 0; step < steps; ++step) {
    std::swap(last, now);
    std::swap(now, next);
    place.for_each(1, FindScalars{squared.data() + step, step == 0, scalars.data()});
    multiply_rows(rows, a, scaled.data(),
                  MultiplyBy{{scale.data(), last.data(), next.data()}, scalars.data()}, stream);
    place.sum_into(rows, LanczosDot{now.data(), next.data()}, dots.data() + step);
    place.sum_into(rows,
                   OrthogonaliseBy{{scale.data(), now.data(), 0, next.data(), scaled.data()},
                                   scalars.data(),
                                   dots.data() + step},
                   squared.data() + step + 1);
  }
  const Array<double> all_dots = to_host(dots.view(), stream);
  const Array<double> all_squares = to_host(squared.view(), stream);
  std::vector<double> alphas, betas;
  for (int step = 0; step < steps; ++step) {
    const double beta = std::sqrt(all_squares[step]);
    if (!(beta > kLanczosNothing * bound)) break;
    if (step > 0) betas.push_back(beta);
    alphas.push_back(1 / beta * all_dots[step]);
  }
  return radius_of(alphas, betas, bound);
}

DeviceRows make_prolongator(const DeviceProlongatorRules& rules, StreamRef stream) {
  const std::int32_t width = rules.tentative->width;
  return with_run(width, [&](auto run) {
    return DeviceRowMaker(CudaPlace(stream))
        .make<run>(rules.a.a.rows, static_cast<std::int64_t>(rules.aggregates) * width,
                   row_of<run>(rules));
  });
}

void refill_prolongator(const DeviceProlongatorRules& rules, DeviceRows& p, StreamRef stream) {
  with_run(rules.tentative->width,
           [&](auto run) { DeviceRowMaker(CudaPlace(stream)).fill<run>(p, row_of<run>(rules)); });
}

std::int64_t thin(const DeviceCsr<double>& a, std::int32_t block_size,
                  DeviceSpan<const std::int32_t> aggregate_of_node, const DeviceCsr<double>& p,
                  std::int32_t run, double least, ScratchBuffer<std::uint8_t>& strong,
                  StreamRef stream) {
  const CudaPlace place(stream);
  if (strong.empty()) {
    strong = place.array<std::uint8_t>(a.nnz);
    place.write_each(a.nnz, Strong{}, strong.data());
  }
  return place.count(
      a.rows * kLanesOfRow,
      by_lanes<kLanesOfRow>(ThinRow{MatrixPointers(a), MatrixPointers(p), aggregate_of_node.data(),
                                    block_size, run, least, strong.data()}));
}

double runs_of_terms(const DeviceCsr<double>& a, const DeviceCsr<double>& p, std::int32_t run,
                     StreamRef stream) {
  return static_cast<double>(CudaPlace(stream).count(
      a.rows, RunsOfRow{a.row_ptr.data(), a.col_idx.data(), p.row_ptr.data(), run}));
}

ScratchBuffer<double> column_weights(const DeviceCsr<double>& p_transposed,
                                     DeviceSpan<const double> diagonal, StreamRef stream) {
  const CudaPlace place(stream);
  auto weights = place.array<double>(p_transposed.rows);
  place.write_each(p_transposed.rows,
                   ColumnWeight{p_transposed.row_ptr.data(), p_transposed.col_idx.data(),
                                p_transposed.values.data(), diagonal.data()},
                   weights.data());
  return weights;
}

double largest_of(DeviceSpan<const double> numbers, StreamRef stream) {
  return CudaPlace(stream).maximum(static_cast<std::int64_t>(numbers.size()), 0.0,
                                   place_kernels::Read<double>{numbers.data()});
}

std::int64_t repair_diagonal(DeviceRows& coarse, DeviceSpan<const double> weights, double largest,
                             StreamRef stream) {
  return CudaPlace(stream).count(
      coarse.rows, RepairRow{coarse.row_ptr.data(), coarse.col_idx.data(), coarse.values.data(),
                             weights.data(), largest > 0 ? largest : 1});
}

}  // namespace trireme::multigrid
