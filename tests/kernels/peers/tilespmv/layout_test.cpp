// SPDX-License-Identifier: BSD-3-Clause
// Tests the arrays of the TileSpMV layout: one tile in each of the seven formats, the CSR of tiles,
// and the deferred matrix, on pictures that a reader can check by hand.
#include "kernels/peers/tilespmv/layout.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/peers/tilespmv/build.hpp"
#include "kernels/peers/tilespmv/pictures.hpp"
#include "support/shapes.hpp"

namespace trireme::tilespmv {
namespace {

using Bytes = Array<std::uint8_t>;
using Values = Array<double>;

Layout<double> layout_of(const CsrMatrix<double>& a) { return build(a.view()).layout; }

// The layout of a picture that is one tile, which has the format.
Layout<double> one_tile(Format format, const std::vector<std::string>& picture) {
  Layout<double> layout = layout_of(test::matrix_of_picture(picture));
  EXPECT_EQ(layout.tile_ptr, (Array<std::int32_t>{0, 1}));
  EXPECT_EQ(layout.tile_format, Array<Format>{format});
  EXPECT_EQ(layout.tile_nnz, (Array<std::uint32_t>{0, std::uint32_t(layout.values.size())}));
  EXPECT_EQ(layout.tile_index, (Array<std::uint32_t>{0, std::uint32_t(layout.indices.size())}));
  return layout;
}

Values counting(int first, int last) {
  Values values(last - first + 1);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(TileSpmvLayout, WritesACsrTile) {
  const auto tile = one_tile(Format::csr, {"x...............",  //
                                           "xx..............",  //
                                           "..x.............",  //
                                           "x..x............",  //
                                           "....x...........",  //
                                           "x....x..........",  //
                                           "......x.........",  //
                                           "x......x........",  //
                                           "........x.......",  //
                                           "x........x......",  //
                                           "..........x.....",  //
                                           "x..........x....",  //
                                           "............x...",  //
                                           "x............x..",  //
                                           "..............x.",  //
                                           "x..............x"});
  EXPECT_EQ(tile.indices,
            (Bytes{0,    1,    3,    4,    6,    7,    9,    10,   12,   13,   15,   16,
                   18,   19,   21,   22,  // row starts, then columns, two per byte
                   0x00, 0x12, 0x03, 0x40, 0x56, 0x07, 0x80, 0x9a, 0x0b, 0xc0, 0xde, 0x0f}));
  EXPECT_EQ(tile.values, counting(1, 24));
}

TEST(TileSpmvLayout, WritesACooTile) {
  const auto tile = one_tile(Format::coo, {"...x............",  //
                                           "................",  //
                                           "................",  //
                                           "................",  //
                                           "................",  //
                                           ".....x.........x",  //
                                           "................",  //
                                           "................",  //
                                           "................",  //
                                           "................",  //
                                           "................",  //
                                           "................",  //
                                           "................",  //
                                           "................",  //
                                           "................",  //
                                           "x..............."});
  EXPECT_EQ(tile.indices, (Bytes{0x03, 0x55, 0x5f, 0xf0}));
  EXPECT_EQ(tile.values, counting(1, 4));
}

// Row 7 has one entry: its padding has the value 0 and column 7.
TEST(TileSpmvLayout, WritesAnEllTile) {
  const auto tile = one_tile(Format::ell, {"xx..............",  //
                                           ".xx.............",  //
                                           "..xx............",  //
                                           "...xx...........",  //
                                           "....xx..........",  //
                                           ".....xx.........",  //
                                           "......xx........",  //
                                           ".......x........",  //
                                           "........xx......",  //
                                           ".........xx.....",  //
                                           "..........xx....",  //
                                           "...........xx...",  //
                                           "............xx..",  //
                                           ".............xx.",  //
                                           "..............xx",  //
                                           "x..............x"});
  EXPECT_EQ(tile.indices, (Bytes{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xe0,  //
                                 0x12, 0x34, 0x56, 0x77, 0x9a, 0xbc, 0xde, 0xff}));
  EXPECT_EQ(tile.values, (Values{1, 3, 5, 7, 9,  11, 13, 15, 16, 18, 20, 22, 24, 26, 28, 30,  //
                                 2, 4, 6, 8, 10, 12, 14, 0,  17, 19, 21, 23, 25, 27, 29, 31}));
}

TEST(TileSpmvLayout, WritesAHybTile) {
  const auto tile = one_tile(Format::hyb, {"x...............",  //
                                           ".x..............",  //
                                           "xxxxxxxxxxxxxxxx",  //
                                           "...x............",  //
                                           "....x...........",  //
                                           ".....x..........",  //
                                           "......x.........",  //
                                           ".......x........",  //
                                           "........x.......",  //
                                           ".........x......",  //
                                           "..........x.....",  //
                                           "...........x....",  //
                                           "............x...",  //
                                           ".............x..",  //
                                           "..............x.",  //
                                           "...............x"});
  EXPECT_EQ(tile.indices, (Bytes{1,                                                     // width
                                 0x01, 0x03, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,        // ELL
                                 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29,  // COO
                                 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f}));
  EXPECT_EQ(tile.values, (Values{1, 2, 3, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,  //
                                 4, 5, 6, 7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18}));
}

// Row 0 has an entry in column 0 only, so that bit 0 is missing in the masks of the other columns.
TEST(TileSpmvLayout, WritesADnsTileWithMasksOfItsHoles) {
  std::vector<std::string> picture(16, "xxxxxxxxxxxxxxxx");
  picture[0] = "x...............";
  const auto tile = one_tile(Format::dns, picture);
  ASSERT_EQ(tile.indices.size(), 32u);
  ASSERT_EQ(tile.values.size(), 256u);
  for (int column = 0; column < 16; ++column) {
    EXPECT_EQ(tile.indices[2 * column], column == 0 ? 0xff : 0xfe);
    EXPECT_EQ(tile.indices[2 * column + 1], 0xff);
    EXPECT_EQ(tile.values[16 * column], column == 0 ? 1 : 0);
    for (int row = 1; row < 16; ++row)
      EXPECT_EQ(tile.values[16 * column + row], 2 + 16 * (row - 1) + column);
  }
}

TEST(TileSpmvLayout, WritesAFullDnsTileWithoutMasks) {
  const auto tile = one_tile(Format::dns, {"xxx", "xxx"});
  EXPECT_EQ(tile.indices, Bytes{});
  EXPECT_EQ(tile.values, (Values{1, 4, 2, 5, 3, 6}));
}

TEST(TileSpmvLayout, WritesADnsRowTile) {
  std::vector<std::string> picture(16, "................");
  picture[3] = picture[10] = "xxxxxxxxxxxxxxxx";
  const auto tile = one_tile(Format::dns_row, picture);
  EXPECT_EQ(tile.indices, Bytes{0x3a});
  EXPECT_EQ(tile.values, counting(1, 32));
}

TEST(TileSpmvLayout, WritesADnsColTile) {
  const auto tile = one_tile(Format::dns_col, std::vector<std::string>(16, "..x......x.....x"));
  EXPECT_EQ(tile.indices, (Bytes{0x29, 0xf0}));
  EXPECT_EQ(tile.values, (Values{1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 46,  //
                                 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41, 44, 47,  //
                                 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48}));
}

// 18 x 20 places: the tiles at the edges have 2 rows and 4 columns.
TEST(TileSpmvLayout, NamesTheTilesInACsrOfTiles) {
  std::vector<std::string> picture(18, "....................");
  picture[0] = "x................x..";
  picture[5] = "..................x.";
  picture[16] = "................xxxx";
  picture[17] = "................xxxx";
  const auto layout = layout_of(test::matrix_of_picture(picture));
  EXPECT_EQ(layout.tile_ptr, (Array<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(layout.tile_col_idx, (Array<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(layout.tile_format, (Array<Format>{Format::coo, Format::coo, Format::dns}));
  EXPECT_EQ(layout.tile_nnz, (Array<std::uint32_t>{0, 1, 3, 11}));
  EXPECT_EQ(layout.tile_index, (Array<std::uint32_t>{0, 1, 3, 3}));
  EXPECT_EQ(layout.indices, (Bytes{0x00, 0x01, 0x52}));
  EXPECT_EQ(layout.values, (Values{1, 2, 3, 4, 8, 5, 9, 6, 10, 7, 11}));
  EXPECT_FALSE(layout.defers());
}

// Seven tiles of one entry save 7 * 10 bytes. 17 row pointers take 68 bytes, 18 take 72.
TEST(TileSpmvLayout, DefersVerySparseTilesWhereThatSavesBytes) {
  std::vector<std::string> picture(16, std::string(8 * 16, '.'));
  for (int tile = 0; tile < 7; ++tile) picture[2 * tile][16 * tile + tile] = 'x';
  for (std::string& row : picture) row[7 * 16] = 'x';
  const auto layout = layout_of(test::matrix_of_picture(picture));
  EXPECT_EQ(layout.tile_col_idx, (Array<std::int32_t>{7}));
  EXPECT_EQ(layout.tile_format, (Array<Format>{Format::dns_col}));
  EXPECT_EQ(layout.deferred_ptr,
            (Array<std::int32_t>{0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 7, 7}));
  EXPECT_EQ(layout.deferred_col_idx, (Array<std::int32_t>{0, 17, 34, 51, 68, 85, 102}));
  // The values of the tile in column 112, then the deferred values.
  EXPECT_EQ(layout.values, (Values{2,  3,  5,  6,  8, 9, 11, 12, 14, 15, 17, 18,
                                   20, 21, 22, 23, 1, 4, 7,  10, 13, 16, 19}));

  picture.push_back(std::string(8 * 16, '.'));
  const auto larger = layout_of(test::matrix_of_picture(picture));
  EXPECT_FALSE(larger.defers());
  EXPECT_EQ(larger.tiles(), 8);
}

TEST(TileSpmvLayout, SaysHowManyTilesHaveWhichFormat) {
  using enum Format;
  EXPECT_EQ(describe(Array<Format>{coo, csr, dns_col, coo, ell, coo}, 7),
            "tiles: 1 CSR, 3 COO, 1 ELL, 0 HYB, 0 Dns, 0 DnsRow, 1 DnsCol; 7 entries deferred");
}

// The properties on which every executor relies.
TEST(TileSpmvLayout, StoresEveryValueOfEveryShapeOnce) {
  for (const auto& [name, a] : test::contract_shapes<double>()) {
    SCOPED_TRACE(name);
    const Built<double> built = build(a.view());
    const Layout<double>& layout = built.layout;
    ASSERT_EQ(layout.tile_rows(), tiles_along(a.rows));
    ASSERT_EQ(std::ssize(layout.indices), layout.tile_index.back());
    ASSERT_EQ(std::ssize(layout.values),
              layout.tile_nnz.back() + std::ssize(layout.deferred_col_idx));
    std::vector<bool> taken(layout.values.size());
    for (std::int64_t k = 0; k < a.nnz(); ++k) {
      ASSERT_FALSE(taken[built.position[k]]);
      taken[built.position[k]] = true;
      ASSERT_EQ(layout.values[built.position[k]], a.values[k]);
    }
    for (std::size_t k = 0; k < taken.size(); ++k) ASSERT_TRUE(taken[k] || layout.values[k] == 0);
    for (std::int64_t row = 0; row < layout.tile_rows(); ++row)
      for (std::int32_t at = layout.tile_ptr[row] + 1; at < layout.tile_ptr[row + 1]; ++at)
        ASSERT_LT(layout.tile_col_idx[at - 1], layout.tile_col_idx[at]);
  }
}

}  // namespace
}  // namespace trireme::tilespmv
