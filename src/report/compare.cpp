// SPDX-License-Identifier: BSD-3-Clause
// Two JSON files side by side.
#include "report/compare.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "report/noise.hpp"
#include "report/read_report.hpp"
#include "report/words.hpp"

namespace trireme {
namespace {

using ParsedJson = nlohmann::json;

// A value as people read it, on one line; what the report does not have is "-".
std::string shown(const ParsedJson& object, const ParsedJson::json_pointer& key) {
  if (!object.contains(key) || object[key].is_null()) return "-";
  const ParsedJson& value = object[key];
  return printable_line(value.is_string() ? value.get<std::string>() : value.dump());
}

std::optional<double> number(const ParsedJson& run, const char* key) {
  const ParsedJson::json_pointer at(key);
  if (!run.contains(at) || !run[at].is_number()) return std::nullopt;
  return run[at].get<double>();
}

std::vector<double> numbers(const ParsedJson& run, const char* key) {
  std::vector<double> found;
  if (run.contains(key) && run[key].is_array())
    for (const ParsedJson& value : run[key])
      if (value.is_number()) found.push_back(value.get<double>());
  return found;
}

struct Names {
  const char* key;
  const char* name;
};

// The lines of those keys whose values differ.
std::string differences(const ParsedJson& before, const ParsedJson& after,
                        const std::vector<Names>& keys) {
  std::string text;
  for (const auto& [key, name] : keys) {
    const ParsedJson::json_pointer at(key);
    const std::string a = shown(before, at), b = shown(after, at);
    if (a == b) continue;
    const auto line = fmt::format("{}: {} -> {}", name, a.empty() ? "-" : a, b.empty() ? "-" : b);
    text += "  " + words::wrap(line, words::kTextWidth - 2, 4) + "\n";
  }
  return text;
}

std::string differences(const ParsedJson& before, const ParsedJson& after) {
  std::string text = differences(before, after,
                                 {{"/machine/versions/trireme", "Trireme"},
                                  {"/machine/versions/petsc", "PETSc"},
                                  {"/machine/versions/hdf5", "HDF5"},
                                  {"/machine/versions/mpi", "MPI"},
                                  {"/machine/versions/commit", "commit"},
                                  {"/machine/versions/compiler", "compiler"},
                                  {"/machine/versions/cuda", "CUDA"},
                                  {"/machine/versions/driver", "GPU driver"},
                                  {"/machine/host", "host"},
                                  {"/machine/cpu", "CPU"},
                                  {"/machine/gpu", "GPU"},
                                  {"/machine/simd", "SIMD"},
                                  {"/machine/ranks", "ranks"},
                                  {"/machine/threads_per_rank", "threads per rank"},
                                  {"/problem/name", "problem"},
                                  {"/problem/rows", "rows"},
                                  {"/problem/nnz", "nonzeros"},
                                  {"/problem/rhs", "b"},
                                  {"/problem/x0", "x0"},
                                  {"/problem/pattern_hash", "hash of the pattern"},
                                  {"/problem/values_hash", "hash of the values"}});
  const ParsedJson::json_pointer the_case("/case");
  if (shown(before, the_case) != shown(after, the_case)) text += "  the case has another text\n";
  return text.empty() ? "same versions, machine, problem and case\n"
                      : "what is different:\n" + text;
}

std::string label_of(const ParsedJson& run) {
  const std::string precision = shown(run, ParsedJson::json_pointer("/precision"));
  return shown(run, ParsedJson::json_pointer("/kernel")) +
         (precision == "double" ? "" : "-" + precision) + " on " +
         shown(run, ParsedJson::json_pointer("/device"));
}

std::string row(const char* name, const std::string& before, const std::string& after,
                const std::string& ratio, const std::string& verdict) {
  const std::string text = fmt::format("  {:<13} {:>10} {:>10} {:>7}", name, before, after, ratio);
  if (verdict.empty()) return text + "\n";
  const bool fits = text.size() + 2 + verdict.size() <= words::kTextWidth;
  return text + (fits ? "  " : "\n    ") + verdict + "\n";
}

std::string line(const char* name, const std::string& before, const std::string& after,
                 std::optional<double> ratio, const std::string& verdict) {
  return row(name, before, after,
             ratio && std::isfinite(*ratio) ? fmt::format("{:.3f}", *ratio) : "-", verdict);
}

std::string times(const char* name, std::optional<double> a, std::optional<double> b, double unit,
                  const std::string& verdict) {
  if (!a || !b || (*a == 0 && *b == 0)) return "";
  return line(name, words::seconds(*a * unit), words::seconds(*b * unit),
              *a > 0 ? std::optional(*b / *a) : std::nullopt, verdict);
}

std::string figures(const ParsedJson& before, const ParsedJson& after) {
  std::string text = row("", "before", "after", "ratio", "");
  const auto product_a = numbers(before, "product_us"), product_b = numbers(after, "product_us");
  text += times("one product", number(before, "/kernel_us/median"),
                number(after, "/kernel_us/median"), 1e-6, verdict_on_noise(product_a, product_b));
  text += times("one iteration", number(before, "/iteration_us"), number(after, "/iteration_us"),
                1e-6, "");
  const auto solves_a = numbers(before, "solve_seconds"),
             solves_b = numbers(after, "solve_seconds");
  text += times("solves", number(before, "/seconds/solve"), number(after, "/seconds/solve"), 1,
                verdict_on_noise(solves_a, solves_b));
  for (const auto& [key, name] : std::vector<Names>{{"/seconds/read", "read"},
                                                    {"/seconds/tune", "tune"},
                                                    {"/seconds/scale", "scaling"},
                                                    {"/seconds/order", "order"},
                                                    {"/seconds/build", "build"},
                                                    {"/seconds/upload", "upload"},
                                                    {"/seconds/setup", "set-up"},
                                                    {"/seconds/renew", "renew"}})
    text += times(name, number(before, key), number(after, key), 1, "");
  const auto i = number(before, "/iterations"), j = number(after, "/iterations");
  if (i && j)
    text += line("iterations", fmt::format("{:.0f}", *i), fmt::format("{:.0f}", *j),
                 *i > 0 ? std::optional(*j / *i) : std::nullopt, *i == *j ? "the same" : "");
  const auto r = number(before, "/relative_residual"), s = number(after, "/relative_residual");
  text += line("true residual", r ? words::residual(*r) : "nan", s ? words::residual(*s) : "nan",
               r && s && *r > 0 ? std::optional(*s / *r) : std::nullopt, "");
  return text;
}

std::string run_text(const ParsedJson& before, const ParsedJson& after) {
  const std::string a = label_of(before), b = label_of(after);
  std::string text = "\n" + (a == b ? a : a + " -> " + b) + "\n";
  text += differences(before, after,
                      {{"/ordering", "order of rows"},
                       {"/method", "method"},
                       {"/engine", "engine"},
                       {"/preconditioner", "preconditioner"},
                       {"/rtol", "rtol"},
                       {"/reason", "end"}});
  return text + figures(before, after);
}

}  // namespace

std::string compare_reports(const std::filesystem::path& before,
                            const std::filesystem::path& after) {
  const ParsedJson a = parsed_report(before), b = parsed_report(after);
  std::string text =
      words::wrap(fmt::format("{} -> {}", before.string(), after.string()), words::kTextWidth, 2) +
      "\n" + differences(a, b);
  const ParsedJson &old_runs = a["runs"], &new_runs = b["runs"];
  if (old_runs.size() == 1 && new_runs.size() == 1)
    return text + run_text(old_runs[0], new_runs[0]);
  std::vector<bool> matched(new_runs.size());
  for (const ParsedJson& old_run : old_runs) {
    std::size_t found = 0;
    while (found < new_runs.size() &&
           (matched[found] || label_of(new_runs[found]) != label_of(old_run)))
      ++found;
    if (found == new_runs.size()) {
      text += fmt::format("\n{}: only before\n", label_of(old_run));
      continue;
    }
    matched[found] = true;
    text += run_text(old_run, new_runs[found]);
  }
  for (std::size_t i = 0; i < new_runs.size(); ++i)
    if (!matched[i]) text += fmt::format("\n{}: only after\n", label_of(new_runs[i]));
  return text;
}

}  // namespace trireme
