// SPDX-License-Identifier: BSD-3-Clause
// Studies of products: the command lines of kernel_bench, and what its files say.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "study/expand.hpp"
#include "study/figures.hpp"
#include "study/product_words.hpp"
#include "study/read_study.hpp"
#include "study/study_folder.hpp"
#include "study/summary.hpp"

namespace trireme::study {
namespace {

using Words = std::vector<std::string>;

const std::string kProducts = "measure: products\nset: {problem: {generate: rmat, n: 5, k: 3}}\n";

class Products : public StudyFolder {
 protected:
  Study study(const std::string& text, const std::vector<Override>& changes = {}) const {
    return read_study(write("study.yaml", text), changes);
  }
  std::vector<StudyRun> runs(const std::string& text,
                             const std::vector<Override>& changes = {}) const {
    return expand(study(text, changes), folder / "none");
  }
  std::string refused(const std::string& text) const {
    try {
      runs(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "";
  }
  // What a run ended with, whose files are in `folder`.
  Record record(int exit_code) const {
    Record r;
    r.ended.how = End::exited;
    r.ended.exit_code = exit_code;
    r.folder = folder;
    return r;
  }
};

TEST_F(Products, OneProcessMeasuresAllKernels) {
  const auto all = runs(kProducts +
                        "vary: {kernel: [csr, albus], precision: [double, int]}\n"
                        "baseline: {kernel: csr}\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].words, (Words{"rmat", "--n", "5", "--k", "3", "--kernels", "csr,albus",
                                 "--precision", "int"}));
}

TEST_F(Products, KernelsOfTheCommandLineAreOneProcessToo) {
  const std::string text = kProducts + "vary: {kernel: [csr, albus]}\nbaseline: {kernel: csr}\n";
  const auto all = runs(text, {parse_override("kernel+=[sell]")});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(kernels_of(all[0].settings), (Words{"csr", "albus", "sell"}));
}

TEST_F(Products, FilesVectorsThreadsAndOptionsReachTheCommandLine) {
  write("a.mtx", "x");
  const auto run = runs(
      "measure: products\nset: {threads: 1, seconds: 0.1, options: --cpu-clock, device: cpu}\n"
      "vary: {problem: ['*.mtx'], vectors: [8]}\n");
  ASSERT_EQ(run.size(), 1U);
  EXPECT_EQ(run[0].threads, "1");
  EXPECT_EQ(run[0].words, (Words{(folder / "a.mtx").string(), "--seconds", "0.1", "--device", "cpu",
                                 "--vectors", "8", "--cpu-clock"}));
}

TEST_F(Products, WrongKeysAndValuesAreRefusedWithTheirPlace) {
  EXPECT_NE(refused(kProducts + "vary: {solver.rtol: [1e-8]}\n").find("study.yaml:3:"),
            std::string::npos);
  EXPECT_NE(refused(kProducts + "vary: {precison: [float]}\n").find("did you mean 'precision'"),
            std::string::npos);
  EXPECT_NE(refused(kProducts + "vary: {precision: [fp8]}\n").find("known: double"),
            std::string::npos);
  EXPECT_NE(refused(kProducts + "vary: {kernel: [csrr]}\n").find("unknown kernel 'csrr'"),
            std::string::npos);
  EXPECT_NE(refused("measure: products\nvary: {kernel: [csr]}\n").find("problem.file"),
            std::string::npos);
  EXPECT_NE(refused("measure: product\n" + kProducts.substr(kProducts.find('\n') + 1))
                .find("'solve' or 'products'"),
            std::string::npos);
  EXPECT_NE(refused(kProducts + "speed_up_of: both\n").find("'variants' or 'baseline'"),
            std::string::npos);
}

TEST_F(Products, MeasurementsOfOneVectorAndOfSeveralBecomeFigures) {
  const auto one = read_product_findings(
      write("one.json",
            R"([{"kernel": "csr", "device": "cpu", "precision": "int", "rows": 3, "nnz": 7,
                 "build_ms": 2, "median_us": 5, "cold_us": 6, "max_error": 0.5}])"),
      1.5, 3'000'000);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].figures.at("product"), 5);
  EXPECT_EQ(one[0].figures.at("cold"), 6);
  EXPECT_EQ(one[0].figures.at("prepare"), 2e-3);
  EXPECT_EQ(one[0].figures.at("memory"), 3);
  EXPECT_EQ(one[0].nnz, 7);
  const auto several = read_product_findings(
      write("several.json",
            R"([{"kernel": "csr", "device": "cpu", "precision": "double", "rows": 3, "nnz": 7,
                 "vectors": 8, "build_ms": 2, "singles_us": 40, "together_us": 10,
                 "max_error": 0.5},
                {"kernel": "coo", "device": "cpu", "precision": "double", "rows": 3, "nnz": 7,
                 "vectors": 8, "build_ms": 2, "singles_us": 50, "together_us": null,
                 "max_error": 0.5}])"),
      1, 0);
  ASSERT_EQ(several.size(), 2U);
  EXPECT_EQ(several[0].figures.at("product"), 10);
  EXPECT_EQ(several[0].figures.at("singles"), 40);
  EXPECT_EQ(several[1].figures.at("product"), 50);
  EXPECT_TRUE(read_product_findings(write("no.json", "[{\"kernel\": 3}]"), 1, 0).empty());
}

TEST_F(Products, AKernelThatIsWrongOrLeftOutHasNoFigureAndTheOthersHave) {
  const Study s = study(kProducts + "vary: {kernel: [csr, ell, sell]}\nbaseline: {kernel: csr}\n");
  const StudyRun run = expand(s, folder / "none").front();
  write(kProductsFile,
        R"([{"kernel": "csr", "device": "cpu", "precision": "double", "rows": 3, "nnz": 7,
             "build_ms": 2, "median_us": 5, "cold_us": 6, "max_error": 0.5},
            {"kernel": "sell", "device": "cpu", "precision": "double", "rows": 3, "nnz": 7,
             "build_ms": 2, "median_us": 5, "cold_us": 6, "max_error": 1.5}])");
  write("stdout", "kernel build ms\nell: it would need too much memory\n");
  const auto results = results_of(s, run, record(1));
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].failure, "");
  EXPECT_EQ(results[1].failure, "wrong");
  EXPECT_EQ(results[2].failure, "left out");
  EXPECT_EQ(results[2].reason, "it would need too much memory");
  const Summary summary = summarise(s, results);
  EXPECT_EQ(summary.variants, (Words{"csr", "sell", "ell"}));
  EXPECT_EQ(summary.tables.at(0).means[1].count, 0);
}

TEST_F(Products, ARunThatLeftNothingHasAFailureForEachKernel) {
  const Study s = study(kProducts + "vary: {kernel: [csr, sell]}\nbaseline: {kernel: csr}\n");
  Record crashed = record(0);
  crashed.ended.how = End::signalled;
  crashed.ended.signal = 11;
  const auto results = results_of(s, expand(s, folder / "none").front(), crashed);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1].failure, "signal 11");
  EXPECT_EQ(results[1].finding.kernel, "sell");
}

TEST_F(Products, TheProgramIsFoundBesideSolve) {
  write("bin/kernel_bench", "");
  write("tree/kernel_bench/kernel_bench", "");
  EXPECT_EQ(bench_program(folder / "bin/solve"), folder / "bin/kernel_bench");
  EXPECT_EQ(bench_program(folder / "tree/solve/solve"), folder / "tree/kernel_bench/kernel_bench");
  EXPECT_EQ(bench_program(folder / "solve"), "kernel_bench");
}

}  // namespace
}  // namespace trireme::study
