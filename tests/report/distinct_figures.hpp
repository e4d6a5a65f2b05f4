// SPDX-License-Identifier: BSD-3-Clause
// An outcome of which every figure has its own value, and what report.json says of its runs.
#pragma once

#include <limits>
#include <optional>

#include "report/report.hpp"

namespace trireme::test {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline RunOutcome albus() {
  RunOutcome run;
  run.kernel = "albus";
  run.device = Device::cpu;
  run.precision = Precision::full;
  run.method = "cg";
  run.engine = Engine::resident;
  run.preconditioner = "jacobi";
  run.ranks = 3;
  run.rtol = 1e-8;
  run.exit_code = ExitCode::converged;
  run.converged = true;
  run.reason = "converged: relative tolerance reached (CONVERGED_RTOL)";
  run.petsc_reason = 2;
  run.iterations = 4;
  run.relative_residual = 9.8e-9;
  run.relative_row_residual = 8.7e-9;
  run.relative_error = 3.1e-7;
  run.seconds = {.read = 0.25,
                 .tune = 0.031,
                 .scale = 0.023,
                 .order = 0.042,
                 .build = 0.012,
                 .upload = 0.0345,
                 .setup = 0.00175,
                 .renew = 0.053,
                 .solve = 1.5,
                 .ladder = 0.375};
  run.solve_seconds = {0.5, 1.0};
  run.kernel_us = {.count = 313,
                   .mean = 6100.5,
                   .median = 6000.25,
                   .p95 = 7205.5,
                   .min = 5800.5,
                   .max = 12000.5};
  run.iteration_us = 4807.75;
  run.gflops = 5.67;
  run.gbytes_per_s = 34.56;
  run.bandwidth_fraction = 0.87;
  run.padding = 0.13;
  run.bytes = 204'000'000;
  run.peak_memory = 512'000'000;
  run.peak_memory_over_csr = 2.25;
  run.baseline = "csr";
  run.break_even_products = 42;
  run.deterministic = false;
  run.notes = {"a note"};
  run.history = {1, 0.125, 2.5e-4, 1e-6, 9.5e-9};
  run.ordering = "rcm";
  run.scaling = Scaling::ruiz;
  run.ghost_kernel = "csr";
  run.product_us = {6000.25, 5800.5, 12000.5};
  run.product_us_stride = 105;
  run.steps = {{.name = "/A7",
                .new_values = true,
                .rebuilt = false,
                .renewed = true,
                .new_aggregates = true,
                .guess = "previous",
                .guess_residual = 0.5,
                .iterations = 17,
                .converged = true,
                .relative_residual = 8.5e-9,
                .read_seconds = 0.125,
                .renew_seconds = 0.0625,
                .solve_seconds = 0.75,
                .seconds = 2.25}};
  run.block = 2;
  run.columns = {{.iterations = 3,
                  .converged = true,
                  .reason = "converged",
                  .relative_residual = 7.5e-9,
                  .relative_row_residual = 6.5e-9,
                  .relative_error = 0.25,
                  .history = {1, 7.5e-9}},
                 {.iterations = 4, .reason = "not converged", .relative_residual = 0.5}};
  run.trial = {.candidates = {{.kernel = "albus",
                               .ordering = "rcm",
                               .ghost_kernel = "csr",
                               .predicted_us = 6200,
                               .build_seconds = 0.012,
                               .product_us = 6000.5,
                               .chosen = true,
                               .verdict = "the least total"},
                              {.kernel = "csr", .predicted_us = 9000, .verdict = "not measured"}},
               .began_with = "csr",
               .expected_products = 313,
               .expected_from = "repeat: 2",
               .budget_seconds = 0.0625,
               .seconds = 0.031,
               .from_cache = false,
               .changed_at = 3};
  return run;
}

// What report.json says of it, but for what is computed from its history.
inline constexpr const char* kAlbusJson =
    R"json({"kernel": "albus", "device": "cpu", "precision": "double",
  "ordering": "rcm", "ghost_kernel": "csr", "method": "cg", "engine": "resident", "preconditioner": "jacobi", "scaling": "ruiz", "ranks": 3, "rtol": 1e-8,
  "converged": true, "exit_code": 0,
  "reason": "converged: relative tolerance reached (CONVERGED_RTOL)", "petsc_reason": 2,
  "iterations": 4, "corrections": null, "relative_residual": 9.8e-9,
  "relative_row_residual": 8.7e-9, "relative_error": 3.1e-7,
  "seconds": {"read": 0.25, "tune": 0.031, "scale": 0.023, "order": 0.042, "build": 0.012, "upload": 0.0345,
              "setup": 0.00175, "renew": 0.053, "solve": 1.5, "ladder": 0.375},
  "solve_seconds": [0.5, 1.0],
  "kernel_us": {"count": 313, "mean": 6100.5, "median": 6000.25, "p95": 7205.5, "min": 5800.5,
                "max": 12000.5},
  "iteration_us": 4807.75, "gflops": 5.67, "gbytes_per_s": 34.56, "bandwidth_fraction": 0.87,
  "padding": 0.13, "bytes": 204000000, "peak_memory_bytes": 512000000,
  "peak_memory_over_csr": 2.25, "break_even_products": 42, "deterministic": false,
  "notes": ["a note"], "history": [1.0, 0.125, 2.5e-4, 1e-6, 9.5e-9],
  "product_us": [6000.25, 5800.5, 12000.5], "product_us_stride": 105,
  "steps": [{"name": "/A7", "new_values": true, "rebuilt": false, "renewed": true,
             "new_aggregates": true, "guess": "previous", "guess_residual": 0.5, "iterations": 17, "converged": true,
             "relative_residual": 8.5e-9, "read_seconds": 0.125, "renew_seconds": 0.0625,
             "solve_seconds": 0.75, "seconds": 2.25}],
  "block": 2, "columns": [
    {"iterations": 3, "converged": true, "reason": "converged", "relative_residual": 7.5e-9,
     "relative_row_residual": 6.5e-9, "relative_error": 0.25, "history": [1.0, 7.5e-9]},
    {"iterations": 4, "converged": false, "reason": "not converged", "relative_residual": 0.5,
     "relative_row_residual": null, "relative_error": null, "history": []}],
  "trial": {"began_with": "csr", "expected_products": 313, "expected_from": "repeat: 2", "budget_seconds": 0.0625,
            "seconds": 0.031, "from_cache": false, "changed_at": 3, "candidates": [
    {"kernel": "albus", "ordering": "rcm", "ghost_kernel": "csr", "predicted_us": 6200.0, "build_seconds": 0.012,
     "product_us": 6000.5, "chosen": true, "verdict": "the least total"},
    {"kernel": "csr", "ordering": "given", "ghost_kernel": "", "predicted_us": 9000.0, "build_seconds": null,
     "product_us": null, "chosen": false, "verdict": "not measured"}]}})json";

// Did not converge, in mixed precision, and has nothing where there may be nothing.
inline RunOutcome sell() {
  RunOutcome run = albus();
  run.kernel = "sell";
  run.device = Device::cuda;
  run.precision = Precision::mixed;
  run.exit_code = ExitCode::not_converged;
  run.converged = false;
  run.reason = "not converged: maximum iterations reached (DIVERGED_ITS)";
  run.petsc_reason = -3;
  run.iterations = 2;
  run.relative_residual = kNan;
  run.relative_error = std::nullopt;
  run.seconds = {.read = 0.5, .build = 3, .upload = 150, .setup = 7300, .solve = 2e-7};
  run.solve_seconds = {2e-7};
  run.kernel_us = {.count = 1, .mean = 2.5, .median = 2, .p95 = 3, .min = 1, .max = 4};
  run.iteration_us = 0.1;
  run.gflops = 1234.5;
  run.gbytes_per_s = kNan;
  run.bandwidth_fraction = std::nullopt;
  run.padding = 0;
  run.bytes = 999;
  run.peak_memory = 1'500'000;
  run.peak_memory_over_csr = 0.5;
  run.break_even_products = std::nullopt;
  run.deterministic = true;
  run.corrections = 6;
  run.ordering = "given";
  run.ghost_kernel = "";
  run.product_us = {};
  run.product_us_stride = 1;
  run.steps = {};
  run.block = 1;
  run.columns = {};
  run.trial = std::nullopt;
  run.notes = {};
  run.history = {1, kNan};
  return run;
}

// What report.json says otherwise of it.
inline constexpr const char* kSellJson =
    R"json({"kernel": "sell", "device": "cuda", "precision": "mixed",
  "converged": false, "exit_code": 5,
  "reason": "not converged: maximum iterations reached (DIVERGED_ITS)", "petsc_reason": -3,
  "iterations": 2, "corrections": 6,
  "seconds": {"read": 0.5, "tune": 0.0, "scale": 0.0, "order": 0.0, "build": 3.0, "upload": 150.0,
              "setup": 7300.0, "renew": 0.0, "solve": 2e-7, "ladder": 0.0},
  "solve_seconds": [2e-7],
  "kernel_us": {"count": 1, "mean": 2.5, "median": 2.0, "p95": 3.0, "min": 1.0, "max": 4.0},
  "iteration_us": 0.1, "gflops": 1234.5, "padding": 0.0, "bytes": 999,
  "peak_memory_bytes": 1500000, "peak_memory_over_csr": 0.5, "deterministic": true, "notes": [],
  "history": [1.0, null], "ordering": "given", "ghost_kernel": "", "product_us": [], "product_us_stride": 1,
  "steps": [], "block": 1, "columns": []})json";

inline CaseOutcome outcome() {
  CaseOutcome outcome;
  outcome.problem = {.name = "system.h5 /A",
                     .generated = true,
                     .rows = 206'763,
                     .cols = 206'764,
                     .nnz = 16'100'000,
                     .rhs = "from-ones",
                     .rhs_note = "the file has no /b",
                     .x0 = "/x0",
                     .looks = "not symmetric, with zeros on the diagonal"};
  outcome.machine = {.host = "node1",
                     .cpu = "Some CPU",
                     .gpu = "Some GPU",
                     .nodes = {{"node1", {0, 2}}, {"node2", {1}}},
                     .ranks = 3,
                     .threads_per_rank = 1,
                     .petsc = "3.18.5",
                     .hdf5 = "1.10.8",
                     .mpi = "Open MPI 4.1.4",
                     .trireme = "0.1.0",
                     .simd = "AVX3",
                     .commit = "0123456789ab",
                     .compiler = "GNU 12.2.0",
                     .cuda = "12.4.131",
                     .driver = "580.159.04",
                     .triad_gbytes_per_s = 33.25,
                     .best_gbytes_per_s = 35.5,
                     .gpu_gbytes_per_s = 2750,
                     .in_cache_gbytes_per_s = 155.5,
                     .gpu_in_cache_gbytes_per_s = 3384.5};
  outcome.runs = {albus(), sell()};
  outcome.start = {.libraries = 0.01,
                   .device = 0.02,
                   .read = 0.03,
                   .check = 0.04,
                   .split = 0.05,
                   .upload = 0.06,
                   .build = 0.07,
                   .tune = 0.08,
                   .setup = 0.09,
                   .total = 0.5};
  outcome.pattern = {.cells = 2, .density = {5, 1, 2, 6}, .row_lengths = {0, 3, 4}};
  outcome.date = "2026-11-28T01:25:03Z";
  outcome.case_text = "kernel: albus\n";
  outcome.command = "solve --config case.yaml";
  outcome.pattern_hash = "0123456789abcdef";
  return outcome;
}

}  // namespace trireme::test
