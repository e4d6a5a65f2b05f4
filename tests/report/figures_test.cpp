// SPDX-License-Identifier: BSD-3-Clause
// Known numbers in, exact texts out: every figure of the table, JSON, CSV and HTML has its own
// value, so that one in another's place, or in another unit, is seen.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distinct_figures.hpp"
#include "report/report.hpp"
#include "report/words.hpp"

namespace trireme {
namespace {

using namespace test;

TEST(Figures, OfTheTable) {
  EXPECT_EQ(terminal_table(outcome()),
            R"(system.h5 /A: 206763 x 206764, 16.1 M nonzeros, b: from-ones (the file has no
  /b), x0: /x0; A is not symmetric, with zeros on the diagonal
node1: Some CPU (AVX3), Some GPU, 3 ranks of 1 thread on 2 nodes (node1: ranks
  0, 2; node2: rank 1), memory 33.2 GB/s (triad)

            prepare product product product of memory            ||b-Ax|| solve
kernel           ms      us GFLOP/s    GB/s bandwidth iterations  / ||b||     s
auto-albus     46.5  6000.2    5.67    34.6      87 %          4  9.8e-09 1.500
sell-mixed 153000.0     2.0 1234.50     nan         -          2      nan 0.000

auto-albus: converged: relative tolerance reached (CONVERGED_RTOL)
  method          cg + jacobi to 1e-08, resident engine, double, cpu
  error           3.1e-07
  preparation     46.5 ms, paid back after 42 products (this run did 313)
  bits            its sums differ from run to run
  note            a note
sell-mixed: not converged: maximum iterations reached (DIVERGED_ITS)
  method          cg + jacobi to 1e-08, resident engine, mixed, cuda
  preparation     2 min 33 s, which never pays: its product is no faster than
                  csr's

cheapest          over 10, 100, 1000 and 10000 products: albus (rcm)
choice            auto-albus was the best choice for its 313 products, and its
                  trial cost 31.0 ms (2 %)
first iteration   0.5 s after the start: libraries 0.01, device 0.02, reading
                  0.03, checking 0.04, splitting 0.05, upload 0.06, building
                  0.07, tuning 0.08, set-up 0.09, other 0.05
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
            R"(system.h5 /A: 206763 x 206764, 16.1 M nonzeros, b: from-ones (the file has no
  /b), x0: /x0; A is not symmetric, with zeros on the diagonal
node1: Some CPU (AVX3), Some GPU, 3 ranks of 1 thread on 2 nodes (node1: ranks
  0, 2; node2: rank 1), memory 33.2 GB/s (triad)
cg + jacobi to 1e-08, resident engine, double, cpu

                   prepare product product of memory            ||b-Ax|| solve
kernel                  ms      us GFLOP/s bandwidth iterations  / ||b||     s
albus                 46.5  6000.2    5.67      87 %          4  9.8e-09 1.500
a-kernel-with-a-v~    46.5  6000.2    5.67      87 %          4  9.8e-09 1.500

albus: converged: relative tolerance reached (CONVERGED_RTOL)
  preparation     46.5 ms, ahead of csr from the first product
a-kernel-with-a-very-long-name: converged: relative tolerance reached
  (CONVERGED_RTOL)
  preparation     46.5 ms, paid back after 1 product (this run did 313)
  note            only this one

cheapest          over 10, 100, 1000 and 10000 products: albus (rcm)
not run after a signal: dasp, teb
note              both say this
note              and this
)");
}

TEST(Figures, OfTheJson) {
  using Json = nlohmann::json;
  const Json report = Json::parse(json_report(outcome()));
  EXPECT_EQ(report["schema"], 2);
  EXPECT_EQ(report["refused"], Json::array());
  EXPECT_EQ(report["not_run"], Json::array());
  EXPECT_EQ(report["start_seconds"], Json::parse(R"json({"libraries": 0.01, "device": 0.02,
    "read": 0.03, "check": 0.04, "split": 0.05, "upload": 0.06, "build": 0.07, "tune": 0.08,
    "setup": 0.09, "total": 0.5})json"));
  EXPECT_EQ(report["pattern"], Json::parse(R"json({"cells": 2, "density": [5, 1, 2, 6],
    "row_lengths": [0, 3, 4]})json"));
  EXPECT_EQ(report["case"], "kernel: albus\n");
  EXPECT_EQ(report["command"], "solve --config case.yaml");
  EXPECT_EQ(report["problem"], Json::parse(R"json({"name": "system.h5 /A", "generated": true,
    "rows": 206763, "cols": 206764, "nnz": 16100000, "rhs": "from-ones", "x0": "/x0",
    "looks": "not symmetric, with zeros on the diagonal",
    "pattern_hash": "0123456789abcdef", "values_hash": null})json"));
  EXPECT_EQ(report["machine"], Json::parse(R"json({"host": "node1",
    "nodes": [{"host": "node1", "ranks": [0, 2]}, {"host": "node2", "ranks": [1]}], "cpu": "Some CPU",
    "gpu": "Some GPU", "simd": "AVX3", "ranks": 3, "threads_per_rank": 1,
    "triad_gbytes_per_s": 33.25, "best_gbytes_per_s": 35.5, "gpu_gbytes_per_s": 2750.0,
    "in_cache_gbytes_per_s": 155.5, "gpu_in_cache_gbytes_per_s": 3384.5, "versions": {"trireme": "0.1.0", "petsc": "3.18.5",
    "hdf5": "1.10.8", "mpi": "Open MPI 4.1.4", "commit": "0123456789ab", "compiler": "GNU 12.2.0",
    "cuda": "12.4.131", "driver": "580.159.04"}})json"));
  EXPECT_EQ(report["date"], "2026-11-28T01:25:03Z");
  ASSERT_EQ(report["runs"].size(), 2u);
  Json albus = Json::parse(kAlbusJson);
  albus["convergence_factor"] = std::pow(9.5e-9, 0.25);  // four iterations
  albus["multigrid"] = albus["ladder"] = albus["preconditioner_choice"] = nullptr;
  ASSERT_NEAR(report["runs"][0]["convergence_factor"], albus["convergence_factor"], 1e-15);
  albus["convergence_factor"] = report["runs"][0]["convergence_factor"];
  EXPECT_EQ(Json::diff(albus, report["runs"][0]), Json::array());
  Json sell = albus;
  sell.merge_patch(Json::parse(kSellJson));
  for (const char* unknown :
       {"relative_residual", "relative_error", "gbytes_per_s", "bandwidth_fraction",
        "break_even_products", "trial", "convergence_factor"})
    sell[unknown] = nullptr;
  EXPECT_EQ(Json::diff(sell, report["runs"][1]), Json::array());
}

// What is wrong with the figures of a schema and of all objects below it: the name of a figure
// carries its unit, and stands once in its table.
void check_figures(const nlohmann::json& schema, const std::string& path) {
  static const std::pair<const char*, const char*> units[] = {{"seconds", "s"},
                                                              {"_us", "us"},
                                                              {"bytes", "B"},
                                                              {"gbytes_per_s", "GB/s"},
                                                              {"gflops", "GFLOP/s"}};
  if (schema.contains("items")) check_figures(schema["items"], path);
  if (!schema.contains("properties")) return;
  EXPECT_EQ(schema["required"].size(), schema["properties"].size())
      << path << " has two figures of one name";
  for (const auto& [name, figure] : schema["properties"].items()) {
    const std::string place = path + "." + name;
    EXPECT_FALSE(figure.value("description", "").empty()) << place << " says nothing";
    for (const auto& [end, unit] : units)
      if (name.ends_with(end)) {
        EXPECT_EQ(figure.value("unit", ""), unit) << place;
      }
    check_figures(figure, place);
  }
}

TEST(Figures, HaveANameAUnitAndASentence) {
  check_figures(nlohmann::json::parse(report_schema()), "report");
}

TEST(Figures, OfTheCsv) {
  EXPECT_EQ(csv_history(outcome()),
            "kernel,iteration,relative_residual\n"
            "auto-albus,0,1\nauto-albus,1,0.125\nauto-albus,2,0.00025\nauto-albus,3,1e-06\n"
            "auto-albus,4,9.5e-09\n"
            "sell-mixed,0,1\nsell-mixed,1,nan\n");
}

void expect_part(const std::string& page, const std::string& part) {
  EXPECT_NE(page.find(part), std::string::npos) << part << "\n\nis not in\n" << page;
}

// A row of a table: its head, then its cells.
std::string cells(const std::string& head, const std::vector<std::string>& cells) {
  std::string row = "<tr><th scope=\"row\" class=\"text\">" + head + "</th>";
  for (const std::string& cell : cells)
    row += (cell.front() == '<' ? cell : "<td>" + cell) + "</td>";
  return row + "</tr>";
}

TEST(Figures, OfThePage) {
  const std::string page = html_report(outcome());
  const std::string text = "<td class=\"text\">";
  for (const std::string& part : std::vector<std::string>{
           "<title>Solve report: system.h5 /A</title>",
           "<h1>Solve report: <span class=\"bad\">✗ not converged</span></h1>",
           "<p>system.h5 /A: 206763 x 206764, 16.1 M nonzeros, b: from-ones (the file has no /b), "
           "x0: /x0; A is not symmetric, with zeros on the diagonal</p>",
           "<li><b>auto-albus</b> <span class=\"good\">✓ converged: relative tolerance reached "
           "(CONVERGED_RTOL)</span>; cg + jacobi to 1e-08, resident engine, double, cpu; its 46.5 "
           "ms of preprocessing is paid back after 42 products (this run did 313); its sums are "
           "not the same bits from run to run; a note</li>",
           "<li><b>sell-mixed</b> <span class=\"bad\">✗ not converged: maximum iterations reached "
           "(DIVERGED_ITS)</span>; cg + jacobi to 1e-08, resident engine, mixed, cuda; its 2 min "
           "33 s of preprocessing never pays: its product is no faster than csr's</li>",
           cells("auto-albus", {text + "rcm", "46.5 ms", "6.00 ms", "7.21 ms", "5.67", "34.6",
                                "87 %", "13 %", "4", "9.8e-09", "3.1e-07"}),
           cells("sell-mixed", {text + "given", "2 min 33 s", "2.00 us", "3.00 us", "1234.50",
                                "nan", "-", "0 %", "2", "nan", "-"}),
           cells("auto-albus", {"250 ms", "31.0 ms", "23.0 ms", "42.0 ms", "12.0 ms", "34.5 ms",
                                "1.75 ms", "53.0 ms", "1.50 s", "375 ms", "4.81 ms", "313",
                                "204 MB", "512 MB (2.25 x CSR)"}),
           cells("sell-mixed", {"500 ms", "0", "0", "0", "3.00 s", "2 min 30 s", "2 h 1 min", "0",
                                "200 ns", "0", "100 ns", "1", "999 B", "1.50 MB (0.50 x CSR)"}),
           cells("<b>albus ✓</b>", {text + "rcm", "6.20 ms", "12.0 ms", "6.00 ms", "1.89 s",
                                    text + "the least total"}),
           cells("csr", {text + "given", "9.00 ms", "-", "-", "-", text + "not measured"}),
           cells("/A7", {text + "values, preconditioner, aggregates", text + "previous", "5.0e-01",
                         "17", "8.5e-09", "125 ms", "62.5 ms", "750 ms", "✓"}),
           "The choice is to pay over 313 products (repeat: 2). The trial took 31.0 ms of the 62.5 "
           "ms that it was allowed. The chosen kernel took over at iteration 3.",
           cells("where", {"node1: Some CPU (AVX3), Some GPU, 3 ranks of 1 thread on 2 nodes "
                           "(node1: ranks 0, 2; node2: rank 1), memory 33.2 GB/s (triad)"}),
           cells("CPU memory, best", {"35.5 GB/s"}),
           cells("GPU memory", {"2750.0 GB/s"}),
           cells("arrays as large as the matrix", {"155.5 GB/s"}),
           cells("GPU driver", {"580.159.04"}),
           cells("begun", {"2026-11-28T01:25:03Z"}),
           cells("Trireme", {"0.1.0"}),
           cells("commit", {"0123456789ab"}),
           cells("compiler of C++", {"GNU 12.2.0"}),
           cells("compiler of CUDA", {"12.4.131"}),
           ">The Trireme authors: Trireme 0.1.0 (commit 0123456789ab), built by GNU 12.2.0 and "
           "CUDA "
           "12.4.131, with PETSc 3.18.5, HDF5 1.10.8, Open MPI 4.1.4; run on 2026-11-28 on 3 ranks "
           "of "
           "Some CPU with Some GPU, driver 580.159.04</pre>",
           cells("PETSc", {"3.18.5"}),
           cells("HDF5", {"1.10.8"}),
           cells("MPI", {"Open MPI 4.1.4"}),
           cells("hash of the pattern", {"0123456789abcdef"}),
           ">kernel: albus\n</pre>",
           ">solve --config case.yaml</pre>"})
    expect_part(page, part);
}

TEST(Figures, OfThePageWhereAllRunsConvergedAlike) {
  CaseOutcome good = outcome();
  good.runs[1] = albus();
  good.runs[1].kernel = "teb";
  const std::string page = html_report(good);
  for (const char* part :
       {"<h1>Solve report: <span class=\"good\">✓ converged</span></h1>",
        "<p class=\"dim\">cg + jacobi to 1e-08, resident engine, double, cpu</p>",
        "<p class=\"dim\">note: a note</p>", "<dt>fastest solve</dt><dd>auto-albus</dd>"})
    expect_part(page, part);
  good.not_run = {"dasp"};
  expect_part(html_report(good), "<p class=\"bad\">not run after a signal: dasp</p>");
}

TEST(Figures, OneRunHasNoNotesInCommon) {
  CaseOutcome one = outcome();
  one.runs.resize(1);
  EXPECT_TRUE(words::common_notes(one).empty());
  EXPECT_EQ(words::own_notes(one, one.runs[0]), std::vector<std::string>{"a note"});
}

}  // namespace
}  // namespace trireme
