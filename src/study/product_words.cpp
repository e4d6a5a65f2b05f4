// SPDX-License-Identifier: BSD-3-Clause
// Most keys are options of the same name; the problem is the first word.
#include "study/product_words.hpp"

#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "kernels/registry.hpp"
#include "sparse/generators.hpp"

namespace trireme::study {
namespace {

namespace fs = std::filesystem;

struct ProductKey {
  std::string_view key;     // of the study
  std::string_view option;  // of kernel_bench; empty: the matrix
};

constexpr ProductKey kProductKeys[] = {
    {kFileKey, ""},           {kGenerateKey, ""},       {"problem.matrix", "--matrix"},
    {"problem.n", "--n"},     {"problem.k", "--k"},     {"problem.seed", "--seed"},
    {"kernel", "--kernels"},  {"device", "--device"},   {"precision", "--precision"},
    {"vectors", "--vectors"}, {"seconds", "--seconds"},
};
constexpr std::string_view kDevices[] = {"cpu", "cuda"};
constexpr std::string_view kPrecisions[] = {"double", "float", "mixed", "half", "int"};

void require_known(const Setting& setting, std::span<const std::string_view> known) {
  if (std::ranges::find(known, setting.text) == known.end())
    fail(ExitCode::usage, "{}: {} '{}' is unknown to a study of products; known: {}",
         setting.origin, setting.key, setting.text, fmt::join(known, ", "));
}

[[noreturn]] void refuse(const Setting& setting) {
  std::vector<std::string_view> known;
  for (const ProductKey& key : kProductKeys) known.push_back(key.key);
  const auto near = nearest(setting.key, known);
  fail(ExitCode::usage,
       "{}: '{}' is no key of a study of products{}; its keys are {}, program, options and "
       "threads",
       setting.origin, setting.key, near ? fmt::format("; did you mean '{}'?", *near) : "",
       fmt::join(known, ", "));
}

void check(const Setting& setting) {
  if (setting.key == kGenerateKey) require_known(setting, generator_names());
  if (setting.key == "device") require_known(setting, kDevices);
  if (setting.key == "precision") require_known(setting, kPrecisions);
  if (setting.key == "kernel")
    for (const std::string& name : kernels_of({setting})) try {
        find_kernel(name);
      } catch (const Error& error) {
        fail(ExitCode::usage, "{}: {}", setting.origin, error.what());
      }
}

}  // namespace

std::vector<std::string> kernels_of(const Value& settings) {
  const auto setting = std::ranges::find(settings, std::string_view("kernel"),
                                         [](const Setting& s) { return std::string_view(s.key); });
  if (setting == settings.end()) return {};
  const YAML::Node node = YAML::Load(setting->yaml);
  std::vector<std::string> names;
  if (node.IsScalar()) names.push_back(node.Scalar());
  for (const YAML::Node& item : node) names.push_back(item.Scalar());
  return names;
}

std::vector<std::string> product_words(const Value& settings) {
  std::optional<std::string> matrix;
  std::vector<std::string> words;
  for (const Setting& setting : settings) {
    const auto* key = std::ranges::find(kProductKeys, setting.key, &ProductKey::key);
    if (key == std::end(kProductKeys)) refuse(setting);
    check(setting);
    if (key->option.empty()) {
      if (matrix)
        fail(ExitCode::usage, "{}: {} and {} exclude each other; keep one", setting.origin,
             kFileKey, kGenerateKey);
      matrix = setting.text;
      continue;
    }
    words.emplace_back(key->option);
    words.push_back(setting.key == "kernel"
                        ? fmt::format("{}", fmt::join(kernels_of({setting}), ","))
                        : setting.text);
  }
  if (!matrix)
    fail(ExitCode::usage, "a study of products needs {} or {} in each run", kFileKey, kGenerateKey);
  words.insert(words.begin(), *matrix);
  return words;
}

fs::path bench_program(const fs::path& solve) {
  const fs::path folder = solve.parent_path();
  std::error_code unknown;
  for (const fs::path& place :
       {folder / "kernel_bench", folder.parent_path() / "kernel_bench/kernel_bench"})
    if (fs::is_regular_file(place, unknown)) return place;
  return "kernel_bench";
}

}  // namespace trireme::study
