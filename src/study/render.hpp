// SPDX-License-Identifier: BSD-3-Clause
// Summary -> what people and programs read. Each text ends with a newline.
#pragma once

#include <string>
#include <vector>

#include "study/summary.hpp"

namespace trireme::study {

std::string terminal_summary(const Summary& summary);  // at most 80 columns
std::string markdown_summary(const Summary& summary);  // tables for a page of documentation
std::string html_summary(const Summary& summary);      // one page without external parts
std::string json_summary(const Summary& summary);      // schema 1

// runs.csv: one line per run and kernel, with its settings, its verdict and all its figures.
std::string csv_of_runs(const std::vector<Result>& results);

// Three significant digits: "812", "8.12", "0.00812", "1.2e+07".
std::string three_digits(double number);
std::string ratio_text(double ratio);  // "1.27x"
// What is divided by what: "csr over this one".
std::string ratio_words(const Summary& summary);
// "product, us": the figure with its unit, and what several repetitions became.
std::string heading(const Figure& figure, std::int64_t repeat);

}  // namespace trireme::study
