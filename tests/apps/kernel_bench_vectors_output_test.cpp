// SPDX-License-Identifier: BSD-3-Clause
// The table and the JSON of kernel_bench --vectors, for known measurements.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "kernel_bench/vectors.hpp"

namespace trireme::bench {
namespace {

VectorsResults vectors_results() {
  const VectorsMeasurement csr{.kernel = "csr",
                               .device = "cpu",
                               .precision = "double",
                               .rows = 1000,
                               .cols = 1001,
                               .nnz = 50000,
                               .vectors = 8,
                               .build_ms = 0.125,
                               .singles_us = 320,
                               .together_us = 100,
                               .bytes = 604004,
                               .moved_bytes = 732068,
                               .max_error = 0.5,
                               .worst_row = 7,
                               .worst_vector = 3};
  VectorsMeasurement albus = csr;
  albus.kernel = "albus";
  albus.singles_us = 200;
  albus.together_us = std::nullopt;
  return {.bandwidth = {33.0, "best of three"}, .rows = {csr, albus}};
}

TEST(KernelBenchVectorsOutput, TableHasEveryFigureInItsColumn) {
  EXPECT_EQ(format_vectors_table(vectors_results(), "a.h5"),
            R"(a.h5
1000 x 1001, 50000 nonzeros, 8 vectors, double on cpu
bandwidth: best of three

kernel           build ms singles us together us  vs own vs best    GB/s  of bw
csr                 0.125     320.00      100.00   3.20x   2.00x     7.3    22%
albus               0.125     200.00           -       -       -       -      -

together: one product of 8 vectors; singles: 8 products of one vector
vs own: the kernel's singles / together; vs best: those of albus / together
)");
}

TEST(KernelBenchVectorsOutput, JsonHasEveryFigureUnderItsName) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("trireme-vectors-{}.json", getpid());
  write_vectors_json(vectors_results(), path);
  nlohmann::json json;
  std::ifstream(path) >> json;
  std::filesystem::remove(path);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_NEAR(json[0]["gbytes_per_s"].get<double>(), 7.32068, 1e-12);
  EXPECT_NEAR(json[0]["bandwidth_fraction"].get<double>(), 7.32068 / 33, 1e-12);
  json[0].erase("gbytes_per_s");
  json[0].erase("bandwidth_fraction");
  const auto expected = nlohmann::json::parse(R"({"kernel": "csr", "device": "cpu",
    "precision": "double", "rows": 1000, "cols": 1001, "nnz": 50000, "vectors": 8,
    "build_ms": 0.125, "singles_us": 320.0, "together_us": 100.0, "speed_up_own": 3.2,
    "speed_up_best": 2.0, "bytes": 604004, "max_error": 0.5})");
  EXPECT_EQ(nlohmann::json::diff(expected, json[0]), nlohmann::json::array());
  for (const char* field :
       {"together_us", "speed_up_own", "speed_up_best", "gbytes_per_s", "bandwidth_fraction"})
    EXPECT_TRUE(json[1][field].is_null()) << field;
}

TEST(KernelBenchVectorsOutput, WrongProductsAreNamedWithTheirVector) {
  VectorsResults wrong = vectors_results();
  EXPECT_EQ(format_vectors_failures(wrong), "");
  wrong.rows[0].max_error = std::numeric_limits<double>::infinity();
  EXPECT_EQ(format_vectors_failures(wrong),
            "csr: wrong product, row 7 of vector 3 is inf times its error bound off\n");
}

TEST(KernelBenchVectorsOutput, ATableWithoutKernelsIsTheName) {
  EXPECT_EQ(format_vectors_table({.bandwidth = {}, .rows = {}}, "a.h5"), "a.h5\n");
}

}  // namespace
}  // namespace trireme::bench
