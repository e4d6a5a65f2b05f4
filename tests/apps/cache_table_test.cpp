// SPDX-License-Identifier: BSD-3-Clause
// The texts that `problem cache` prints, for known entries.
#include "problem/cache_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "cache/shared_cache.hpp"

namespace trireme::problem_app {
namespace {

constexpr std::int64_t kNow = 1'800'000'000;

CacheRow decision_row() {
  CacheKey key(kDecisionKind);
  key.add("pattern", "0123").add("rows", 4096000).add("nonzeros", 28523520).add("cpu", "Xeon");
  key.add("gpu", "NVIDIA H200").add("precision", "double");
  CacheRow row;
  row.listing.path = "/cache/3fa0c1d2e4b5a6978899aabbccddeeff.trireme";
  row.listing.file_bytes = 2100;
  row.listing.last_used = kNow - 600;
  row.listing.head = {.kind = kDecisionKind,
                      .key = key.text(),
                      .created = kNow - 90000,
                      .made_in_seconds = 0.21,
                      .payload_bytes = 0,
                      .payload_checksum = 0};
  row.decision = {.kernel = "sell", .ordering = "rcm", .trial = {}, .iterations = 217};
  TrialOutcome& trial = row.decision->trial;
  trial.expected_products = 1000;
  trial.expected_from = "repeat: 10";
  trial.seconds = 0.21;
  trial.budget_seconds = 0.5;
  trial.candidates = {{.kernel = "sell",
                       .ordering = "rcm",
                       .predicted_us = 30.5,
                       .build_seconds = 0.25,
                       .product_us = 29,
                       .chosen = true,
                       .verdict = "the minimum of the totals"},
                      {.kernel = "csr",
                       .predicted_us = 64,
                       .build_seconds = {},
                       .product_us = {},
                       .verdict = "predicted 2.1 times slower"}};
  return row;
}

CacheRow order_row() {
  CacheKey key(kOrderKind);
  key.add("rows", 100).add("nonzeros", 460).add("cpu", "Xeon").add("ordering", "rcm");
  key.add("rank", "2 of 3");
  CacheRow row;
  row.listing.path = "/cache/aaaabbbbccccddddeeeeffff00001111.trireme";
  row.listing.file_bytes = 1500000;
  row.listing.last_used = kNow - 3 * 86400;
  row.listing.head = {.kind = kOrderKind,
                      .key = key.text(),
                      .created = kNow,
                      .made_in_seconds = 0.004,
                      .payload_bytes = 0,
                      .payload_checksum = 0};
  return row;
}

CacheRow hierarchy_row(std::int64_t levels) {
  CacheKey key(kHierarchyKind);
  key.add("rows", 54872).add("nonzeros", 375400).add("cpu", "Xeon");
  key.add("matrix", "0011223344556677").add("rank", "0 of 2");
  CacheRow row;
  row.listing.path = "/cache/bbbbccccddddeeeeffff000011112222.trireme";
  row.listing.file_bytes = levels > 0 ? 2700000 : 400;
  row.listing.last_used = kNow - 30;
  row.listing.head = {.kind = kHierarchyKind,
                      .key = key.text(),
                      .created = kNow - 60,
                      .made_in_seconds = 0.05,
                      .payload_bytes = 0,
                      .payload_checksum = 0};
  row.hierarchy = {.set_up_seconds = 0.06, .levels = levels};
  if (levels > 0) row.hierarchy->coarse = {{.rows = 2100, .nonzeros = 61000}, {68, 2312}};
  return row;
}

TEST(CacheTable, ShowsTheLevelsOfHierarchies) {
  EXPECT_EQ(cache_table("/cache", {hierarchy_row(3), hierarchy_row(0)}, kNow),
            R"(/cache: 2 entries, 2.70 MB

name          kind             size unused for   made in
bbbbccccdddd  hierarchy 1   2.70 MB       30 s   50.0 ms
  3 levels of the matrix 00112233, rank 0 of 2, 54872 rows, 375400 nonzeros,
  Xeon
bbbbccccdddd  hierarchy 1     400 B       30 s   50.0 ms
  remark: to build is faster, matrix 00112233, rank 0 of 2, 54872 rows, 375400
  nonzeros, Xeon
)");
  EXPECT_EQ(cache_explanation(hierarchy_row(3), kNow),
            R"(/cache/bbbbccccddddeeeeffff000011112222.trireme
2.70 MB, kept on 2027-01-15 07:59 UTC, unused for 30 s, made in 50.0 ms

It is valid for
  kind                 hierarchy 1
  rows                 54872
  nonzeros             375400
  cpu                  Xeon
  matrix               0011223344556677
  rank                 0 of 2

Building took 60.0 ms. Of the levels below the matrix this rank has:

  level         rows     nonzeros
      1         2100        61000
      2           68         2312
)");
  EXPECT_TRUE(
      cache_explanation(hierarchy_row(0), kNow)
          .ends_with("\nReading was slower than building the hierarchy, which took 60.0 ms.\n"));
}

TEST(CacheTable, ShowsTextsOfForeignEntriesOnTheirLines) {
  CacheRow row = decision_row();
  row.listing.head.kind = "kind\n\x1b[2J";
  row.decision->kernel = "sell\nline";
  row.decision->ordering = row.decision->trial.expected_from = "x\ny";
  row.decision->trial.candidates[0] = {.kernel = "a\nb",
                                       .ordering = "c\nd",
                                       .build_seconds = {},
                                       .product_us = {},
                                       .verdict = "e\nf"};
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  EXPECT_EQ(lines(cache_table("/cache", {row}, kNow)),
            lines(cache_table("/cache", {decision_row()}, kNow)));
  EXPECT_EQ(lines(cache_explanation(row, kNow)), lines(cache_explanation(decision_row(), kNow)));
}

TEST(CacheTable, HasALinePerEntry) {
  CacheRow damaged;
  damaged.listing.path = "/cache/00001111222233334444555566667777.trireme";
  damaged.listing.file_bytes = 12;
  damaged.listing.last_used = kNow - 7200;
  damaged.listing.fault = "is truncated";
  EXPECT_EQ(cache_table("/cache", {decision_row(), order_row(), damaged}, kNow),
            R"(/cache: 3 entries, 1.50 MB

name          kind             size unused for   made in
3fa0c1d2e4b5  decision 1    2.10 kB     10 min    210 ms
  sell in the order rcm, 4096000 rows, 28523520 nonzeros, NVIDIA H200
aaaabbbbcccc  order 1       1.50 MB     3 days   4.00 ms
  rcm, rank 2 of 3, 100 rows, 460 nonzeros, Xeon
000011112222  ?                12 B        2 h         -
  damaged: the file is truncated
)");
  EXPECT_EQ(cache_table("/cache", {}, kNow), "/cache: 0 entries, 0 B\n");
}

TEST(CacheTable, ExplainsADecisionWithItsKeyAndItsMeasurements) {
  EXPECT_EQ(cache_explanation(decision_row(), kNow),
            R"(/cache/3fa0c1d2e4b5a6978899aabbccddeeff.trireme
2.10 kB, kept on 2027-01-14 07:00 UTC, unused for 10 min, made in 210 ms

It is valid for
  kind                 decision 1
  pattern              0123
  rows                 4096000
  nonzeros             28523520
  cpu                  Xeon
  gpu                  NVIDIA H200
  precision            double

The choice is sell in the row order "rcm", for 1000 expected products (repeat: 10).
The trial took 210 ms of at most 500 ms.
A solve with it took 217 iterations.

  kernel       order     predicted, us   build, s product, us
  sell         rcm                30.5     0.2500        29.0  the minimum of the totals
  csr          given              64.0          -           -  predicted 2.1 times slower
)");
}

}  // namespace
}  // namespace trireme::problem_app
