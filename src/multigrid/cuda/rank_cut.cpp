// SPDX-License-Identifier: BSD-3-Clause
// Cuts the levels of a rank at its border, as rank_levels.cpp does on the host.
#include <utility>

#include "multigrid/cuda/level_parts_of.hpp"
#include "multigrid/cuda/rank_rows.hpp"
#include "multigrid/cuda/rank_set_up_parts.hpp"

namespace trireme::multigrid {

BorderRows border_of(const DeviceCsr<double>& m, std::int64_t own, bool single, StreamRef stream) {
  const Array<std::int32_t> rows = rows_beyond(m, own, stream);
  return border_columns(rows_on_host(m, rows, stream).view(), rows, own, single);
}

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

}  // namespace trireme::multigrid
