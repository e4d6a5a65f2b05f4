// SPDX-License-Identifier: BSD-3-Clause
// Every figure of a study on one screen. A figure that a report does not have is left out.
#include "study/figures.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace trireme::study {
namespace {

using ParsedJson = nlohmann::json;

constexpr Figure kFigures[] = {
    {"product", "us", "one product, the median; with several vectors, of all of them"},
    {"singles", "us", "as many products of one vector as there are vectors, the median"},
    {"cold", "us", "one product with flushed caches, the median"},
    {"iteration", "us", "solving, over the iterations of all solves"},
    {"iterations", "", "of the last solve"},
    {"solve", "s", "iterating, all solves"},
    {"prepare", "s", "tuning, ordering, building, uploading and the set-up of the solver"},
    {"setup", "s", "the set-up of the preconditioner and the engine"},
    {"total", "s", "prepare + renew + solve: all but reading"},
    {"wall", "s", "the process from its start to its end"},
    {"memory", "MB", "peak memory of the largest process"},
};

double seconds(const ParsedJson& run, std::initializer_list<const char*> parts) {
  const ParsedJson& all = run.at("seconds");
  double sum = 0;
  for (const char* part : parts)
    if (const auto found = all.find(part); found != all.end() && found->is_number())
      sum += found->get<double>();
  return sum;
}

Finding finding(const ParsedJson& run, double wall, std::int64_t peak_memory) {
  Finding f;
  f.kernel = run.at("kernel");
  f.ordering = run.value("ordering", "");
  f.precision = run.at("precision");
  f.device = run.at("device");
  f.exit_code = run.at("exit_code");
  f.reason = run.at("reason");
  const ParsedJson& product = run.at("kernel_us");
  const auto add_if = [&](bool there, const char* name, const ParsedJson& number) {
    if (there && number.is_number()) f.figures[name] = number;
  };
  add_if(product.at("count") > 0, "product", product.at("median"));
  const std::int64_t iterations = run.at("iterations");
  f.figures["iterations"] = static_cast<double>(iterations);
  add_if(iterations > 0, "iteration", run.at("iteration_us"));
  f.figures["solve"] = seconds(run, {"solve"});
  f.figures["prepare"] = seconds(run, {"tune", "order", "build", "upload", "setup"});
  f.figures["setup"] = seconds(run, {"setup"});
  f.figures["total"] = f.figures["prepare"] + seconds(run, {"renew", "solve"});
  f.figures["wall"] = wall;
  f.figures["memory"] = static_cast<double>(peak_memory) * 1e-6;
  return f;
}

// Of one vector, or of several: these have `vectors`, and null under `together_us` where the kernel
// multiplies one vector only.
Finding finding_of_products(const ParsedJson& row) {
  Finding f;
  f.kernel = row.at("kernel");
  f.precision = row.at("precision");
  f.device = row.at("device");
  f.rows = row.at("rows");
  f.nnz = row.at("nnz");
  f.figures["prepare"] = 1e-3 * row.at("build_ms").get<double>();
  if (row.contains("vectors")) {
    const ParsedJson& together = row.at("together_us");
    f.figures["singles"] = row.at("singles_us");
    f.figures["product"] = together.is_number() ? together : row.at("singles_us");
  } else {
    f.figures["product"] = row.at("median_us");
    f.figures["cold"] = row.at("cold_us");
  }
  const ParsedJson& error = row.at("max_error");
  if (!error.is_number() || error > 1) {
    f.exit_code = static_cast<int>(ExitCode::internal);
    f.reason = "its product is wrong";
  }
  return f;
}

}  // namespace

const Figure* find_figure(std::string_view name) {
  const auto* found = std::ranges::find(kFigures, name, &Figure::name);
  return found == std::end(kFigures) ? nullptr : found;
}

std::vector<std::string_view> figure_names() {
  std::vector<std::string_view> names;
  for (const Figure& figure : kFigures) names.push_back(figure.name);
  return names;
}

std::vector<Finding> read_findings(const std::filesystem::path& report, double wall,
                                   std::int64_t peak_memory) {
  std::vector<Finding> findings;
  try {
    std::ifstream file(report);
    const ParsedJson json = ParsedJson::parse(file);
    for (const ParsedJson& run : json.at("runs")) {
      findings.push_back(finding(run, wall, peak_memory));
      findings.back().problem = json.at("problem").at("name");
      findings.back().rows = json.at("problem").at("rows");
      findings.back().nnz = json.at("problem").at("nnz");
    }
  } catch (const ParsedJson::exception&) {
    findings.clear();
  }
  return findings;
}

std::vector<Finding> read_product_findings(const std::filesystem::path& products, double wall,
                                           std::int64_t peak_memory) {
  std::vector<Finding> findings;
  try {
    std::ifstream file(products);
    for (const ParsedJson& row : ParsedJson::parse(file)) {
      findings.push_back(finding_of_products(row));
      findings.back().figures["wall"] = wall;
      findings.back().figures["memory"] = static_cast<double>(peak_memory) * 1e-6;
    }
  } catch (const ParsedJson::exception&) {
    findings.clear();
  }
  return findings;
}

}  // namespace trireme::study
