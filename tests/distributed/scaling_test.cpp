// SPDX-License-Identifier: BSD-3-Clause
// Scaled systems are the caller's systems, bit for bit, however the rows are distributed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
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

TEST(SystemScaling, KeepsEveryDigitOfTheSystem) {
  for (const bool symmetric : {false, true})
    for (const Cut cut : kCuts)
      for (const Scaling kind : kAll) {
        SCOPED_TRACE(to_string(kind));
        const auto a =
            test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(60, 5, symmetric, 1), cut);
        const SystemScaling s = find_scaling(kind, *a);
        const auto scaled = scaled_matrix(*a, s);
        Array<double> x(a->local_rows());
        for (std::size_t i = 0; i < x.size(); ++i)
          x[i] = static_cast<double>((a->first_row() + static_cast<std::int64_t>(i)) % 7) - 3;
        const Array<double> y = s.to_columns(x, -3);
        EXPECT_EQ(s.from_columns(y, 3), x);
        EXPECT_EQ(product(*scaled, y), s.to_rows(product(*a, x), -3));
        EXPECT_EQ(scaled->global_nnz, a->global_nnz);
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
      EXPECT_TRUE(s.column_order.empty());
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

// On one rank the planted entries are those of the matching. On several ranks, each of which sees
// its own block, no entry is much larger than 1.
TEST(SystemScaling, MatchingBringsLargeEntriesToTheDiagonal) {
  for (const Cut cut : kCuts) {
    const auto a = test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(60, 450, false, 7), cut);
    const SystemScaling s = find_scaling(Scaling::matching, *a);
    const auto scaled = scaled_matrix(*a, s);
    for (const double largest : largest_of(*scaled).rows) EXPECT_LE(largest, 1.5);
    if (size_of(MPI_COMM_WORLD) > 1 && cut != Cut::all_on_last_rank) continue;
    EXPECT_EQ(s.unmatched_rows, 0);
    Array<double> diagonal(a->local_rows());
    scaled->diagonal(diagonal);
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      EXPECT_NEAR(std::log2(std::abs(diagonal[i])), 0, 1);
      EXPECT_EQ(s.column_order[i], (i + 7) % 60);
    }
  }
}

TEST(SystemScaling, MatchingCountsRowsThatItCannotMatch) {
  Entries entries;
  for (std::int64_t i = 0; i < 20; ++i) entries[{i, i}] = 3;
  entries[{4, 5}] = 7;
  entries.erase({4, 4});
  for (const Cut cut : {Cut::by_nonzeros, Cut::all_on_last_rank}) {
    const auto a = test::matrix_on_ranks(MPI_COMM_WORLD, matrix_of(20, entries), cut);
    const SystemScaling s = find_scaling(Scaling::matching, *a);
    EXPECT_EQ(s.unmatched_rows, 1);
    EXPECT_TRUE(s.first_unmatched == 4 || s.first_unmatched == 5) << s.first_unmatched;
    EXPECT_EQ(scaled_matrix(*a, s)->global_nnz, 20);
  }
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
