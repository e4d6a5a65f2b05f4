// SPDX-License-Identifier: BSD-3-Clause
// Tests the rule that selects the format of a tile at each of its limits.
#include "kernels/peers/tilespmv/format.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace trireme::tilespmv {
namespace {

// A tile with the given row lengths. The entries of each row begin at column `shift` times the row.
TileCounts tile_of(const std::vector<int>& lengths, int width = kTile, int shift = 1) {
  TileCounts tile{.height = static_cast<int>(lengths.size()), .width = width};
  for (int row = 0; row < tile.height; ++row)
    for (int k = 0; k < lengths[row]; ++k) {
      ++tile.entries;
      ++tile.in_row[row];
      ++tile.in_column[(shift * row + k) % width];
    }
  return tile;
}

std::vector<int> rows_with(int length) { return std::vector<int>(kTile, length); }

TilePlan plan(const TileCounts& tile) { return plan_tile(tile, sizeof(double)); }

TEST(TileSpmvFormat, IsDnsFromThreeQuartersOn) {
  EXPECT_EQ(plan(tile_of(rows_with(12))).format, Format::dns);
  auto one_less = rows_with(12);
  --one_less[5];
  EXPECT_EQ(plan(tile_of(one_less)).format, Format::ell);
}

TEST(TileSpmvFormat, MasksADnsTileOnlyWhereItHasHoles) {
  const TilePlan full = plan(tile_of(rows_with(16)));
  EXPECT_EQ(full.stored, 256);
  EXPECT_EQ(full.index_bytes, 0);
  const TilePlan holes = plan(tile_of(rows_with(13)));
  EXPECT_EQ(holes.stored, 256);
  EXPECT_EQ(holes.index_bytes, 32);
}

TEST(TileSpmvFormat, MakesAPartialTileDnsOnlyWhereItIsFull) {
  EXPECT_EQ(plan(tile_of({16})).format, Format::dns);
  EXPECT_EQ(plan(tile_of(std::vector<int>(16, 5), 5)).format, Format::dns);
  EXPECT_EQ(plan(tile_of(std::vector<int>(15, 15))).format, Format::ell);
}

TEST(TileSpmvFormat, IsCooUpToTwelveEntries) {
  std::vector<int> lengths = rows_with(0);
  lengths[3] = 12;
  EXPECT_EQ(plan(tile_of(lengths)).format, Format::coo);
  EXPECT_EQ(plan(tile_of(lengths)).index_bytes, 12);
  ++lengths[4];
  EXPECT_NE(plan(tile_of(lengths)).format, Format::coo);
}

TEST(TileSpmvFormat, IsDnsRowWhereEveryRowIsEmptyOrFull) {
  std::vector<int> lengths = rows_with(0);
  lengths[3] = lengths[9] = lengths[15] = 16;
  const TilePlan three = plan(tile_of(lengths));
  EXPECT_EQ(three.format, Format::dns_row);
  EXPECT_EQ(three.stored, 48);
  EXPECT_EQ(three.index_bytes, 2);
  lengths[9] = 15;
  EXPECT_NE(plan(tile_of(lengths)).format, Format::dns_row);
}

TEST(TileSpmvFormat, IsDnsColWhereEveryColumnIsEmptyOrFull) {
  const TilePlan five = plan(tile_of(rows_with(5), kTile, 0));
  EXPECT_EQ(five.format, Format::dns_col);
  EXPECT_EQ(five.stored, 80);
  EXPECT_EQ(five.index_bytes, 3);
  EXPECT_EQ(plan(tile_of(rows_with(5), kTile, 1)).format, Format::ell);
}

// Lengths 2 and 3 in equal numbers have the variation 0.5 / 2.5 = 0.2. Lengths 4 and 6 have it too.
TEST(TileSpmvFormat, IsEllUpToAVariationOfAFifth) {
  for (const int shorter : {2, 4}) {
    std::vector<int> lengths = rows_with(shorter);
    std::fill(lengths.begin(), lengths.begin() + 8, shorter * 3 / 2);
    const TilePlan ell = plan(tile_of(lengths));
    EXPECT_EQ(ell.format, Format::ell);
    EXPECT_EQ(ell.ell_width, shorter * 3 / 2);
    EXPECT_EQ(ell.stored, 16 * ell.ell_width);
    lengths.back() -= 1;
    EXPECT_EQ(plan(tile_of(lengths)).format, Format::csr);
  }
}

// 15 rows of 1 entry and one of m: the variation is 1.0 between m = 6 and m = 7.
TEST(TileSpmvFormat, IsHybFromAVariationOfOne) {
  std::vector<int> lengths = rows_with(1);
  lengths[2] = 6;
  EXPECT_EQ(plan(tile_of(lengths)).format, Format::csr);
  lengths[2] = 7;
  const TilePlan hyb = plan(tile_of(lengths));
  EXPECT_EQ(hyb.format, Format::hyb);
  EXPECT_EQ(hyb.ell_width, 1);
  EXPECT_EQ(hyb.stored, 22);
  EXPECT_EQ(hyb.index_bytes, 1 + 8 + 6);
}

TEST(TileSpmvFormat, IsCsrWhereHybHasAnEmptyRowOrNoFewerBytes) {
  std::vector<int> lengths = rows_with(1);
  lengths[2] = 12;
  EXPECT_EQ(plan(tile_of(lengths)).format, Format::hyb);
  lengths[3] = 0;  // HYB would take 27 values and 20 index bytes, CSR takes 26 and 29.
  EXPECT_EQ(plan(tile_of(lengths)).format, Format::csr);
  // 46 entries: 39 index bytes as HYB and as CSR.
  lengths = rows_with(1);
  lengths[2] = lengths[7] = 16;
  EXPECT_EQ(plan(tile_of(lengths)).format, Format::csr);
}

TEST(TileSpmvFormat, IsCooWhereAPlaceHasTwoEntries) {
  TileCounts tile = tile_of(rows_with(14));
  tile.repeats = true;
  EXPECT_EQ(plan(tile).format, Format::coo);
  EXPECT_EQ(plan(tile).stored, 224);
}

}  // namespace
}  // namespace trireme::tilespmv
