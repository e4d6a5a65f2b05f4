// SPDX-License-Identifier: BSD-3-Clause
// What a run of a study found: the figures of its report.json, or of kernel_bench.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::study {

// A figure that a study can compare. Less is better for all of them.
struct Figure {
  std::string_view name;  // "product"
  std::string_view unit;  // of tables: "us"; empty for a count
  std::string_view description;
};

// Null where there is no such figure.
const Figure* find_figure(std::string_view name);
std::vector<std::string_view> figure_names();

// One of the runs that a report.json has, or one of the kernels that kernel_bench measured.
struct Finding {
  std::string kernel, ordering, precision, device;  // as they ran
  int exit_code = 0;
  std::string reason;
  std::string problem;  // the name in the report
  std::int64_t rows = 0, nnz = 0;
  std::map<std::string, double, std::less<>> figures;  // by name, in their units
};

// The runs of a report, in their order. `wall` is the duration of the process in seconds, and
// `peak_memory` the bytes of its largest process. Empty where the file is missing or is no report.
std::vector<Finding> read_findings(const std::filesystem::path& report, double wall,
                                   std::int64_t peak_memory);

// The same for what kernel_bench wrote with --json, of one vector or of several.
std::vector<Finding> read_product_findings(const std::filesystem::path& products, double wall,
                                           std::int64_t peak_memory);

}  // namespace trireme::study
