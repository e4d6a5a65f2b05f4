// SPDX-License-Identifier: BSD-3-Clause
// The forecast for one process on a GPU. tests/end_to_end/memory_forecast_test.py compares the
// forecast for CPUs with the peaks of runs.
#include "app/figures/memory_forecast.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "config/read_case.hpp"
#include "solvers/preconditioners/list.hpp"

namespace trireme {
namespace {

constexpr double kGigabyte = 1e9;
constexpr std::int64_t kRows = 850LL * 850 * 850;
constexpr double kNonzeros = 7.0 * kRows - 6.0 * 850 * 850;
const MatrixFacts kPoisson850{.rows = kRows, .nnz = kNonzeros};

MemoryForecast forecast(const std::string& rest, const std::string& kind = "poisson3d") {
  const Case c = parse_case("problem: {generate: " + kind + ", n: 850}\n" + rest, "test.yaml");
  return forecast_memory(c, kPoisson850, 1, 0);
}

double part(const std::vector<MemoryPart>& parts, const std::string& name) {
  const auto found = std::ranges::find(parts, name, &MemoryPart::name);
  return found == parts.end() ? 0 : found->bytes;
}

// 4.3 G nonzeros in two blocks of rows or more: 54 GB as CSR, on the host as on the GPU.
TEST(MemoryForecast, OfMoreThanTwoToTheThirtyTwoNonzerosFitsAGpuOf139Gigabytes) {
  for (const char* kernel : {"albus", "csr-vector", "sell"}) {
    SCOPED_TRACE(kernel);
    const MemoryForecast all = forecast(std::string("device: cuda\nkernel: ") + kernel);
    EXPECT_NEAR(part(all.gpu, "matrix") / kGigabyte, 54.0, 0.1);
    EXPECT_GT(sum_of(all.gpu), 90 * kGigabyte);  // b, x, four vectors, and two to time a product
    EXPECT_LT(sum_of(all.gpu), 115 * kGigabyte);
    EXPECT_NEAR(part(all.host, "matrix") / kGigabyte, 54.0, 0.1);
    EXPECT_LT(sum_of(all.host), 120 * kGigabyte);
  }
}

// A card of 80 GB has no room for the CSR beside the vectors. A kernel that reads it, and a
// preconditioner that is made of it, take it all the same.
TEST(MemoryForecast, LeavesTheEntriesOutWhereTheGpuIsSmall) {
  constexpr double kFree = 84e9;
  const auto on_small = [](const std::string& rest) {
    const Case c =
        parse_case("problem: {generate: poisson3d, n: 850}\ndevice: cuda\n" + rest, "test.yaml");
    return forecast_memory(c, kPoisson850, 1, 0, kFree);
  };
  EXPECT_LT(sum_of(on_small("kernel: sell").gpu), 60 * kGigabyte);
  EXPECT_NEAR(part(on_small("kernel: sell").gpu, "matrix") / kGigabyte, 2.5, 0.1);
  EXPECT_NEAR(part(on_small("kernel: csr-vector").gpu, "matrix") / kGigabyte, 54.0, 0.1);
  EXPECT_NEAR(
      part(on_small("kernel: sell\nsolver: {preconditioner: multigrid}").gpu, "matrix") / kGigabyte,
      54.0, 0.1);
  EXPECT_NEAR(part(forecast("device: cuda\nkernel: sell").gpu, "matrix") / kGigabyte, 54.0, 0.1);
}

TEST(MemoryForecast, CountsTheCopiesOfAScaledMatrix) {
  const auto copies = [](const std::string& scaling, const char* where) {
    const MemoryForecast all =
        forecast("kernel: albus\ndevice: cuda\nsolver: {scaling: " + scaling + "}");
    const auto& parts = where == std::string("host") ? all.host : all.gpu;
    return part(parts, "scaled matrix") / part(parts, "matrix");
  };
  EXPECT_EQ(copies("none", "host"), 0);
  EXPECT_EQ(copies("ruiz", "host"), 1);
  EXPECT_EQ(copies("matching", "host"), 2);
  EXPECT_EQ(copies("none", "gpu"), 0);
  EXPECT_EQ(copies("matching", "gpu"), 1);
  const Case sequence = parse_case(
      "problem: {generate: poisson3d, n: 850, steps: [{rhs: ones}]}\ndevice: cpu\n"
      "solver: {scaling: matching}",
      "test.yaml");
  const MemoryForecast all = forecast_memory(sequence, kPoisson850, 1, 0);
  EXPECT_EQ(part(all.host, "scaled matrix") / part(all.host, "matrix"), 4);
}

// On several ranks only, and only where rank 0 can take the matrix.
TEST(MemoryForecast, CountsWhatRankZeroNeedsForAMatching) {
  const auto bytes = [](double nonzeros, int ranks) {
    const Case c = parse_case("problem: {generate: poisson3d, n: 9}\nsolver: {scaling: matching}",
                              "test.yaml");
    const MatrixFacts facts{.rows = 1'000'000, .nnz = nonzeros};
    return part(forecast_memory(c, facts, ranks, 0).host, "matching, on rank 0");
  };
  EXPECT_EQ(bytes(5e6, 1), 0);
  EXPECT_EQ(bytes(5e6, 4), 32 * 5e6 + 160 * 1e6);
  EXPECT_EQ(bytes(1.1e7, 4), 0);
}

TEST(MemoryForecast, CountsTheVectorsOfACycle) {
  const auto vectors = [](int restart, auto parts) {
    return part(forecast(fmt::format("device: {}\nkernel: albus\nsolver: {{method: gmres, restart: "
                                     "{}}}",
                                     parts == &MemoryForecast::gpu ? "cuda" : "cpu", restart)).*
                    parts,
                "vectors");
  };
  for (const auto parts : {&MemoryForecast::host, &MemoryForecast::gpu})
    EXPECT_EQ(vectors(130, parts) - vectors(30, parts), 100.0 * 8 * kRows);
}

// But not where a run in double is compared with it.
TEST(MemoryForecast, CountsHalfOfACycleInMixedPrecision) {
  const auto vectors = [](int restart, const std::string& precision) {
    return part(forecast(fmt::format("kernel: albus\nprecision: {}\nsolver: {{method: gmres, "
                                     "restart: {}}}",
                                     precision, restart))
                    .host,
                "vectors");
  };
  EXPECT_EQ(vectors(131, "mixed") - vectors(30, "mixed"), 51.0 * 8 * kRows);
  EXPECT_EQ(vectors(130, "[double, mixed]") - vectors(30, "[double, mixed]"), 100.0 * 8 * kRows);
}

TEST(MemoryForecast, CountsTheLayoutThatAKernelKeepsOnAGpu) {
  const auto layout = [](const std::string& rest, const std::string& kind = "poisson3d") {
    return part(forecast("device: cuda\n" + rest, kind).gpu, "kernel");
  };
  EXPECT_EQ(layout("kernel: albus"), 0);
  EXPECT_EQ(layout("kernel: csr-vector"), 0);
  EXPECT_EQ(layout("kernel: albus\nprecision: mixed\nsolver: {method: minres}"), 4 * kNonzeros);
  EXPECT_EQ(layout("kernel: sell"), 2.0 * kRows) << "the rows repeat";
  EXPECT_EQ(layout("kernel: sell", "diffusion3d"), 12 * kNonzeros);
  EXPECT_EQ(layout("kernel: [albus, dasp]"), 12 * kNonzeros);
  EXPECT_EQ(layout("kernel: auto"), 12 * kNonzeros);
}

TEST(MemoryForecast, HasTheVectorsOfTheLoopWhereItRuns) {
  const double vector = 8.0 * kRows;
  const auto host = [&](const std::string& rest) {
    return part(forecast("kernel: albus\n" + rest).host, "vectors") / vector;
  };
  EXPECT_EQ(host("device: cuda"), 6);
  EXPECT_GT(host("device: cuda\nsolver: {engine: petsc}"), 6);
  EXPECT_GT(host("device: cpu"), 6);
  const auto gpu = [&](const std::string& preconditioner) {
    return part(forecast("kernel: albus\ndevice: cuda\nsolver: {preconditioner: " + preconditioner +
                         "}")
                    .gpu,
                "vectors") /
           vector;
  };
  EXPECT_EQ(gpu("jacobi"), gpu("none"));
  EXPECT_LT(gpu("jacobi"), gpu("trireme_chebyshev"));
}

// Halves of r, p, q, the steps of x and what shares memory with a product in FP64; x stays in FP64.
TEST(MemoryForecast, KnowsOfLoopsWithFp32Vectors) {
  const auto gpu = [](const std::string& precision, const std::string& solver, const char* name) {
    return part(forecast(fmt::format("kernel: sell\ndevice: cuda\nprecision: {}\nsolver: {{{}}}",
                                     precision, solver),
                         "diffusion3d")
                    .gpu,
                name);
  };
  const auto fewer = [&](const std::string& precision, const std::string& solver) {
    return (gpu("double", solver, "vectors") - gpu(precision, solver, "vectors")) / (8.0 * kRows);
  };
  const std::string jacobi = ", preconditioner: jacobi";
  EXPECT_EQ(fewer("mixed", "method: bicgstab" + jacobi), 1.5) << "7 to 5, and D^-1 in FP32";
  EXPECT_EQ(fewer("mixed", "method: cg" + jacobi), 0.5);
  EXPECT_EQ(fewer("mixed", "method: cg, preconditioner: trireme_block_jacobi"), 1);
  EXPECT_EQ(fewer("mixed", "method: minres" + jacobi), 0);
  EXPECT_EQ(fewer("auto", "method: bicgstab" + jacobi), 0);
  EXPECT_EQ(fewer("[double, mixed]", "method: bicgstab" + jacobi), 0);
  EXPECT_EQ(gpu("mixed", "method: cg" + jacobi, "kernel"), (12 + 8 + 4) * kNonzeros + 4.0 * kRows);
  EXPECT_EQ(gpu("mixed", "method: minres" + jacobi, "kernel"), 12 * kNonzeros);
}

TEST(MemoryForecast, KnowsEveryPreconditionerOfTheListWhoseBlocksHaveAKnownSize) {
  const auto bytes = [](std::string_view name, const std::string& rest = "") {
    return part(
        forecast(fmt::format("device: cpu\nsolver: {{preconditioner: {}}}\n{}", name, rest)).host,
        "preconditioner");
  };
  const auto left_out = [](std::string_view name, const std::string& rest = "") {
    return forecast(fmt::format("solver: {{preconditioner: {}}}\n{}", name, rest)).left_out;
  };
  solvers::for_each_preconditioner_name(
      [&](solvers::PreconditionerKind, const solvers::PreconditionerName& name) {
        EXPECT_TRUE(left_out(name.name, "petsc: {mat_block_size: 3}\n").empty()) << name.name;
      });
  EXPECT_EQ(bytes("trireme_chebyshev"), 0) << "its vectors are among those of the loop";
  EXPECT_EQ(bytes("trireme_block_jacobi"), 2 * 8 * 4.0 * kRows);
  EXPECT_EQ(bytes("trireme_block_jacobi", "petsc: {pc_trireme_block_size: 6}\n"),
            2 * 8 * 6.0 * kRows);
  EXPECT_EQ(bytes("pbjacobi", "petsc: {mat_block_size: 3}\n"), 2 * 8 * 3.0 * kRows);
  EXPECT_EQ(left_out("pbjacobi"), std::vector<std::string>{"preconditioner pbjacobi"});
  EXPECT_EQ(left_out("lu"), std::vector<std::string>{"preconditioner lu"});
  EXPECT_EQ(bytes("trireme_mg"), bytes("multigrid")) << "one preconditioner by two names";
  EXPECT_EQ(bytes("ilu"), 60.0 * kRows + 32.0 * kNonzeros);
  EXPECT_EQ(bytes("icc"), bytes("ilu"));
}

}  // namespace
}  // namespace trireme
