// SPDX-License-Identifier: BSD-3-Clause
// The host executor, the readable specification of the CUDA executor: the OpenMP threads share the
// tiles, as the warps of a GPU do (paper, section 4).
//
// 1. Each lane of a tile adds up its nonzeros from one flag to the next. The sum before its first
//    flag is its head, which belongs to a segment that begins in an earlier lane.
// 2. The heads are added to the segments that they belong to.
// 3. A segment that begins its row is stored in y. Where the first segment of a tile continues a
//    row, its sum goes to the calibrator.
// 4. When all tiles are done, the calibrator is added to y in the order of the tiles.
//
// Bytes moved (double): 12 per nonzero, 4 (sigma up to 16) or 8 per sigma nonzeros for the
// descriptors, and 8 per row. The result is deterministic, for any number of threads, because the
// tiles do not depend on that number.
#include <array>
#include <span>

#include "kernels/host_sum.hpp"
#include "kernels/peers/csr5/build.hpp"
#include "kernels/peers/csr5/csr5.hpp"

namespace trireme {
namespace csr5 {
namespace {

template <class Value>
struct LaneSums {
  HostSumOf<Value> head{};   // of the nonzeros before the first segment that begins in the lane
  HostSumOf<Value> last{};   // of the last segment that begins in the lane, as far as it lies there
  int last_segment = 0;      // the number of that segment
  bool has_segment = false;  // A segment begins in the lane.
};

// A segment that begins and ends in the lane goes to finish(segment, sum).
template <class Value, class Finish>
LaneSums<Value> sum_lane(const Layout<Value>& a, std::int64_t tile, int lane,
                         std::span<const Value> x, Finish finish) {
  const auto [omega, sigma] = a.shape;
  const LaneDescriptor descriptor = a.descriptor(tile, lane);
  LaneSums<Value> sums{.last_segment = descriptor.y_offset - 1};
  for (int step = 0; step < sigma; ++step) {
    const bool begins_tile = lane == 0 && step == 0;
    if (begins_tile || (descriptor.bit_flag >> step & 1) != 0) {
      if (sums.has_segment) finish(sums.last_segment, sums.last);
      sums.has_segment = true;
      ++sums.last_segment;
      sums.last = {};
    }
    const std::int64_t place = tile * a.shape.entries() + step * omega + lane;
    if (a.col_idx[place] == kNoColumn) continue;
    HostSumOf<Value>& sum = sums.has_segment ? sums.last : sums.head;
    sum += term_of_sum(a.values[place], x[a.col_idx[place]]);
  }
  return sums;
}

// Returns the sum of the tile's first segment where that segment continues a row, otherwise 0. The
// sums of all other segments go to store(row, sum).
template <class Value, class Store>
HostSumOf<Value> multiply_tile(const Layout<Value>& a, std::int64_t tile, std::span<const Value> x,
                               Store store) {
  HostSumOf<Value> continued{};
  const auto finish = [&](int segment, HostSumOf<Value> sum) {
    if (segment == 0 && a.continues_a_row(tile))
      continued = sum;
    else
      store(a.row(tile, segment), sum);
  };

  std::array<LaneSums<Value>, kMaxOmega> lanes;
  for (int lane = 0; lane < a.shape.omega; ++lane) lanes[lane] = sum_lane(a, tile, lane, x, finish);

  for (int lane = 0; lane < a.shape.omega; ++lane) {
    if (!lanes[lane].has_segment) continue;
    const int last_head = lane + a.descriptor(tile, lane).seg_offset + 1;
    HostSumOf<Value> sum = lanes[lane].last;
    for (int next = lane + 1; next <= last_head && next < a.shape.omega; ++next)
      sum += lanes[next].head;
    finish(lanes[lane].last_segment, sum);
  }
  return continued;
}

template <class T>
std::int64_t bytes_of(const Array<T>& array) {
  return static_cast<std::int64_t>(array.size() * sizeof(T));
}

}  // namespace
}  // namespace csr5

namespace {

template <class Value>
class Csr5Host final : public HostKernel<Value> {
 public:
  Csr5Host(const CsrView<Value>& matrix, csr5::TileShape shape)
      : layout_(csr5::build(matrix, shape, steps_)), calibrator_(layout_.tiles()) {}

  void multiply(std::span<const Value> x, std::span<Value> y, Accumulate accumulate) override {
    const bool add = accumulate == Accumulate::yes;
    const auto store = [&](std::int64_t row, HostSumOf<Value> sum) {
      store_or_add(y[row], sum, add);
    };
#pragma omp parallel for schedule(static)
    for (std::int64_t tile = 0; tile < layout_.tiles(); ++tile)
      calibrator_[tile] = csr5::multiply_tile(layout_, tile, x, store);

    AddShares<Value> shares;
    for (std::int64_t tile = 0; tile < layout_.tiles(); ++tile)
      if (layout_.continues_a_row(tile)) shares.add(y[layout_.first_row(tile)], calibrator_[tile]);

    if (add) return;
    for (const std::int32_t row : layout_.empty_rows) y[row] = Value{};
  }

  void update_values(std::span<const Value> values) override {
    csr5::transpose_values(values, layout_);
  }

  KernelStatistics statistics() const override {
    const auto stored = static_cast<double>(layout_.values.size());
    return {.stored_bytes = csr5::bytes_of(layout_.tile_ptr) + csr5::bytes_of(layout_.tile_desc) +
                            csr5::bytes_of(layout_.empty_offset_ptr) +
                            csr5::bytes_of(layout_.empty_offset) + csr5::bytes_of(layout_.col_idx) +
                            csr5::bytes_of(layout_.values) + csr5::bytes_of(layout_.empty_rows),
            .padding_ratio = layout_.nnz > 0 ? stored / static_cast<double>(layout_.nnz) - 1 : 0.0,
            .steps = steps_};
  }

 private:
  std::vector<BuildStep> steps_;
  csr5::Layout<Value> layout_;
  Array<HostSumOf<Value>> calibrator_;  // one per tile
};

}  // namespace

template <class Value>
std::unique_ptr<HostKernel<Value>> build_csr5_host(const CsrView<Value>& matrix) {
  return build_csr5_host(matrix,
                         csr5::TileShape{.sigma = csr5::choose_sigma(matrix.rows, matrix.nnz())});
}

template <class Value>
std::unique_ptr<HostKernel<Value>> build_csr5_host(const CsrView<Value>& matrix,
                                                   csr5::TileShape shape) {
  return std::make_unique<Csr5Host<Value>>(matrix, shape);
}

template std::unique_ptr<HostKernel<double>> build_csr5_host(const CsrView<double>&);
template std::unique_ptr<HostKernel<float>> build_csr5_host(const CsrView<float>&);
template std::unique_ptr<HostKernel<double>> build_csr5_host(const CsrView<double>&,
                                                             csr5::TileShape);
template std::unique_ptr<HostKernel<float>> build_csr5_host(const CsrView<float>&, csr5::TileShape);

}  // namespace trireme
