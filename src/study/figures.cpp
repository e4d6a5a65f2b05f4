// SPDX-License-Identifier: BSD-3-Clause
// Every figure of a study on one screen. A figure that a report does not have is left out.
#include "study/figures.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace trireme::study {
namespace {

using Json = nlohmann::json;

constexpr Figure kFigures[] = {
    {"product", "us", "one product, the median"},
    {"iteration", "us", "solving, over the iterations of all solves"},
    {"iterations", "", "of the last solve"},
    {"solve", "s", "iterating, all solves"},
    {"prepare", "s", "tuning, ordering, building, uploading and the set-up of the solver"},
    {"total", "s", "prepare + renew + solve: all but reading"},
    {"wall", "s", "the process from its start to its end"},
    {"memory", "MB", "peak memory of the largest process"},
};

double seconds(const Json& run, std::initializer_list<const char*> parts) {
  const Json& all = run.at("seconds");
  double sum = 0;
  for (const char* part : parts)
    if (const auto found = all.find(part); found != all.end() && found->is_number())
      sum += found->get<double>();
  return sum;
}

Finding finding(const Json& run, double wall, std::int64_t peak_memory) {
  Finding f;
  f.kernel = run.at("kernel");
  f.ordering = run.value("ordering", "");
  f.precision = run.at("precision");
  f.device = run.at("device");
  f.exit_code = run.at("exit_code");
  f.reason = run.at("reason");
  const Json& product = run.at("kernel_us");
  const auto add_if = [&](bool there, const char* name, const Json& number) {
    if (there && number.is_number()) f.figures[name] = number;
  };
  add_if(product.at("count") > 0, "product", product.at("median"));
  const std::int64_t iterations = run.at("iterations");
  f.figures["iterations"] = static_cast<double>(iterations);
  add_if(iterations > 0, "iteration", run.at("iteration_us"));
  f.figures["solve"] = seconds(run, {"solve"});
  f.figures["prepare"] = seconds(run, {"tune", "order", "build", "upload", "setup"});
  f.figures["total"] = f.figures["prepare"] + seconds(run, {"renew", "solve"});
  f.figures["wall"] = wall;
  f.figures["memory"] = static_cast<double>(peak_memory) * 1e-6;
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
    const Json json = Json::parse(file);
    for (const Json& run : json.at("runs")) {
      findings.push_back(finding(run, wall, peak_memory));
      findings.back().problem = json.at("problem").at("name");
      findings.back().rows = json.at("problem").at("rows");
      findings.back().nnz = json.at("problem").at("nnz");
    }
  } catch (const Json::exception&) {
    findings.clear();
  }
  return findings;
}

}  // namespace trireme::study
