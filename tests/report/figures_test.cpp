// SPDX-License-Identifier: BSD-3-Clause
// Known numbers in, exact texts out: every figure of the table, JSON, CSV and HTML has its own
// value, so that one in another's place, or in another unit, is seen.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "report/report.hpp"
#include "report/svg.hpp"
#include "report/words.hpp"

namespace trireme {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

RunOutcome albus() {
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
  run.relative_error = 3.1e-7;
  run.seconds = {.read = 0.25,
                 .tune = 0.031,
                 .order = 0.042,
                 .build = 0.012,
                 .upload = 0.0345,
                 .setup = 0.00175,
                 .renew = 0.053,
                 .solve = 1.5};
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
  run.break_even_products = 42;
  run.deterministic = false;
  run.notes = {"a note"};
  run.history = {1, 0.125, 2.5e-4, 1e-6, 9.5e-9};
  run.ordering = "rcm";
  run.product_us = {6000.25, 5800.5, 12000.5};
  run.product_us_stride = 105;
  run.steps = {{.name = "/A7",
                .new_values = true,
                .rebuilt = false,
                .renewed = true,
                .guess = "previous",
                .guess_residual = 0.5,
                .iterations = 17,
                .converged = true,
                .relative_residual = 8.5e-9,
                .read_seconds = 0.125,
                .renew_seconds = 0.0625,
                .solve_seconds = 0.75}};
  run.trial = {.candidates = {{.kernel = "albus",
                               .ordering = "rcm",
                               .predicted_us = 6200,
                               .build_seconds = 0.012,
                               .product_us = 6000.5,
                               .chosen = true,
                               .verdict = "the least total"},
                              {.kernel = "csr", .predicted_us = 9000, .verdict = "not measured"}},
               .expected_products = 313,
               .expected_from = "repeat: 2",
               .budget_seconds = 0.0625,
               .seconds = 0.031,
               .from_cache = false,
               .changed_at = 3};
  return run;
}

// Did not converge, in mixed precision, and has nothing where there may be nothing.
RunOutcome sell() {
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
  run.product_us = {};
  run.product_us_stride = 1;
  run.steps = {};
  run.trial = std::nullopt;
  run.notes = {};
  run.history = {1, kNan};
  return run;
}

CaseOutcome outcome() {
  CaseOutcome outcome;
  outcome.problem = {.name = "system.h5 /A",
                     .generated = true,
                     .rows = 206'763,
                     .cols = 206'764,
                     .nnz = 16'100'000,
                     .rhs = "from-ones"};
  outcome.machine = {.host = "node1",
                     .cpu = "Some CPU",
                     .gpu = "Some GPU",
                     .ranks = 3,
                     .threads_per_rank = 1,
                     .petsc = "3.18.5",
                     .hdf5 = "1.10.8",
                     .mpi = "Open MPI 4.1.4",
                     .trireme = "0.1.0",
                     .simd = "AVX3",
                     .triad_gbytes_per_s = 33.25,
                     .best_gbytes_per_s = 35.5,
                     .gpu_gbytes_per_s = 2750};
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
  outcome.case_text = "kernel: albus\n";
  outcome.command = "solve --config case.yaml";
  outcome.pattern_hash = "0123456789abcdef";
  return outcome;
}

TEST(Figures, OfTheTable) {
  EXPECT_EQ(terminal_table(outcome()),
            R"(system.h5 /A: 206763 x 206764, 16.1 M nonzeros, b: from-ones
node1: Some CPU (AVX3), Some GPU, 3 ranks of 1 thread, memory 33.2 GB/s (triad)

             prepare    product   product  product of memory             ||b-Ax||      solve
kernel            ms         us   GFLOP/s     GB/s bandwidth iterations   / ||b||          s
albus           46.5     6000.2      5.67     34.6      87 %          4   9.8e-09      1.500
sell-mixed  153000.0        2.0   1234.50      nan         -          2       nan      0.000

albus: converged: relative tolerance reached (CONVERGED_RTOL); cg + jacobi to 1e-08, resident
  engine, double, cpu; error 3.1e-07; its 46.5 ms of preprocessing is paid back after 42 products
  (this run did 313); its sums are not the same bits from run to run; a note
sell-mixed: not converged: maximum iterations reached (DIVERGED_ITS); cg + jacobi to 1e-08, resident
  engine, mixed, cuda; its 2 min 33 s of preprocessing never pays: its product is no faster than
  csr's
account: cheapest over 10, 100, 1000 and 10000 products: albus (rcm); albus was the best choice for
  its 313 products, and its trial cost 31.0 ms (2 %)
first iteration 0.5 s after the start: libraries 0.01, device 0.02, reading 0.03, checking 0.04,
  splitting 0.05, upload 0.06, building 0.07, tuning 0.08, set-up 0.09, other 0.05
)");
}

TEST(Figures, OfTheTableWhereAllRunsShareMethodAndNotes) {
  CaseOutcome two = outcome();
  two.runs[1] = albus();
  two.runs[1].kernel = "a-kernel-with-a-very-long-name";
  two.runs[0].notes = {"both say this", "and this"};
  two.runs[1].notes = {"only this one", "and this", "both say this"};
  two.start = {};
  for (RunOutcome& run : two.runs) {
    run.trial = std::nullopt;
    run.relative_error = std::nullopt;
    run.deterministic = true;
    run.break_even_products = 0;
  }
  two.runs[1].break_even_products = 1;
  two.not_run = {"dasp", "teb"};
  EXPECT_EQ(terminal_table(two),
            R"(system.h5 /A: 206763 x 206764, 16.1 M nonzeros, b: from-ones
node1: Some CPU (AVX3), Some GPU, 3 ranks of 1 thread, memory 33.2 GB/s (triad)
cg + jacobi to 1e-08, resident engine, double, cpu

                     prepare    product   product  product of memory             ||b-Ax||      solve
kernel                    ms         us   GFLOP/s     GB/s bandwidth iterations   / ||b||          s
albus                   46.5     6000.2      5.67     34.6      87 %          4   9.8e-09      1.500
a-kernel-with-a-v~      46.5     6000.2      5.67     34.6      87 %          4   9.8e-09      1.500

albus: converged: relative tolerance reached (CONVERGED_RTOL); ahead of csr from the first product
a-kernel-with-a-very-long-name: converged: relative tolerance reached (CONVERGED_RTOL); its 46.5 ms
  of preprocessing is paid back after 1 product (this run did 313); only this one
account: cheapest over 10, 100, 1000 and 10000 products: albus (rcm)
not run after a signal: dasp, teb
note: both say this
note: and this
)");
}

TEST(Figures, OfTheJson) {
  using Json = nlohmann::json;
  const Json report = Json::parse(json_report(outcome()));
  EXPECT_EQ(report["schema"], 2);
  EXPECT_EQ(report["not_run"], Json::array());
  EXPECT_EQ(report["start_seconds"], Json::parse(R"json({"libraries": 0.01, "device": 0.02,
    "read": 0.03, "check": 0.04, "split": 0.05, "upload": 0.06, "build": 0.07, "tune": 0.08,
    "setup": 0.09, "total": 0.5})json"));
  EXPECT_EQ(report["pattern"], Json::parse(R"json({"cells": 2, "density": [5, 1, 2, 6],
    "row_lengths": [0, 3, 4]})json"));
  EXPECT_EQ(report["case"], "kernel: albus\n");
  EXPECT_EQ(report["command"], "solve --config case.yaml");
  EXPECT_EQ(report["problem"], Json::parse(R"json({"name": "system.h5 /A", "generated": true,
    "rows": 206763, "cols": 206764, "nnz": 16100000, "rhs": "from-ones",
    "pattern_hash": "0123456789abcdef", "values_hash": null})json"));
  EXPECT_EQ(report["machine"], Json::parse(R"json({"host": "node1", "cpu": "Some CPU",
    "gpu": "Some GPU", "simd": "AVX3", "ranks": 3, "threads_per_rank": 1,
    "triad_gbytes_per_s": 33.25, "best_gbytes_per_s": 35.5, "gpu_gbytes_per_s": 2750.0, "versions":
    {"trireme": "0.1.0", "petsc": "3.18.5", "hdf5": "1.10.8", "mpi": "Open MPI 4.1.4"}})json"));
  ASSERT_EQ(report["runs"].size(), 2u);
  const Json albus = Json::parse(R"json({"kernel": "albus", "device": "cpu", "precision": "double",
    "ordering": "rcm", "method": "cg", "engine": "resident", "preconditioner": "jacobi", "ranks": 3, "rtol": 1e-8,
    "converged": true, "exit_code": 0,
    "reason": "converged: relative tolerance reached (CONVERGED_RTOL)", "petsc_reason": 2,
    "iterations": 4, "corrections": null, "relative_residual": 9.8e-9, "relative_error": 3.1e-7,
    "seconds": {"read": 0.25, "tune": 0.031, "order": 0.042, "build": 0.012, "upload": 0.0345,
                "setup": 0.00175, "renew": 0.053, "solve": 1.5},
    "solve_seconds": [0.5, 1.0],
    "kernel_us": {"count": 313, "mean": 6100.5, "median": 6000.25, "p95": 7205.5, "min": 5800.5,
                  "max": 12000.5},
    "iteration_us": 4807.75, "gflops": 5.67, "gbytes_per_s": 34.56, "bandwidth_fraction": 0.87,
    "padding": 0.13, "bytes": 204000000, "peak_memory_bytes": 512000000,
    "peak_memory_over_csr": 2.25, "break_even_products": 42, "deterministic": false,
    "notes": ["a note"], "history": [1.0, 0.125, 2.5e-4, 1e-6, 9.5e-9],
    "product_us": [6000.25, 5800.5, 12000.5], "product_us_stride": 105,
    "steps": [{"name": "/A7", "new_values": true, "rebuilt": false, "renewed": true,
               "guess": "previous", "guess_residual": 0.5, "iterations": 17, "converged": true,
               "relative_residual": 8.5e-9, "read_seconds": 0.125, "renew_seconds": 0.0625,
               "solve_seconds": 0.75}],
    "trial": {"expected_products": 313, "expected_from": "repeat: 2", "budget_seconds": 0.0625,
              "seconds": 0.031, "from_cache": false, "changed_at": 3, "candidates": [
      {"kernel": "albus", "ordering": "rcm", "predicted_us": 6200.0, "build_seconds": 0.012,
       "product_us": 6000.5, "chosen": true, "verdict": "the least total"},
      {"kernel": "csr", "ordering": "given", "predicted_us": 9000.0, "build_seconds": null,
       "product_us": null, "chosen": false, "verdict": "not measured"}]}})json");
  EXPECT_EQ(Json::diff(albus, report["runs"][0]), Json::array());
  Json sell = albus;
  sell.merge_patch(Json::parse(R"json({"kernel": "sell", "device": "cuda", "precision": "mixed",
    "converged": false, "exit_code": 5,
    "reason": "not converged: maximum iterations reached (DIVERGED_ITS)", "petsc_reason": -3,
    "iterations": 2, "corrections": 6,
    "seconds": {"read": 0.5, "tune": 0.0, "order": 0.0, "build": 3.0, "upload": 150.0,
                "setup": 7300.0, "renew": 0.0, "solve": 2e-7},
    "solve_seconds": [2e-7],
    "kernel_us": {"count": 1, "mean": 2.5, "median": 2.0, "p95": 3.0, "min": 1.0, "max": 4.0},
    "iteration_us": 0.1, "gflops": 1234.5, "padding": 0.0, "bytes": 999,
    "peak_memory_bytes": 1500000, "peak_memory_over_csr": 0.5, "deterministic": true, "notes": [],
    "history": [1.0, null], "ordering": "given", "product_us": [], "product_us_stride": 1,
    "steps": []})json"));
  for (const char* unknown : {"relative_residual", "relative_error", "gbytes_per_s",
                              "bandwidth_fraction", "break_even_products", "trial"})
    sell[unknown] = nullptr;
  EXPECT_EQ(Json::diff(sell, report["runs"][1]), Json::array());
}

TEST(Figures, OfTheCsv) {
  EXPECT_EQ(csv_history(outcome()),
            "kernel,iteration,relative_residual\n"
            "albus,0,1\nalbus,1,0.125\nalbus,2,0.00025\nalbus,3,1e-06\nalbus,4,9.5e-09\n"
            "sell-mixed,0,1\nsell-mixed,1,nan\n");
}

void expect_line(const std::string& page, const std::string& line) {
  EXPECT_NE(page.find("\n" + line + "\n"), std::string::npos) << line << "\n\nis not in\n" << page;
}

TEST(Figures, OfThePage) {
  const std::string page = html_report(outcome());
  for (const char* line : {
           "<title>Solve report: system.h5 /A</title>",
           "<h1>Solve report: <span class=\"bad\">not converged</span></h1>",
           "<p>system.h5 /A: 206763 x 206764, 16.1 M nonzeros, b: from-ones</p>",
           "<p><b>albus</b> <span class=\"good\">converged: relative tolerance reached "
           "(CONVERGED_RTOL)</span>; cg + jacobi to 1e-08, resident engine, double, cpu; its 46.5 "
           "ms of preprocessing is paid back after 42 products (this run did 313); its sums are "
           "not the same bits from run to run; a note</p>",
           "<p><b>sell-mixed</b> <span class=\"bad\">not converged: maximum iterations reached "
           "(DIVERGED_ITS)</span>; cg + jacobi to 1e-08, resident engine, mixed, cuda; its 2 min "
           "33 s of preprocessing never pays: its product is no faster than csr's</p>",
           "<tr><th>kernel</th><th>prepare</th><th>one product,<br>median</th><th>p95</th>"
           "<th>GFLOP/s</th><th>GB/s</th><th>of memory<br>bandwidth</th><th>padding</th>"
           "<th>iterations</th><th>‖b−Ax‖ / ‖b‖</th><th>error</th></tr>",
           "<tr><td>albus</td><td>46.5 ms</td><td>6.00 ms</td><td>7.21 ms</td><td>5.67</td>"
           "<td>34.6</td><td>87 %</td><td>13 %</td><td>4</td><td>9.8e-09</td><td>3.1e-07</td></tr>",
           "<tr><td>sell-mixed</td><td>2 min 33 s</td><td>2.00 us</td><td>3.00 us</td>"
           "<td>1234.50</td><td>nan</td><td>-</td><td>0 %</td><td>2</td><td>nan</td><td>-</td>"
           "</tr>",
           "<tr><th>kernel</th><th>read</th><th>build</th><th>upload</th><th>set-up</th>"
           "<th>solve</th><th>one iteration</th><th>products</th><th>layout</th>"
           "<th>peak memory<br>of a rank</th></tr>",
           "<tr><td>albus</td><td>250 ms</td><td>12.0 ms</td><td>34.5 ms</td><td>1.75 ms</td>"
           "<td>1.50 s</td><td>4.81 ms</td><td>313</td><td>204 MB</td>"
           "<td>512 MB (2.25 x CSR)</td></tr>",
           "<tr><td>sell-mixed</td><td>500 ms</td><td>3.00 s</td><td>2 min 30 s</td>"
           "<td>2 h 1 min</td><td>200 ns</td><td>100 ns</td><td>1</td><td>999 B</td>"
           "<td>1.50 MB (0.50 x CSR)</td></tr>",
           "<tr><td>where</td><td>node1: Some CPU (AVX3), Some GPU, 3 ranks of 1 thread, memory "
           "33.2 GB/s (triad)</td></tr>",
           "<tr><td>Trireme</td><td>0.1.0</td></tr>",
           "<tr><td>PETSc</td><td>3.18.5</td></tr>",
           "<tr><td>HDF5</td><td>1.10.8</td></tr>",
           "<tr><td>MPI</td><td>Open MPI 4.1.4</td></tr>",
       })
    expect_line(page, line);
}

TEST(Figures, OfThePageWhereAllRunsConvergedAlike) {
  CaseOutcome good = outcome();
  good.runs[1] = albus();
  good.runs[1].kernel = "teb";
  const std::string page = html_report(good);
  for (const char* line :
       {"<h1>Solve report: <span class=\"good\">converged</span></h1>",
        "<p class=\"dim\">cg + jacobi to 1e-08, resident engine, double, cpu</p>",
        "<p class=\"dim\">note: a note</p>",
        "<p>residual relative to ‖b‖<span class=\"key s0\"></span>albus<span class=\"key s1\">"
        "</span>teb</p>"})
    expect_line(page, line);
  good.not_run = {"dasp"};
  expect_line(html_report(good), "<p class=\"bad\">not run after a signal: dasp</p>");
}

// Rows of 860 - 170 - 90 = 600 for the longest time, 3000 us.
TEST(Figures, OfTheBars) {
  CaseOutcome two = outcome();
  two.runs[0].kernel_us = {
      .count = 9, .mean = 1, .median = 1000, .p95 = 3000, .min = 1, .max = 9e9};
  two.runs[1].kernel_us = {.count = 9, .mean = 1, .median = 500, .p95 = 250, .min = 1, .max = 9e9};
  EXPECT_EQ(svg::kernel_times(two),
            R"(<svg viewBox="0 0 860 68" role="img" aria-label="Time of one product">
<text x="160.0" y="20.0" text-anchor="end">albus</text>
<rect class="bar s0" x="170.0" y="6.0" width="200.0" height="20.0"/>
<line class="whisker" x1="370.0" y1="16.0" x2="770.0" y2="16.0"/>
<line class="whisker" x1="770.0" y1="11.0" x2="770.0" y2="21.0"/>
<text x="778.0" y="20.0" text-anchor="start">1.00 ms</text>
<text x="160.0" y="52.0" text-anchor="end">sell-mixed</text>
<rect class="bar s1" x="170.0" y="38.0" width="100.0" height="20.0"/>
<line class="whisker" x1="270.0" y1="48.0" x2="220.0" y2="48.0"/>
<line class="whisker" x1="220.0" y1="43.0" x2="220.0" y2="53.0"/>
<text x="278.0" y="52.0" text-anchor="start">500 us</text>
</svg>
)");
  for (RunOutcome& run : two.runs) run.kernel_us = {};
  EXPECT_EQ(svg::kernel_times(two), "");
}

// 64 to 844 for iterations 0 to 2, 14 to 336 for 1e0 to 1e-2.
TEST(Figures, OfTheCurves) {
  CaseOutcome two = outcome();
  two.runs[0].history = {0.1, kNan, 0.02};
  two.runs[0].rtol = 0.1;
  two.runs[1].history = {0.02, 0, 1};
  EXPECT_EQ(svg::convergence(two),
            R"(<svg viewBox="0 0 860 380" role="img" aria-label="Residual over iterations">
<line class="grid" x1="64.0" y1="336.0" x2="844.0" y2="336.0"/>
<text x="56.0" y="340.0" text-anchor="end">1e-2</text>
<line class="grid" x1="64.0" y1="175.0" x2="844.0" y2="175.0"/>
<text x="56.0" y="179.0" text-anchor="end">1e-1</text>
<line class="grid" x1="64.0" y1="14.0" x2="844.0" y2="14.0"/>
<text x="56.0" y="18.0" text-anchor="end">1e+0</text>
<line class="grid" x1="64.0" y1="14.0" x2="64.0" y2="336.0"/>
<text x="64.0" y="354.0" text-anchor="middle">0</text>
<line class="grid" x1="454.0" y1="14.0" x2="454.0" y2="336.0"/>
<text x="454.0" y="354.0" text-anchor="middle">1</text>
<line class="grid" x1="844.0" y1="14.0" x2="844.0" y2="336.0"/>
<text x="844.0" y="354.0" text-anchor="middle">2</text>
<text x="454.0" y="374.0" text-anchor="middle">iteration</text>
<line class="tolerance" x1="64.0" y1="175.0" x2="844.0" y2="175.0"/>
<text x="70.0" y="170.0" text-anchor="start">rtol</text>
<polyline class="curve s0" points="64.0,175.0 844.0,287.5 "/>
<polyline class="curve s1" points="64.0,287.5 844.0,14.0 "/>
</svg>
)");
}

std::string labels_of(const std::string& chart, const std::string& anchor) {
  const std::string begin = "text-anchor=\"" + anchor + "\">";
  std::string labels;
  for (std::size_t at = chart.find(begin); at != chart.npos; at = chart.find(begin, at + 1))
    labels += chart.substr(at + begin.size(), chart.find('<', at) - at - begin.size()) + " ";
  return labels;
}

TEST(Figures, OfTheAxes) {
  CaseOutcome one = outcome();
  one.runs.resize(1);
  one.runs[0].rtol = 1e-30;  // below what is drawn
  one.runs[0].history.assign(3001, 1e-3);
  one.runs[0].history.front() = 0.5;
  one.runs[0].history.back() = 3e-16;
  const std::string chart = svg::convergence(one);
  EXPECT_EQ(labels_of(chart, "end"), "1e-16 1e-14 1e-12 1e-10 1e-8 1e-6 1e-4 1e-2 1e+0 ");
  EXPECT_EQ(labels_of(chart, "middle"), "0 500 1000 1500 2000 2500 3000 iteration ");
  EXPECT_EQ(labels_of(chart, "start"), "");
  one.runs[0].history.assign(49, 1e-3);
  EXPECT_EQ(labels_of(svg::convergence(one), "middle"), "0 10 20 30 40 iteration ");
  one.runs[0].history = {1e-3, 1e-3};  // at least one power of ten
  EXPECT_EQ(labels_of(svg::convergence(one), "end"), "1e-3 1e-2 ");
}

// Of each 2 * 2 neighbours the minimum and the maximum, in their order.
TEST(Figures, OfALongCurveAreItsPeaks) {
  CaseOutcome one = outcome();
  one.runs.resize(1);
  one.runs[0].history.assign(2000, 1e-2);
  one.runs[0].history[1] = 1;
  one.runs[0].history[2] = 1e-4;
  one.runs[0].history[1997] = 1e-4;
  one.runs[0].history[1998] = 1;
  const std::string chart = svg::convergence(one);
  EXPECT_NE(chart.find("points=\"64.4,14.0 64.8,336.0 "), chart.npos) << chart;
  EXPECT_NE(chart.find(" 843.6,336.0 844.0,14.0 \"/>"), chart.npos) << chart;
}

TEST(Figures, OfTheCurvesNeedPositiveNumbers) {
  CaseOutcome none = outcome();
  none.runs.resize(1);
  none.runs[0].history = {0, kNan};
  EXPECT_EQ(svg::convergence(none), "");
}

TEST(Words, UnitsChangeWhereAFourthDigitWouldCome) {
  EXPECT_EQ(words::count(9'999), "9999");
  EXPECT_EQ(words::count(10'000), "10.0 k");
  EXPECT_EQ(words::count(999'499), "999 k");
  EXPECT_EQ(words::count(999'500), "1.00 M");
  EXPECT_EQ(words::count(1'230'000'000'000), "1.23 T");
  EXPECT_EQ(words::count(1'230'000'000'000'000), "1230 T");
  EXPECT_EQ(words::bytes(999), "999 B");
  EXPECT_EQ(words::bytes(1000), "1.00 kB");
  EXPECT_EQ(words::bytes(9994), "9.99 kB");
  EXPECT_EQ(words::bytes(9996), "10.0 kB");
  EXPECT_EQ(words::bytes(99'940), "99.9 kB");
  EXPECT_EQ(words::bytes(99'960), "100 kB");
  EXPECT_EQ(words::bytes(999'500), "1.00 MB");
  EXPECT_EQ(words::bytes(2.5e12), "2.50 TB");
  EXPECT_EQ(words::seconds(0), "0");
  EXPECT_EQ(words::seconds(9.9e-7), "990 ns");
  EXPECT_EQ(words::seconds(1e-6), "1.00 us");
  EXPECT_EQ(words::seconds(1e-3), "1.00 ms");
  EXPECT_EQ(words::seconds(1), "1.00 s");
  EXPECT_EQ(words::seconds(119.4), "119 s");
  EXPECT_EQ(words::seconds(120), "2 min 0 s");
  EXPECT_EQ(words::seconds(7199.4), "119 min 59 s");
  EXPECT_EQ(words::seconds(7200), "2 h 0 min");
  EXPECT_EQ(words::seconds(7261), "2 h 1 min");
  EXPECT_EQ(words::seconds(kNan), "nan");
  EXPECT_EQ(words::percent(0.874), "87 %");
  EXPECT_EQ(words::residual(9.84e-9), "9.8e-09");
}

TEST(Words, LinesBreakAtTheLastWordThatFits) {
  EXPECT_EQ(words::wrap("aa bb cc dd", 5, 1), "aa bb\n cc\n dd");
  EXPECT_EQ(words::wrap("aa bb cc dd", 6, 1), "aa bb\n cc dd");
  EXPECT_EQ(words::wrap("longer than it is wide", 4, 2), "longer\n  than\n  it\n  is\n  wide");
  EXPECT_EQ(words::wrap("", 4, 2), "");
}

TEST(Words, OneRunHasNoNotesInCommon) {
  CaseOutcome one = outcome();
  one.runs.resize(1);
  EXPECT_TRUE(words::common_notes(one).empty());
  EXPECT_EQ(words::own_notes(one, one.runs[0]), std::vector<std::string>{"a note"});
}

}  // namespace
}  // namespace trireme
