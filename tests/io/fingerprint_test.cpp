// SPDX-License-Identifier: BSD-3-Clause
// A fingerprint does not depend on the distribution of rows, and differs for another system.
#include "io/fingerprint.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <set>

#include "base/split_mix.hpp"
#include "io/hash_sums.hpp"
#include "parallel/collective.hpp"
#include "sparse/generators.hpp"

namespace trireme {
namespace {

RowSlab slab(std::int64_t first = 0, std::int64_t last = 64) {
  GenerateSpec spec;
  spec.kind = "poisson2d";
  spec.n = 8;
  RowSlab rows = generate(spec, first, last);
  for (std::size_t k = 0; k < rows.local.values.size(); ++k)
    rows.local.values[k] += 1e-3 * rows.local.col_idx[k];  // no two rows are alike
  return rows;
}

std::uint64_t pattern(const RowSlab& rows) { return pattern_fingerprint(MPI_COMM_SELF, rows); }
std::uint64_t values(const RowSlab& rows) { return values_fingerprint(MPI_COMM_SELF, rows); }

TEST(Fingerprint, IsTheSameForAnyDistributionOfTheRows) {
  const std::int64_t ranks = size_of(MPI_COMM_WORLD), rank = rank_of(MPI_COMM_WORLD);
  const RowSlab part =
      slab(64 * rank * rank / (ranks * ranks), 64 * (rank + 1) * (rank + 1) / (ranks * ranks));
  EXPECT_EQ(pattern_fingerprint(MPI_COMM_WORLD, part), pattern(slab()));
  EXPECT_EQ(values_fingerprint(MPI_COMM_WORLD, part), values(slab()));
  const Array<double> b{1, -2, 3, 0};
  const std::span<const double> all(b);
  EXPECT_EQ(fingerprint(all.first(1), 0) + fingerprint(all.subspan(1), 1), fingerprint(b, 0));
}

TEST(Fingerprint, OfAPatternChangesWithAColumnARowEndAndTheShape) {
  const std::uint64_t before = pattern(slab());
  RowSlab changed = slab();
  changed.local.col_idx.back() -= 1;
  EXPECT_NE(pattern(changed), before);
  changed = slab();
  std::swap(changed.local.col_idx[0], changed.local.col_idx[1]);
  EXPECT_NE(pattern(changed), before);
  changed = slab();
  ++changed.local.row_ptr[5];
  EXPECT_NE(pattern(changed), before);
  changed = slab();
  changed.first_row = 1;
  EXPECT_NE(pattern(changed), before);
  changed = slab();
  ++changed.global_cols;
  EXPECT_NE(pattern(changed), before);
}

TEST(Fingerprint, OfAPatternDoesNotDependOnValuesNorThatOfValuesOnThePattern) {
  RowSlab changed = slab();
  changed.local.values[17] = std::nextafter(changed.local.values[17], 9);
  EXPECT_EQ(pattern(changed), pattern(slab()));
  EXPECT_NE(values(changed), values(slab()));
  changed = slab();
  std::swap(changed.local.values[3], changed.local.values[4]);
  EXPECT_NE(values(changed), values(slab()));
  changed = slab();
  changed.local.col_idx.back() -= 1;
  EXPECT_EQ(values(changed), values(slab()));
}

// Patterns whose columns differ by a few units here and there, as those of meshes do, are where a
// weak sum of hashes would repeat itself.
TEST(Fingerprint, DiffersAmongAllSmallChangesOfAPattern) {
  std::set<std::uint64_t> seen;
  const RowSlab original = slab();
  const std::int64_t count = original.local.nnz() - 2;
  for (std::int64_t k = 0; k < count; ++k) {
    for (const auto& [a, b, c] :
         {std::array{1, -2, 1}, std::array{1, -1, 0}, std::array{1, 0, 0}, std::array{0, 0, 64}}) {
      RowSlab changed = original;
      changed.local.col_idx[k] += a;
      changed.local.col_idx[k + 1] += b;
      changed.local.col_idx[k + 2] += c;
      seen.insert(pattern(changed));
    }
  }
  EXPECT_EQ(std::ssize(seen), 4 * count);
}

TEST(Fingerprint, OfVectorsChangesWithAValueARowAndTheOrderOfColumns) {
  const Array<double> b{1, 2}, c{2, 1};
  EXPECT_NE(fingerprint(b, 0), fingerprint(c, 0));
  EXPECT_NE(fingerprint(b, 0), fingerprint(b, 1));
  EXPECT_NE(fingerprint(b, 0, 0) + fingerprint(c, 0, 1),
            fingerprint(c, 0, 0) + fingerprint(b, 0, 1));
}

TEST(HashSums, AreThoseOfTheDefinitionBeyondOneChunk) {
  Array<std::int32_t> columns(200'003);
  Array<double> numbers(columns.size());
  std::uint64_t sum = 0, complements = 0, of_numbers = 0;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    columns[k] = static_cast<std::int32_t>(split_mix(k, 1) >> 33);
    numbers[k] = -to_unit(split_mix(k, 2));
    sum += split_mix(7 + k, static_cast<std::uint64_t>(columns[k]));
    complements += split_mix(7 + k, ~(static_cast<std::uint64_t>(columns[k]) + (1ull << 40)));
    of_numbers += split_mix(7 + k, std::bit_cast<std::uint64_t>(numbers[k]) ^ 5);
  }
  EXPECT_EQ(sum_of_hashes(7, std::span<const std::int32_t>(columns)), sum);
  EXPECT_EQ(sum_of_complement_hashes(7, columns, std::int64_t{1} << 40), complements);
  EXPECT_EQ(sum_of_hashes(7, std::span<const double>(numbers), 5), of_numbers);
}

}  // namespace
}  // namespace trireme
