// SPDX-License-Identifier: BSD-3-Clause
// A fingerprint does not depend on the distribution of rows, and differs for another system.
#include "io/fingerprint.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "base/split_mix.hpp"
#include "io/colliding_patterns.hpp"
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

RowSlab colliding(int number) {
  const test::CollidingPattern pattern(number, 100);
  RowSlab rows;
  rows.global_rows = rows.global_cols = rows.local.rows = rows.local.cols = 100;
  rows.local.row_ptr.assign(pattern.row_ptr.begin(), pattern.row_ptr.end());
  rows.local.col_idx.assign(pattern.columns.begin(), pattern.columns.end());
  rows.local.values.assign(pattern.columns.size(), 1.0);
  return rows;
}

TEST(LastPattern, IsToldFromOneThatWasMadeToHaveItsFingerprint) {
  const RowSlab a = colliding(0), b = colliding(1);
  ASSERT_NE(a.local.col_idx, b.local.col_idx);
  ASSERT_EQ(pattern(a), pattern(b));
  LastPattern last(MPI_COMM_SELF);
  EXPECT_FALSE(last.take(a));
  EXPECT_TRUE(last.take(a));
  EXPECT_FALSE(last.take(b));
  EXPECT_TRUE(last.take(b));
  EXPECT_FALSE(last.take(a));
}

TEST(LastPattern, IsKnownOnAnotherDistributionOfTheRows) {
  const std::int64_t ranks = size_of(MPI_COMM_WORLD), rank = rank_of(MPI_COMM_WORLD);
  LastPattern last(MPI_COMM_WORLD);
  EXPECT_FALSE(last.take(slab(64 * rank / ranks, 64 * (rank + 1) / ranks)));
  EXPECT_TRUE(last.take(
      slab(64 * rank * rank / (ranks * ranks), 64 * (rank + 1) * (rank + 1) / (ranks * ranks))));
  RowSlab other = slab(64 * rank / ranks, 64 * (rank + 1) / ranks);
  if (rank == ranks - 1) other.local.col_idx.back() -= 1;
  EXPECT_FALSE(last.take(other));
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

// The definition in the header, word by word.
std::uint64_t hash_of_words(std::int64_t first, std::span<const std::uint32_t> words,
                            std::uint64_t seed) {
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const std::uint64_t position = static_cast<std::uint64_t>(first) + k, block = position / 1024;
    const std::uint64_t weights = split_mix(position % 1024, 0x7472697265'6d65u);
    const std::uint64_t of_seed = mix_bits(seed + kSplitMixStep);
    hash += words[k] * (weights & 0xffffffff) * (split_mix(2 * block, of_seed) | 1);
    hash += words[k] * (weights >> 32) * (split_mix(2 * block + 1, of_seed) | 1);
  }
  return hash;
}

TEST(HashSums, AreThoseOfTheDefinitionBeyondOneChunk) {
  Array<std::int32_t> columns(200'003), row_ptr(columns.size() + 1);
  Array<double> numbers(columns.size());
  std::vector<std::uint32_t> lengths(columns.size());
  row_ptr[0] = 0;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    columns[k] = static_cast<std::int32_t>(split_mix(k, 1) >> 33);
    numbers[k] = -to_unit(split_mix(k, 2));
    lengths[k] = static_cast<std::uint32_t>(split_mix(k, 3) >> 51);
    row_ptr[k + 1] = row_ptr[k] + static_cast<std::int32_t>(lengths[k]);
  }
  const std::vector<std::uint32_t> words(columns.begin(), columns.end());
  std::vector<std::uint32_t> halves(2 * numbers.size());
  std::memcpy(halves.data(), numbers.data(), 8 * numbers.size());
  EXPECT_EQ(sum_of_hashes(7, std::span<const std::int32_t>(columns), 5),
            hash_of_words(7, words, 5));
  EXPECT_EQ(sum_of_hashes(7, std::span<const double>(numbers), 5), hash_of_words(14, halves, 5));
  EXPECT_EQ(sum_of_length_hashes(7, row_ptr, 5), hash_of_words(7, lengths, 5));
}

TEST(HashSums, OfPartsAddUpWhereverTheyAreCut) {
  Array<std::int32_t> columns(5'000);
  Array<double> numbers(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    columns[k] = static_cast<std::int32_t>(split_mix(k, 1) >> 33);
    numbers[k] = -to_unit(split_mix(k, 2));
  }
  const std::span<const std::int32_t> c(columns);
  const std::span<const double> v(numbers);
  for (const std::size_t cut : {1, 15, 1023, 1024, 1025, 3000, 4999}) {
    const auto at = static_cast<std::int64_t>(cut);
    EXPECT_EQ(sum_of_hashes(3, c.first(cut)) + sum_of_hashes(3 + at, c.subspan(cut)),
              sum_of_hashes(3, c));
    EXPECT_EQ(sum_of_hashes(3, v.first(cut)) + sum_of_hashes(3 + at, v.subspan(cut)),
              sum_of_hashes(3, v));
  }
}

// Values that differ in their exponents alone have sums whose lowest bits are equal.
TEST(HashSums, DifferForAllPairsOfChangesByPowersOfTwo) {
  Array<double> numbers(300, 1.0);
  std::set<std::uint64_t> seen;
  std::size_t changes = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    for (std::size_t k = i + 1; k < numbers.size(); ++k, ++changes) {
      numbers[i] = 2.0;
      numbers[k] = 0.5;
      seen.insert(sum_of_hashes(0, std::span<const double>(numbers)));
      numbers[i] = numbers[k] = 1.0;
    }
  EXPECT_EQ(seen.size(), changes);
}

}  // namespace
}  // namespace trireme
