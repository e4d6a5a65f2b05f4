// SPDX-License-Identifier: BSD-3-Clause
// Numbers with their units, and the sentences that the table and the page share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/wrap.hpp"
#include "report/outcome.hpp"

namespace trireme::words {

std::string count(std::int64_t number);  // 980, 206 k, 17.0 M, 1.20 G
std::string bytes(double number);        // 512 B, 1.5 kB, 210 MB, 1.20 GB
std::string seconds(double number);      // 15 us, 1.23 ms, 4.56 s, 3 min 20 s
std::string percent(double fraction);    // 87 %
std::string residual(double number);     // 9.8e-09; "nan" for NaN
// With `digits` digits after the point; "nan" for what is not finite.
std::string fixed(double number, int digits);

// "cant.h5 /A: 62451 x 62451, 4.01 M nonzeros, b: from-ones"
std::string problem(const ProblemDescription& problem);
// "b: /b (of the file), x0: /x0"
std::string vectors(const ProblemDescription& problem);
// "node1, Xeon 6248 (AVX3), 2 ranks x 1 thread, triad 33.3 GB/s"
std::string machine(const MachineDescription& machine);
// What a paper has to name, in one line: "The Trireme authors: Trireme 0.2.0 (commit 0123456789ab),
// built by GNU 12.2.0, with PETSc 3.18.5; run on 2026-11-28 on 2 ranks of Xeon 6248".
std::string citation(const CaseOutcome& outcome);
// "cg + jacobi to 1e-08, petsc engine, double, cpu"
std::string method(const RunOutcome& run);
// The names of the runs, in their order.
std::vector<std::string> labels(const CaseOutcome& outcome);
// Whether method() is the same for all runs, so that a report says it once.
bool one_method(const CaseOutcome& outcome);

// What the preprocessing of the kernel was worth against the plain one: "its 12 ms of preprocessing
// is paid back after 340 products (this run did 313)". Empty for the plain kernel itself and where
// no product was timed.
std::string break_even(const RunOutcome& run);
// The same for a line about the preparation: "12 ms, paid back after 340 products (this run did
// 313)".
std::string preparation(const RunOutcome& run);

// "not run after a signal: albus"; empty where every kernel ran.
std::string not_run(const CaseOutcome& outcome);
// "ell has no result: kernel 'ell' would pad ...", one line per refused kernel.
std::vector<std::string> refused(const CaseOutcome& outcome);

// The notes that every run has, which a report says once, and the further notes of one run.
std::vector<std::string> common_notes(const CaseOutcome& outcome);
std::vector<std::string> own_notes(const CaseOutcome& outcome, const RunOutcome& run);

// Time before the first product: building the layout and copying it to the device.
double preprocessing_seconds(const RunOutcome& run);

inline constexpr std::size_t kTextWidth = 80;  // columns of text where no terminal says its own

using trireme::wrap;

}  // namespace trireme::words
