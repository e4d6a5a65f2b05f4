// SPDX-License-Identifier: BSD-3-Clause
#include "multigrid/set_up/relaxed_constants.hpp"

#include <algorithm>
#include <cmath>

#include "multigrid/set_up/filtered_row.hpp"
#include "multigrid/set_up/host_place.hpp"
#include "multigrid/set_up/one_thread.hpp"
#include "multigrid/set_up/prolongator.hpp"
#include "multigrid/set_up/relaxed_constants_functors.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {

std::optional<Array<double>> relaxed_constants(const ExtendedRows& a, std::int32_t block_size) {
  LocalRows rows = a.view();
  const std::int64_t own = rows.local.rows;
  const NodeExchange exchange = a.exchange();
  Array<double> diagonal, of_unknowns, x, next;
  collectively(a.comm(), [&] {
    diagonal = filtered_diagonal({rows, {}, block_size});
    x.assign(rows.local.cols, 1.0);
    next.resize(own);
  });
  const auto sum = [&](const auto& terms) { return exchange.sum(HostPlace::sum(own, terms)); };
  const double all = exchange.sum(static_cast<double>(own));
  const double far = sum(by_one_thread<kLanesOfRow>(
      SumIsNotSmall{MatrixPointers(rows.local), diagonal.data(), block_size}));
  if (!(far > (1 - kMostSmallSums) * all)) return std::nullopt;
  if (block_size > 1) {
    collectively(a.comm(), [&] { of_unknowns.resize(rows.local.nnz()); });
    HostPlace::for_each(own,
                        KeepOwnUnknown{MatrixPointers(rows.local), block_size, of_unknowns.data()});
    rows.local.values = of_unknowns;
  }
  const FilteredMatrix matrix{rows, {}, block_size};
  const double radius = filtered_spectral_radius(matrix, diagonal, exchange);
  if (!(radius > 0) || !std::isfinite(radius)) return std::nullopt;
  const double weight = kRelaxationWeight / radius;
  const FilteredRows entries(matrix);
  const double before = sum(EnergyTerm{diagonal.data(), x.data()});
  for (int step = 0; step < kRelaxations; ++step) {
    const Relax relax{diagonal.data(), x.data(), weight, next.data()};
    HostPlace::for_each(own, [&](std::int64_t i) { relax(i, entries.product(i, x.data())); });
    std::ranges::copy(next, x.begin());
    exchange.fetch(std::span(x), block_size);
  }
  const double after = sum(EnergyTerm{diagonal.data(), x.data()});
  const double squares = sum(SquareTerm{x.data()});
  if (!(after <= before) || !(squares > 0)) return std::nullopt;
  HostPlace::for_each(rows.local.cols,
                      Normalise{std::sqrt(squares / all), kLeastRelaxed, x.data()});
  return x;
}

void scale_rows(std::span<const double> x, CsrMatrix<double>& p) {
  HostPlace::for_each(p.rows, ScaleRow{p.row_ptr.data(), x.data(), p.values.data()});
}

}  // namespace trireme::multigrid
