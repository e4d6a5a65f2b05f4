// SPDX-License-Identifier: BSD-3-Clause
// Tests the CSR5 layout: the drawing in layout.hpp, entry by entry, and what executors rely on, for
// every shape of the matrix and of the tiles.
#include "kernels/peers/csr5/layout.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/peers/csr5/build.hpp"
#include "kernels/peers/csr5/tile_shapes.hpp"
#include "support/shapes.hpp"

namespace trireme::test {
namespace {

csr5::Layout<double> layout_of(const CsrMatrix<double>& a, csr5::TileShape shape) {
  std::vector<BuildStep> steps;
  return csr5::build(a.view(), shape, steps);
}

TEST(Csr5Layout, IsThatOfTheDrawing) {
  const csr5::Layout<double> a = layout_of(csr5_drawing(), {4, 4});
  EXPECT_EQ(a.tile_ptr, (Array<std::uint32_t>{0 | csr5::kEmptyRowsMark, 4, 7, 8}));
  EXPECT_EQ(a.empty_offset_ptr, (Array<std::int32_t>{0, 4, 4, 4}));
  EXPECT_EQ(a.empty_offset, (Array<std::int32_t>{0, 2, 3, 4}));
  EXPECT_EQ(a.empty_rows, (Array<std::int32_t>{1}));

  const std::uint32_t flags[3][4] = {{0b1001, 0, 0b0110, 0}, {0b0100, 0, 0b0100, 0b0010}, {}};
  const int y_offset[3][4] = {{0, 2, 2, 4}, {0, 2, 2, 3}, {0, 1, 1, 1}};
  const int seg_offset[3][4] = {{1, 0, 1, 0}, {1, 0, 0, 0}, {3, 2, 1, 0}};
  for (int tile = 0; tile < 3; ++tile)
    for (int lane = 0; lane < 4; ++lane) {
      SCOPED_TRACE("tile " + std::to_string(tile) + ", lane " + std::to_string(lane));
      EXPECT_EQ(a.descriptor(tile, lane).bit_flag, flags[tile][lane]);
      EXPECT_EQ(a.descriptor(tile, lane).y_offset, y_offset[tile][lane]);
      EXPECT_EQ(a.descriptor(tile, lane).seg_offset, seg_offset[tile][lane]);
    }

  EXPECT_EQ(a.values,
            (Array<double>{1,  5,  9,  13, 2,  6,  10, 14, 3,  7,  11, 15, 4,  8,  12, 16,
                           17, 21, 25, 29, 18, 22, 26, 30, 19, 23, 27, 31, 20, 24, 28, 32,
                           33, 0,  0,  0,  34, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0}));
  EXPECT_EQ(a.col_idx,
            (Array<std::int32_t>{0, 1,  5,  2,  1, 2,  3,  3,  2,  3,  0,  4,  0,  4,  1,  5,
                                 6, 2,  6,  7,  7, 3,  7,  0,  0,  4,  5,  2,  1,  5,  6,  4,
                                 6, -1, -1, -1, 7, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
}

TEST(Csr5Layout, ChoosesSigmaAsThePaper) {
  EXPECT_EQ(csr5::choose_sigma(0, 0), 4);
  EXPECT_EQ(csr5::choose_sigma(100, 70), 4);
  EXPECT_EQ(csr5::choose_sigma(100, 499), 4);
  EXPECT_EQ(csr5::choose_sigma(100, 500), 5);
  EXPECT_EQ(csr5::choose_sigma(100, 2700), 27);
  EXPECT_EQ(csr5::choose_sigma(100, 3299), 32);
  EXPECT_EQ(csr5::choose_sigma(100, 25600), 32);
  EXPECT_EQ(csr5::choose_sigma(100, 25699), 32);
  EXPECT_EQ(csr5::choose_sigma(100, 25700), 6);
}

TEST(Csr5Layout, KeepsEveryDescriptorThatATileCanHave) {
  for (const std::uint32_t flag : {0u, 1u, 0x8000u, 0xffffu})
    for (int y_offset = 0; y_offset <= 31 * 16; ++y_offset)
      for (int seg_offset = 0; seg_offset < 32; ++seg_offset) {
        const auto kept = csr5::unpack(csr5::pack_one_word({flag, y_offset, seg_offset}));
        ASSERT_EQ(kept.bit_flag, flag);
        ASSERT_EQ(kept.y_offset, y_offset);
        ASSERT_EQ(kept.seg_offset, seg_offset);
      }
  for (int y_offset = 0; y_offset <= 31 * 32; ++y_offset)
    for (int seg_offset = 0; seg_offset < 32; ++seg_offset) {
      const auto kept = csr5::unpack(0xffffffff, csr5::pack_offsets({0, y_offset, seg_offset}));
      ASSERT_EQ(kept.bit_flag, 0xffffffff);
      ASSERT_EQ(kept.y_offset, y_offset);
      ASSERT_EQ(kept.seg_offset, seg_offset);
    }
}

// The row of each nonzero.
std::vector<std::int64_t> rows_of(const CsrMatrix<double>& a) {
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < a.rows; ++row)
    rows.insert(rows.end(), a.row_ptr[row + 1] - a.row_ptr[row], row);
  return rows;
}

// Walks through the nonzeros of one tile, lane by lane, and checks everything that the layout says
// about them.
void expect_sound_tile(const csr5::Layout<double>& layout, std::int64_t tile,
                       const CsrMatrix<double>& a, const std::vector<std::int64_t>& rows) {
  const auto [omega, sigma] = layout.shape;
  std::int64_t k = tile * layout.shape.entries();
  std::int64_t segment = 0;
  bool has_gap = false;
  ASSERT_EQ(layout.first_row(tile), rows[k]);
  for (int lane = 0; lane < omega; ++lane) {
    const csr5::LaneDescriptor descriptor = layout.descriptor(tile, lane);
    ASSERT_EQ(descriptor.y_offset, lane == 0 ? 0 : segment + 1);
    for (int step = 0; step < sigma; ++step, ++k) {
      const std::int64_t place = tile * layout.shape.entries() + step * omega + lane;
      const bool flag = (descriptor.bit_flag >> step & 1) != 0;
      if (k >= a.nnz()) {
        ASSERT_FALSE(flag);
        ASSERT_EQ(layout.col_idx[place], csr5::kNoColumn);
        ASSERT_EQ(layout.values[place], 0);
        continue;
      }
      ASSERT_EQ(flag, k == 0 || rows[k] != rows[k - 1]);
      if (flag && lane + step > 0) {
        ++segment;
        has_gap = has_gap || rows[k] > rows[k - 1] + 1;
      }
      ASSERT_EQ(layout.row(tile, segment), rows[k]);
      ASSERT_EQ(layout.col_idx[place], a.col_idx[k]);
      ASSERT_EQ(layout.values[place], a.values[k]);
    }
    int lanes = 0;
    while (lane + lanes + 1 < omega && layout.descriptor(tile, lane + lanes + 1).bit_flag == 0)
      ++lanes;
    ASSERT_EQ(descriptor.seg_offset, lanes);
  }
  ASSERT_EQ(layout.has_empty_rows(tile), has_gap);
  ASSERT_EQ(layout.empty_offset_ptr[tile + 1] - layout.empty_offset_ptr[tile],
            has_gap ? segment + 1 : 0);
}

TEST(Csr5Layout, IsSoundOnEveryShape) {
  for (const auto& [name, a] : contract_shapes<double>())
    for (const csr5::TileShape shape : csr5_tile_shapes()) {
      SCOPED_TRACE(name + " in tiles of " + std::to_string(shape.omega) + " x " +
                   std::to_string(shape.sigma));
      const csr5::Layout<double> layout = layout_of(a, shape);
      const std::int64_t entries = shape.entries();
      ASSERT_EQ(layout.tiles(), (a.nnz() + entries - 1) / entries);
      ASSERT_EQ(layout.first_row(layout.tiles()), a.rows);
      ASSERT_EQ(std::ssize(layout.empty_offset), layout.empty_offset_ptr.back());
      Array<std::int32_t> empty_rows;
      for (std::int32_t row = 0; row < a.rows; ++row)
        if (a.row_ptr[row] == a.row_ptr[row + 1]) empty_rows.push_back(row);
      ASSERT_EQ(layout.empty_rows, empty_rows);
      const std::vector<std::int64_t> rows = rows_of(a);
      for (std::int64_t tile = 0; tile < layout.tiles(); ++tile) {
        expect_sound_tile(layout, tile, a, rows);
        if (HasFatalFailure()) return;
      }
    }
}

// Rows of 16 nonzeros fill tiles of 4 x 4; empty rows lie between the tiles, before the first one
// and behind the last one.
TEST(Csr5Layout, MarksNoTileForEmptyRowsAtItsBoundary) {
  const auto a = matrix_with_row_lengths<double>({0, 16, 0, 0, 16, 16, 0}, 20);
  const csr5::Layout<double> layout = layout_of(a, {4, 4});
  EXPECT_EQ(layout.tile_ptr, (Array<std::uint32_t>{1, 4, 5, 7}));
  EXPECT_TRUE(layout.empty_offset.empty());
  EXPECT_EQ(layout.empty_rows, (Array<std::int32_t>{0, 2, 3, 6}));
}

}  // namespace
}  // namespace trireme::test
