// SPDX-License-Identifier: BSD-3-Clause
// Scaled systems are the caller's systems, bit for bit, however the rows are distributed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "base/error.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "distributed/scaling/ghost_numbers.hpp"
#include "distributed/scaling/scaled_values.hpp"
#include "distributed/scaling/system_scaling.hpp"

namespace trireme {
namespace {

using test::Cut;
using Entries = std::map<std::pair<std::int64_t, std::int64_t>, double>;

CsrMatrix<double> matrix_of(std::int64_t n, const Entries& entries) {
  CsrMatrix<double> a;
  a.rows = a.cols = n;
  auto next = entries.begin();
  for (std::int64_t i = 0; i < n; ++i) {
    for (; next != entries.end() && next->first.first == i; ++next) {
      a.col_idx.push_back(static_cast<std::int32_t>(next->first.second));
      a.values.push_back(next->second);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

// Small integers times powers of two from 2^-2s to 2^2s, so that products with integers are exact
// where s is small. Each row has an entry `shift` columns after its diagonal.
CsrMatrix<double> random_matrix(std::int64_t n, int s, bool symmetric, std::int64_t shift) {
  std::mt19937_64 random(7);
  const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  std::vector<int> rows(n), columns(n);
  for (int& exponent : rows) exponent = below(2 * s + 1) - s;
  for (int& exponent : columns) exponent = below(2 * s + 1) - s;
  if (symmetric) columns = rows;
  Entries entries;
  const auto add = [&](std::int64_t i, std::int64_t j, double value) {
    entries[{i, j}] = std::ldexp(value, rows[i] + columns[j]);
    if (symmetric) entries[{j, i}] = entries[{i, j}];
  };
  for (std::int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) add(i, below(static_cast<int>(n)), 1 + below(6));
    add(i, (i + shift) % n, below(2) == 0 ? 40 : -40);
  }
  return matrix_of(n, entries);
}

// The numbers of all ranks, one rank after the other.
Array<double> gathered(const DistributedMatrix& matrix, const Array<double>& own) {
  const int ranks = size_of(matrix.comm);
  std::vector<int> counts(ranks), at(ranks);
  for (int r = 0; r < ranks; ++r) {
    at[r] = static_cast<int>(matrix.row_starts[r]);
    counts[r] = static_cast<int>(matrix.row_starts[r + 1]) - at[r];
  }
  Array<double> all(matrix.global_rows());
  MPI_Allgatherv(own.data(), counts[rank_of(matrix.comm)], MPI_DOUBLE, all.data(), counts.data(),
                 at.data(), MPI_DOUBLE, matrix.comm);
  return all;
}

Array<double> as_numbers(const Array<std::int32_t>& exponents) {
  return {exponents.begin(), exponents.end()};
}

// This rank's entries, by global row and column.
Entries entries_of(const DistributedMatrix& matrix) {
  Entries found;
  const auto take = [&](const CsrMatrix<double>& a, const auto& column) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k)
        found[{matrix.first_row() + i, column(a.col_idx[k])}] = a.values[k];
  };
  take(matrix.blocks.local, [&](std::int32_t j) { return matrix.first_row() + j; });
  take(matrix.blocks.ghost, [&](std::int32_t j) { return matrix.blocks.ghost_columns[j]; });
  return found;
}

// A x, by plain sums.
Array<double> product(const DistributedMatrix& matrix, const Array<double>& x) {
  const Array<double> all = gathered(matrix, x);
  Array<double> y(matrix.local_rows(), 0.0);
  for (const auto& [at, value] : entries_of(matrix))
    y[at.first - matrix.first_row()] += value * all[at.second];
  return y;
}

// The largest log2 of the magnitudes of each row and of each column of all ranks.
struct Largest {
  Array<double> rows, columns;
};
Largest largest_of(const DistributedMatrix& matrix) {
  Largest log2{.rows = Array<double>(matrix.global_rows(), -INFINITY), .columns = {}};
  log2.columns = log2.rows;
  for (const auto& [at, value] : entries_of(matrix))
    for (double* const of : {&log2.rows[at.first], &log2.columns[at.second]})
      *of = std::max(*of, std::log2(std::abs(value)));
  for (Array<double>* const of : {&log2.rows, &log2.columns})
    MPI_Allreduce(MPI_IN_PLACE, of->data(), static_cast<int>(of->size()), MPI_DOUBLE, MPI_MAX,
                  matrix.comm);
  return log2;
}

constexpr Scaling kAll[] = {Scaling::none, Scaling::diagonal, Scaling::ruiz, Scaling::matching};
constexpr Cut kCuts[] = {Cut::by_nonzeros, Cut::all_on_last_rank, Cut::first_rank_empty};

// With these, each rank matches its own block.
constexpr MatchingRules kByBlocks{.most_on_rank_zero = 0};

// The place of y, on all ranks, to which each of this rank's columns goes.
Array<std::int64_t> places_of(const DistributedMatrix& matrix, const SystemScaling& s) {
  Array<std::int64_t> places(matrix.local_rows());
  for (std::int64_t j = 0; j < matrix.local_rows(); ++j)
    places[j] = s.moved ? s.moved->new_rows()[j] : matrix.first_row() + s.places[j];
  return places;
}

void expect_every_digit(const DistributedMatrix& a, const SystemScaling& s) {
  const auto scaled = scaled_matrix(a, s);
  Array<double> x(a.local_rows());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>((a.first_row() + static_cast<std::int64_t>(i)) % 7) - 3;
  const Array<double> y = s.to_columns(x, -3);
  EXPECT_EQ(s.from_columns(y, 3), x);
  EXPECT_EQ(product(*scaled, y), s.to_rows(product(a, x), -3));
  EXPECT_EQ(scaled->global_nnz, a.global_nnz);
}

TEST(SystemScaling, KeepsEveryDigitOfTheSystem) {
  for (const bool symmetric : {false, true})
    for (const Cut cut : kCuts)
      for (const Scaling kind : kAll) {
        SCOPED_TRACE(to_string(kind));
        const auto a =
            test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(60, 5, symmetric, 1), cut);
        expect_every_digit(*a, find_scaling(kind, *a));
        expect_every_digit(*a, find_scaling(kind, *a, kByBlocks));
      }
}

// Vectors side by side travel together.
TEST(SystemScaling, MovesVectorsSideBySide) {
  const auto a = test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(60, 5, false, 9), kCuts[0]);
  const SystemScaling s = find_scaling(Scaling::matching, *a);
  Array<double> x(a->local_rows()), negative(x.size()), both;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(a->first_row()) + static_cast<double>(i);
    negative[i] = -x[i];
    both.insert(both.end(), {x[i], -x[i]});
  }
  const Array<double> y = s.to_columns(x), of_negative = s.to_columns(negative);
  const Array<double> of_both = s.to_columns(both, 0, 2);
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(of_both[2 * i], y[i]);
    EXPECT_EQ(of_both[2 * i + 1], of_negative[i]);
  }
}

TEST(SystemScaling, KeepsSymmetricMatricesSymmetricBitForBit) {
  const CsrMatrix<double> whole = random_matrix(50, 400, true, 1);
  for (const Cut cut : kCuts)
    for (const Scaling kind : {Scaling::diagonal, Scaling::ruiz, Scaling::matching}) {
      SCOPED_TRACE(to_string(kind));
      const auto a = test::matrix_on_ranks(MPI_COMM_WORLD, whole, cut);
      const SystemScaling s = find_scaling(kind, *a);
      EXPECT_TRUE(s.symmetric);
      EXPECT_EQ(s.rows, s.columns);
      EXPECT_TRUE(s.places.empty() && !s.moved);
      const Array<double> exponents = gathered(*a, as_numbers(s.rows));
      const auto scaled = scaled_matrix(*a, s);
      const Entries of_scaled = entries_of(*scaled);
      for (const auto& [at, value] : entries_of(*a)) {
        const auto exponent = static_cast<int>(exponents[at.first] + exponents[at.second]);
        EXPECT_EQ(of_scaled.at(at), std::ldexp(value, exponent));
      }
    }
}

// The large entry alone decides what the sums of looks_symmetric() come to.
TEST(SystemScaling, SeesThatSmallEntriesAreNotSymmetric) {
  Entries entries;
  for (std::int64_t i = 0; i < 20; ++i) entries[{i, i}] = i == 7 ? 1e200 : 1;
  entries[{2, 3}] = entries[{3, 2}] = 0.5;
  auto a = test::matrix_on_ranks(MPI_COMM_WORLD, matrix_of(20, entries), Cut::by_nonzeros);
  EXPECT_TRUE(find_scaling(Scaling::ruiz, *a).symmetric);
  entries[{2, 3}] = 0.25;
  a = test::matrix_on_ranks(MPI_COMM_WORLD, matrix_of(20, entries), Cut::by_nonzeros);
  EXPECT_FALSE(find_scaling(Scaling::ruiz, *a).symmetric);
}

TEST(SystemScaling, RuizBringsRowsAndColumnsToOne) {
  for (const bool symmetric : {false, true})
    for (const Cut cut : kCuts) {
      const auto a =
          test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(60, 480, symmetric, 0), cut);
      const Largest log2 = largest_of(*scaled_matrix(*a, find_scaling(Scaling::ruiz, *a)));
      for (const Array<double>* const of : {&log2.rows, &log2.columns})
        for (const double largest : *of) EXPECT_NEAR(largest, 0, 1.5);
    }
}

TEST(SystemScaling, DiagonalBringsTheDiagonalToOne) {
  const auto a =
      test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(60, 100, false, 0), Cut::by_nonzeros);
  const auto scaled = scaled_matrix(*a, find_scaling(Scaling::diagonal, *a));
  Array<double> diagonal(a->local_rows());
  scaled->diagonal(diagonal);
  for (const double d : diagonal) EXPECT_NEAR(std::log2(std::abs(d)), 0, 1);
}

// The planted entries are those of the matching. Where each rank sees its own block only, no entry
// is much larger than 1.
TEST(SystemScaling, MatchingBringsLargeEntriesToTheDiagonal) {
  for (const Cut cut : kCuts) {
    const auto a = test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(60, 450, false, 7), cut);
    for (const bool by_blocks : {false, true}) {
      const SystemScaling s =
          find_scaling(Scaling::matching, *a, by_blocks ? kByBlocks : MatchingRules());
      const auto scaled = scaled_matrix(*a, s);
      for (const double largest : largest_of(*scaled).rows) EXPECT_LE(largest, 1.5);
      EXPECT_EQ(s.matched == Matched::blocks, by_blocks && size_of(MPI_COMM_WORLD) > 1);
      if (s.matched == Matched::blocks) continue;
      EXPECT_EQ(s.unmatched_rows, 0);
      Array<double> diagonal(a->local_rows());
      scaled->diagonal(diagonal);
      for (const double entry : diagonal) EXPECT_NEAR(std::log2(std::abs(entry)), 0, 1);
      const Array<std::int64_t> places = places_of(*a, s);
      for (std::size_t j = 0; j < places.size(); ++j)
        EXPECT_EQ((places[j] + 7) % 60, a->first_row() + static_cast<std::int64_t>(j));
    }
  }
}

// Rows in the order in which a partitioner might put them: row i of the file comes at place of(i).
struct Moved {
  std::int64_t n;
  std::int64_t of(std::int64_t row) const { return (7 * row + 3) % n; }

  std::shared_ptr<DistributedMatrix> matrix(const CsrMatrix<double>& whole) const {
    std::vector<std::int64_t> starts =
        test::row_starts(whole, size_of(MPI_COMM_WORLD), Cut::by_nonzeros);
    const int rank = rank_of(MPI_COMM_WORLD);
    Array<std::int32_t> numbers;
    for (std::int64_t i = starts[rank]; i < starts[rank + 1]; ++i)
      numbers.push_back(static_cast<std::int32_t>(of(i)));
    Redistribution moved(MPI_COMM_WORLD, starts, starts, numbers);
    auto matrix = distribute(
        MPI_COMM_WORLD, moved.matrix(test::slab_of(whole, starts[rank], starts[rank + 1])), starts);
    matrix->callers_rows.resize(matrix->local_rows());
    for (std::int64_t i = 0; i < n; ++i)
      if (of(i) >= starts[rank] && of(i) < starts[rank + 1])
        matrix->callers_rows[of(i) - starts[rank]] = static_cast<std::int32_t>(i);
    return matrix;
  }
};

// `place` maps a row of the file to a row of `a`.
template <class Place>
void expect_scaling_of_one_rank(const DistributedMatrix& a, const SystemScaling& s,
                                const SystemScaling& alone, const Place& place) {
  EXPECT_EQ(s.matched, Matched::whole);
  EXPECT_EQ(s.symmetric, alone.symmetric);
  const bool moves = s.moved || !s.places.empty();
  EXPECT_EQ(moves, !alone.places.empty());
  const Array<std::int64_t> places = moves ? places_of(a, s) : Array<std::int64_t>();
  for (std::int64_t i = 0; i < a.local_rows(); ++i) {
    const std::int64_t row = a.callers_row(i);
    EXPECT_EQ(s.rows[i], alone.rows[row]);
    EXPECT_EQ(s.columns[i], alone.columns[row]);
    if (moves) {
      EXPECT_EQ(places[i], place(alone.places[row]));
    }
  }
}

// With s = 0 all entries are equal, so that there is a choice between matchings.
CsrMatrix<double> matrix_without_diagonal(std::int64_t n, int s, bool symmetric) {
  CsrMatrix<double> a = random_matrix(n, s, symmetric, 13);
  if (s == 0) std::ranges::fill(a.values, 1);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k)
      if (a.col_idx[k] == i) a.values[k] = 0;
  return a;
}

TEST(SystemScaling, MatchingOnRanksIsThatOfOneRank) {
  constexpr std::int64_t n = 60;
  for (const bool symmetric : {false, true})
    for (const int s : {0, 450}) {
      const CsrMatrix<double> whole = matrix_without_diagonal(n, s, symmetric);
      const auto alone = test::matrix_on_ranks(MPI_COMM_SELF, whole, Cut::by_nonzeros);
      const SystemScaling expected = find_scaling(Scaling::matching, *alone);
      EXPECT_EQ(expected.unmatched_rows, 0);
      for (const Cut cut : kCuts) {
        const auto a = test::matrix_on_ranks(MPI_COMM_WORLD, whole, cut);
        expect_scaling_of_one_rank(*a, find_scaling(Scaling::matching, *a), expected,
                                   [](std::int64_t row) { return row; });
      }
      if (size_of(MPI_COMM_WORLD) == 1) continue;
      const Moved moved{n};
      const auto a = moved.matrix(whole);
      expect_scaling_of_one_rank(*a, find_scaling(Scaling::matching, *a), expected,
                                 [&](std::int64_t row) { return moved.of(row); });
    }
}

TEST(SystemScaling, MatchingCountsRowsThatItCannotMatch) {
  Entries entries;
  for (std::int64_t i = 0; i < 20; ++i) entries[{i, i}] = 3;
  entries[{4, 5}] = 7;
  entries.erase({4, 4});
  const auto alone = test::matrix_on_ranks(MPI_COMM_SELF, matrix_of(20, entries), kCuts[0]);
  const std::int64_t first = find_scaling(Scaling::matching, *alone).first_unmatched;
  EXPECT_TRUE(first == 4 || first == 5) << first;
  for (const Cut cut : kCuts)
    for (const MatchingRules& rules : {MatchingRules(), kByBlocks}) {
      const auto a = test::matrix_on_ranks(MPI_COMM_WORLD, matrix_of(20, entries), cut);
      const SystemScaling s = find_scaling(Scaling::matching, *a, rules);
      EXPECT_EQ(s.unmatched_rows, 1);
      EXPECT_TRUE(s.first_unmatched == 4 || s.first_unmatched == 5) << s.first_unmatched;
      if (s.matched == Matched::whole) {
        EXPECT_EQ(s.first_unmatched, first);
      }
      EXPECT_EQ(scaled_matrix(*a, s)->global_nnz, 20);
    }
  if (size_of(MPI_COMM_WORLD) == 1) return;
  const auto moved = Moved{20}.matrix(matrix_of(20, entries));
  EXPECT_EQ(find_scaling(Scaling::matching, *moved).first_unmatched, first);
}

TEST(SystemScaling, TakesEmptyRowsAndMatricesWithoutEntries) {
  for (const Scaling kind : kAll) {
    Entries entries = {{{0, 0}, 1e-200}, {{2, 1}, 5e250}};
    auto a = test::matrix_on_ranks(MPI_COMM_WORLD, matrix_of(4, entries), Cut::by_nonzeros);
    const auto scaled = scaled_matrix(*a, find_scaling(kind, *a));
    EXPECT_EQ(scaled->global_nnz, 2);
    a = test::matrix_on_ranks(MPI_COMM_WORLD, matrix_of(3, {}), Cut::all_on_last_rank);
    EXPECT_EQ(scaled_matrix(*a, find_scaling(kind, *a))->global_nnz, 0);
  }
}

TEST(SystemScaling, RefusesEntriesBeyondTheLargestDouble) {
  Entries entries;
  for (std::int64_t i = 0; i < 9; ++i) entries[{i, i}] = 1e-300;
  entries[{5, 6}] = 1e20;
  const auto a = test::matrix_on_ranks(MPI_COMM_WORLD, matrix_of(9, entries), Cut::by_nonzeros);
  try {
    scaled_matrix(*a, find_scaling(Scaling::diagonal, *a));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(std::string(error.what()).find("an entry of row 5 (from 0)"), std::string::npos)
        << error.what();
  }
  EXPECT_NO_THROW(scaled_matrix(*a, find_scaling(Scaling::ruiz, *a)));
}

// Multiplies the entry of global row i and column j by factor(i, j).
template <class Factor>
void change(DistributedMatrix& matrix, const Factor& factor) {
  const auto take = [&](CsrMatrix<double>& a, const auto& column) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k)
        a.values[k] *= factor(matrix.first_row() + i, column(a.col_idx[k]));
  };
  take(matrix.blocks.local, [&](std::int32_t j) { return matrix.first_row() + j; });
  take(matrix.blocks.ghost, [&](std::int32_t j) { return matrix.blocks.ghost_columns[j]; });
  ++matrix.values_version;
}

TEST(ScaledValues, AreThoseOfTheMatrixScaledAnew) {
  for (const std::int64_t shift : {1, 7})
    for (const Cut cut : kCuts)
      for (const Scaling kind : kAll) {
        SCOPED_TRACE(to_string(kind));
        const auto a =
            test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(60, 5, false, shift), cut);
        const SystemScaling s = find_scaling(kind, *a);
        const auto scaled = scaled_matrix(*a, s);
        ScaledValues values(*a, s);
        EXPECT_TRUE(values.take(*scaled));
        EXPECT_EQ(entries_of(*scaled), entries_of(*scaled_matrix(*a, s)));
        change(*a, [](std::int64_t i, std::int64_t j) {
          return 1 + 0.25 * static_cast<double>((i * 5 + j * 3) % 4);
        });
        const std::uint64_t version = scaled->values_version;
        EXPECT_TRUE(values.take(*scaled));
        EXPECT_GT(scaled->values_version, version);
        EXPECT_EQ(entries_of(*scaled), entries_of(*scaled_matrix(*a, s)));
      }
}

TEST(ScaledValues, SayWhenTheScalingHasBecomePoor) {
  const auto serves = [](const auto& factor) {
    const auto a =
        test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(60, 5, false, 0), Cut::by_nonzeros);
    const SystemScaling s = find_scaling(Scaling::matching, *a);
    const auto scaled = scaled_matrix(*a, s);
    ScaledValues values(*a, s);
    EXPECT_TRUE(values.take(*scaled));
    change(*a, factor);
    return values.take(*scaled);
  };
  const auto all_by = [](int exponent) {
    return [=](std::int64_t, std::int64_t) { return std::ldexp(1, exponent); };
  };
  const auto row_by = [](double factor) {
    return [=](std::int64_t i, std::int64_t) { return i == 17 ? factor : 1; };
  };
  const auto diagonal_by = [](double factor) {
    return [=](std::int64_t i, std::int64_t j) { return i == 17 && j == 17 ? factor : 1; };
  };
  EXPECT_TRUE(serves(all_by(100)));
  EXPECT_FALSE(serves(all_by(220)));
  EXPECT_FALSE(serves(all_by(1010)));
  EXPECT_FALSE(serves(all_by(-220)));
  EXPECT_TRUE(serves(row_by(4)));
  EXPECT_FALSE(serves(row_by(16)));
  EXPECT_FALSE(serves(row_by(0x1p-4)));
  EXPECT_FALSE(serves(row_by(0)));
  EXPECT_TRUE(serves(diagonal_by(0x1p-2)));
  EXPECT_FALSE(serves(diagonal_by(0x1p-8)));
  EXPECT_FALSE(serves(diagonal_by(0)));
}

TEST(GhostNumbers, TravelBothWays) {
  const auto a =
      test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(40, 1, false, 1), Cut::by_nonzeros);
  GhostNumbers numbers(*a);
  Array<double> own(a->local_rows());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<double>(a->first_row()) + i;
  const auto of_owners = numbers.of_owners(own);
  for (std::size_t g = 0; g < of_owners.size(); ++g)
    EXPECT_EQ(of_owners[g], a->blocks.ghost_columns[g]);
  // Each rank knows for its ghosts 1000 times its own number.
  const int rank = rank_of(MPI_COMM_WORLD);
  const Array<double> mine(a->halo.ghosts, 1000.0 * rank);
  Array<double> largest(a->local_rows(), -1.0);
  numbers.take_largest(mine, largest);
  Array<double> expected(40, -1.0);
  for (const std::int64_t column : a->blocks.ghost_columns) expected[column] = 1000.0 * rank;
  MPI_Allreduce(MPI_IN_PLACE, expected.data(), 40, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  for (std::int64_t i = 0; i < a->local_rows(); ++i)
    EXPECT_EQ(largest[i], expected[a->first_row() + i]);
}

}  // namespace
}  // namespace trireme
