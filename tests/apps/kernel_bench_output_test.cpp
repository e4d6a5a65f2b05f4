// SPDX-License-Identifier: BSD-3-Clause
// The table, the JSON and the quantiles of kernel_bench, for known measurements.
#include "kernel_bench/output.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "kernel_bench/quantiles.hpp"

namespace trireme::bench {
namespace {

Results results() {
  const Measurement csr{.kernel = "csr",
                        .device = "cpu",
                        .precision = "double",
                        .rows = 1000,
                        .cols = 1001,
                        .nnz = 50000,
                        .build_ms = 0.125,
                        .median_us = 40,
                        .p05_us = 39.5,
                        .p95_us = 48,
                        .cold_us = 75.25,
                        .gflops = 2.5,
                        .gbytes_per_s = 15.5,
                        .bandwidth_fraction = 0.47,
                        .bytes = 604004,
                        .padding = 0.25,
                        .max_error = 0.5,
                        .worst_row = 7,
                        .deterministic = true,
                        .break_even_products = 0};
  Measurement albus = csr;
  albus.kernel = "albus";
  albus.build_ms = 1.5;
  albus.median_us = 25;
  albus.deterministic = false;
  albus.update_us = 50;
  albus.break_even_products = 92;
  Measurement teb = csr;
  teb.kernel = "teb";
  teb.median_us = 80;
  teb.max_error = 2.5;
  teb.update_us = 8;
  teb.break_even_products = std::nullopt;
  return {.bandwidth = {33.0, "best of three"},
          .baseline = "csr",
          .rows = {csr, albus, teb},
          .skipped = {"sell: too wide"}};
}

TEST(KernelBenchOutput, TableHasEveryFigureInItsColumn) {
  EXPECT_EQ(format_table(results(), "a.h5", 100),
            R"(a.h5
1000 x 1001, 50000 nonzeros, double on cpu
bandwidth: best of three

kernel  build ms  median us  p05 us  cold us  GFLOP/s  GB/s  of bw  speed-up  pays after
csr        0.125      40.00   39.50    75.25     2.50  15.5    47%     1.00x           0
albus      1.500      25.00   39.50    75.25     2.50  15.5    47%     1.60x          92
teb        0.125      80.00   39.50    75.25     2.50  15.5    47%     0.50x       never
new values on the same pattern, in products: albus 2.0, teb 0.1
sell: too wide

speed-up and 'pays after' (products): against csr
)");
}

TEST(KernelBenchOutput, ANarrowTableHasItsMainColumns) {
  Results many = results();
  for (int k = 0; k < 9; ++k) many.rows.push_back(many.rows[1]);
  const std::string table = format_table(many, "a.h5", 71);
  EXPECT_NE(table.find(R"(
kernel  build ms  median us  GFLOP/s  GB/s  of bw  speed-up  pays after
csr        0.125      40.00     2.50  15.5    47%     1.00x           0
)"),
            table.npos)
      << table;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 71u) << line;
}

TEST(KernelBenchOutput, SpeedUpIsAgainstTheBaselineOfTheRun) {
  Results on_gpu = results();
  on_gpu.baseline = "cusparse-csr";
  on_gpu.rows[2].kernel = "cusparse-csr";
  const std::string table = format_table(on_gpu, "a.h5", 80);
  EXPECT_NE(table.find("against cusparse-csr\n"), table.npos) << table;
  EXPECT_NE(table.find("2.00x"), table.npos) << table;
  on_gpu.rows.resize(2);
  on_gpu.rows[0].kernel = "dasp";
  EXPECT_EQ(format_table(on_gpu, "a.h5", 80).find("against"), table.npos);
}

TEST(KernelBenchOutput, JsonHasEveryFigureUnderItsName) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("trireme-bench-{}.json", getpid());
  write_json(results(), path);
  nlohmann::json json;
  std::ifstream(path) >> json;
  std::filesystem::remove(path);
  ASSERT_EQ(json.size(), 3u);
  const auto expected = nlohmann::json::parse(R"({"kernel": "albus", "device": "cpu",
    "precision": "double", "rows": 1000, "cols": 1001, "nnz": 50000, "build_ms": 1.5,
    "median_us": 25.0, "p05_us": 39.5, "p95_us": 48.0, "cold_us": 75.25, "gflops": 2.5,
    "gbytes_per_s": 15.5, "bandwidth_fraction": 0.47, "bytes": 604004, "padding": 0.25,
    "max_error": 0.5, "deterministic": false, "update_us": 50.0, "break_even_products": 92})");
  EXPECT_EQ(nlohmann::json::diff(expected, json[1]), nlohmann::json::array());
  EXPECT_TRUE(json[0]["update_us"].is_null());
  EXPECT_TRUE(json[2]["break_even_products"].is_null());
}

TEST(KernelBenchOutput, JsonThatCannotBeWrittenIsAUsageError) {
  try {
    write_json(results(), "/proc/trireme-bench.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
}

TEST(KernelBenchOutput, WrongProductsAreNamedWithTheirRow) {
  Results wrong = results();
  EXPECT_EQ(format_failures(wrong), "teb: wrong product, row 7 is 2.5 times its error bound off\n");
  wrong.rows[2].max_error = 1;
  EXPECT_EQ(format_failures(wrong), "");
  wrong.rows[0].max_error = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(format_failures(wrong), "csr: wrong product, row 7 is nan times its error bound off\n");
}

TEST(KernelBenchQuantiles, LieBetweenTheOrderedNumbers) {
  const std::vector<double> sample{5, 1, 3, 2, 4};
  EXPECT_EQ(quantile(sample, 0), 1);
  EXPECT_EQ(quantile(sample, 0.5), 3);
  EXPECT_EQ(quantile(sample, 0.125), 1.5);
  EXPECT_EQ(quantile(sample, 1), 5);
  EXPECT_EQ(quantile({7}, 0.95), 7);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

}  // namespace
}  // namespace trireme::bench
