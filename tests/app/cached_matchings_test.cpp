// SPDX-License-Identifier: BSD-3-Clause
// A matching that was kept is found by later runs, on any number of ranks, and is taken only where
// it is the matching of the matrix. Run on 1 and 3 ranks.
#include "app/kept/cached_matchings.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cache/cache.hpp"
#include "cache_of_ranks.hpp"
#include "distributed/matrix_on_ranks.hpp"
#include "distributed/scaling/system_scaling.hpp"
#include "io/hdf5.hpp"
#include "io/problem_file.hpp"
#include "solved_cases.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;
using test::Cut;

constexpr std::int64_t kRows = 90;

// Four entries in each row and one that is large.
CsrMatrix<double> random_matrix(unsigned seed) {
  std::mt19937_64 random(seed);
  CsrMatrix<double> a;
  a.rows = a.cols = kRows;
  for (std::int64_t i = 0; i < kRows; ++i) {
    std::vector<std::int32_t> columns = {static_cast<std::int32_t>((i + 31) % kRows)};
    while (columns.size() < 5) {
      const auto column = static_cast<std::int32_t>(random() % kRows);
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    }
    const std::int32_t large = columns.front();
    std::ranges::sort(columns);
    for (const std::int32_t column : columns) {
      a.col_idx.push_back(column);
      a.values.push_back((column == large ? 1e6 : 1) * (1 + static_cast<double>(random() % 1000)));
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col_idx.size()));
  }
  return a;
}

class Matchings : public test::CacheOfRanks {
 protected:
  // As a run of its own does it, for which an entry saves enough in any case.
  SystemScaling scaling(const CsrMatrix<double>& whole, MPI_Comm comm = MPI_COMM_WORLD,
                        std::int64_t most_on_rank_zero = kMostOnRankZero,
                        double least_saving = -1) {
    SharedCache cache(comm, folder_);
    CachedMatchings store = store_of(comm, cache, least_saving);
    const auto a = test::matrix_on_ranks(comm, whole, Cut::by_nonzeros);
    SystemScaling found = find_scaling(Scaling::matching, *a,
                                       {.most_on_rank_zero = most_on_rank_zero, .store = &store});
    notes_ = cache.take_notes();
    return found;
  }
  static CachedMatchings store_of(MPI_Comm comm, SharedCache& cache, double least_saving = -1) {
    CacheKey key(kMatchingKind);
    return {comm, cache, key.add("values", "1"), key.add("row distribution", "2"), least_saving};
  }
  static void expect_same(const SystemScaling& a, const SystemScaling& b) {
    EXPECT_EQ(a.rows, b.rows);
    EXPECT_EQ(a.columns, b.columns);
    EXPECT_EQ(a.places, b.places);
    ASSERT_EQ(a.moved == nullptr, b.moved == nullptr);
    if (a.moved) {
      EXPECT_TRUE(std::ranges::equal(a.moved->new_rows(), b.moved->new_rows()));
    }
  }
  // Made anew, after a note that contains `fault`.
  void expect_rejected(const CsrMatrix<double>& whole, const std::string& fault) {
    const auto a = test::matrix_on_ranks(MPI_COMM_WORLD, whole, Cut::by_nonzeros);
    const SystemScaling found = scaling(whole);
    EXPECT_EQ(found.origin, "");
    expect_same(found, find_scaling(Scaling::matching, *a));
    ASSERT_EQ(notes_.size(), 1u);
    EXPECT_NE(notes_[0].find(fault), std::string::npos) << notes_[0];
    EXPECT_NE(scaling(whole).origin, "") << "it was kept in place of the other one";
  }
  // Changes what an entry has behind its checksums.
  template <class Change>
  void change_payload(const Change& change) {
    on_rank_zero([&] {
      for (const auto& file : fs::directory_iterator(folder_)) {
        CacheHit hit = Cache::read(file.path());
        change(hit.payload);
        const std::string payload(reinterpret_cast<const char*>(hit.payload.data()),
                                  hit.payload.size());
        std::ofstream(file.path(), std::ios::binary)
            << encode_head(hit.head, hit.payload) << payload;
      }
    });
  }

  std::vector<std::string> notes_;
};

TEST_F(Matchings, AreFoundByLaterRuns) {
  CsrMatrix<double> a = random_matrix(1);
  for (std::int64_t i = 0; i < kRows; ++i)  // from 1e-289 to 1e269
    for (std::int64_t k = a.row_begin(i); k < a.row_begin(i + 1); ++k)
      a.values[k] =
          std::ldexp(a.values[k], static_cast<int>(i * 37 % 61 + a.col_idx[k] % 17 - 40) * 24);
  for (const std::int64_t most : {kMostOnRankZero, std::int64_t{0}}) {
    const SystemScaling made = scaling(a, MPI_COMM_WORLD, most);
    EXPECT_EQ(made.origin, "");
    const SystemScaling found = scaling(a, MPI_COMM_WORLD, most);
    // A block has rows without a column, for which nothing is kept.
    if (made.unmatched_rows > 0) {
      EXPECT_EQ(found.origin, "");
    } else if (size_of(MPI_COMM_WORLD) == 1 || most > 0) {
      EXPECT_EQ(found.origin.find("an earlier run, which found it in "), 0u) << found.origin;
    }
    expect_same(made, found);
    EXPECT_TRUE(notes_.empty());
    if (size_of(MPI_COMM_WORLD) == 1) break;
  }
}

// A block diagonal matrix, whose blocks are those of the ranks.
TEST_F(Matchings, OfBlocksAreFoundByLaterRuns) {
  CsrMatrix<double> a = random_matrix(2);
  for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] = 1e-3;
  for (std::int64_t i = 0; i < kRows; ++i) {
    auto columns = std::span(a.col_idx).subspan(a.row_begin(i), 5);
    if (std::ranges::find(columns, i) == columns.end()) columns[2] = static_cast<std::int32_t>(i);
    std::ranges::sort(columns);
  }
  const SystemScaling made = scaling(a, MPI_COMM_WORLD, 0);
  ASSERT_EQ(made.unmatched_rows, 0);
  const SystemScaling found = scaling(a, MPI_COMM_WORLD, 0);
  EXPECT_NE(found.origin, "");
  expect_same(made, found);
}

TEST_F(Matchings, OfTheWholeMatrixDoNotDependOnTheRanks) {
  const CsrMatrix<double> a = random_matrix(3);
  scaling(a);
  on_rank_zero([&] { EXPECT_NE(scaling(a, MPI_COMM_SELF).origin, ""); });
}

TEST_F(Matchings, AreTakenFromTheSolveBefore) {
  SharedCache no_cache(MPI_COMM_WORLD, {});
  CachedMatchings store = store_of(MPI_COMM_WORLD, no_cache);
  const auto a = test::matrix_on_ranks(MPI_COMM_WORLD, random_matrix(4), Cut::by_nonzeros);
  const MatchingRules rules{.store = &store};
  const SystemScaling first = find_scaling(Scaling::matching, *a, rules);
  const SystemScaling second = find_scaling(Scaling::matching, *a, rules);
  EXPECT_EQ(first.origin, "");
  EXPECT_EQ(second.origin, "an earlier solve of this run");
  expect_same(first, second);
}

TEST_F(Matchings, AreKeptWhereReadingSavesTimeOnly) {
  const CsrMatrix<double> a = random_matrix(5);
  scaling(a, MPI_COMM_WORLD, kMostOnRankZero, 1e9);
  EXPECT_EQ(scaling(a).origin, "");
  EXPECT_NE(scaling(a).origin, "");
}

TEST_F(Matchings, OfAnotherMatrixAreReplaced) {
  scaling(random_matrix(6));
  expect_rejected(random_matrix(7), "is no matching of this matrix; it is ignored and removed");
}

TEST_F(Matchings, ThatAreDamagedAreReplaced) {
  const CsrMatrix<double> a = random_matrix(8);
  scaling(a);
  on_rank_zero([&] {
    for (const auto& file : fs::directory_iterator(folder_)) fs::resize_file(file, 100);
  });
  expect_rejected(a, "is truncated");
  change_payload([](Array<std::byte>& bytes) { bytes.resize(bytes.size() - 4); });
  expect_rejected(a, "has not two scales and a column per row");
  change_payload([](Array<std::byte>& bytes) {
    std::memcpy(&bytes[bytes.size() - 4], &bytes[bytes.size() - 8], 4);
  });
  expect_rejected(a, "does not give each row a column of its own");
  const double nan = std::nan("");
  change_payload([&](Array<std::byte>& bytes) { std::memcpy(&bytes[8], &nan, sizeof nan); });
  expect_rejected(a, "is no matching of this matrix");
}

TEST_F(Matchings, ThatLeaveRowsAreNotKept) {
  CsrMatrix<double> a = random_matrix(9);
  for (std::int64_t k = a.row_begin(40); k < a.row_begin(41); ++k) a.values[k] = 0;
  EXPECT_EQ(scaling(a).unmatched_rows, 1);
  const SystemScaling again = scaling(a);
  EXPECT_EQ(again.origin, "");
  EXPECT_EQ(again.first_unmatched, 40);
}

// So many equal rivals that a matching takes several times as long as what reading must save.
test::SmallMatrix slow_to_match() {
  constexpr std::int64_t rows = 5000, per_row = 40;
  std::mt19937_64 random(10);
  test::SmallMatrix a{.indptr = {0}, .indices = {}, .data = {}, .shape = {rows, rows}};
  for (std::int64_t i = 0; i < rows; ++i) {
    std::set<std::int64_t> columns;
    while (std::ssize(columns) < per_row)
      columns.insert(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows)));
    for (const std::int64_t column : columns) {
      a.indices.push_back(column);
      a.data.push_back(std::exp(1e-18 * static_cast<double>(random())));
    }
    a.indptr.push_back(std::ssize(a.indices));
  }
  return a;
}

TEST_F(Matchings, OfARunAreFoundByTheNextOne) {
  test::SharedFile file("random.h5");
  file.write([](hdf5::File& out) { slow_to_match().write(out); });
  const auto notes = [&](const std::string& kernels) {
    Case c = test::case_of("file: " + file.path().string(),
                           "device: cpu\nkernel: " + kernels +
                               "\nsolver: {method: bicgstab, preconditioner: none, scaling: "
                               "matching, max_iterations: 1}");
    c.cache = {.use = true, .directory = folder_};
    return fmt::format("{}",
                       fmt::join(run_case(MPI_COMM_WORLD, c, nullptr).runs.at(0).notes, "\n"));
  };
  const std::string found = "scaling: the matching is that of an earlier run, which found it in ";
  EXPECT_EQ(notes("csr").find(found), std::string::npos);
  EXPECT_NE(notes("csr").find(found), std::string::npos);
  EXPECT_EQ(notes("[csr, sell]").find(found), std::string::npos) << "runs that are compared";
}

}  // namespace
}  // namespace trireme
