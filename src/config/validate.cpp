// SPDX-License-Identifier: BSD-3-Clause
// Rules between keys.
#include "config/validate.hpp"

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "config/keys.hpp"

namespace trireme {
namespace {

class Checker {
 public:
  Checker(const Case& c, const Places& places) : case_(c), places_(places) {}

  void source() const {
    const bool file = given(kFileKey), generate = given(kGenerateKey);
    if (file && generate)
      fail(ExitCode::usage, "{}: problem.generate and problem.file exclude each other; keep one",
           places_.at("problem.generate"));
    if (!file && !generate)
      fail(ExitCode::usage,
           "{}: problem needs a file (file: matrix.h5) or a model problem "
           "(generate: poisson3d, n: 64)",
           given("problem") ? *place_of("problem") : case_.path.string());
    if (generate && !given("problem.n"))
      fail(ExitCode::usage, "{}: problem.generate needs problem.n, such as n: 64",
           places_.at("problem.generate"));
  }

  // Comes after source().
  void companions() const {
    const std::string_view source = given(kFileKey) ? kFileKey : kGenerateKey;
    for (const Key& key : case_keys()) {
      if (key.needs.empty() && key.excludes.empty()) continue;
      const std::string* const place = place_of(key.path);
      if (place && !key.needs.empty() && !given(key.needs))
        fail(ExitCode::usage, "{}: {} goes with {}{}", *place, key.path, key.needs,
             is_source(key.needs) ? fmt::format(", not with {}", source) : "");
      if (place && !key.excludes.empty() && given(key.excludes))
        fail(ExitCode::usage, "{}: {} does not go with {}; remove it", *place, key.path,
             key.excludes);
    }
  }

  void datasets() const {
    const ProblemSpec& problem = case_.problem;
    const auto* b = problem.rhs ? std::get_if<Dataset>(&*problem.rhs) : nullptr;
    if (b && problem.generated())
      fail(ExitCode::usage,
           "{}: problem.rhs '{}' is a dataset, but a generated problem has no "
           "file; use ones, random or from-ones",
           places_.at("problem.rhs"), b->name);
    if (problem.rhs_count > 1 && problem.rhs != RightHandSide(MadeRhs::random))
      fail(ExitCode::usage, "{}: problem.rhs_count goes with problem.rhs: random",
           places_.at("problem.rhs_count"));
    const auto* source = std::get_if<SystemFile>(&problem.source);
    if (!source) return;
    must_be_dataset("problem.matrix", source->matrix);
    if (!source->x_exact.empty()) must_be_dataset("problem.x_exact", source->x_exact);
    const auto named = [&](const std::string& key, const std::string& name) {
      if (name.empty() || name == kNoDataset) return false;
      must_be_dataset(key, name);
      return true;
    };
    const bool coordinates = named("problem.coordinates", source->coordinates);
    if (named("problem.near_nullspace", source->near_nullspace) && coordinates)
      fail(ExitCode::usage,
           "{}: problem.coordinates and problem.near_nullspace exclude each other; keep one",
           places_.at("problem.near_nullspace"));
  }

  void multigrid() const {
    const MultigridSpec& asked = case_.solver.multigrid;
    constexpr std::int64_t kMaxChebyshev = 4;
    if (asked.smoother == Smoother::chebyshev && asked.degree > kMaxChebyshev)
      fail(ExitCode::usage,
           "{}: solver.multigrid.degree must be at most {} with smoother chebyshev, not {}",
           places_.at("solver.multigrid.degree"), kMaxChebyshev, asked.degree);
  }

  void sequence() const {
    const std::vector<StepEntry>& steps = case_.problem.steps;
    if (!steps.empty() && case_.repeat > 1)
      fail(ExitCode::usage, "{}: repeat and problem.steps exclude each other; keep one",
           places_.at("repeat"));
    for (const StepEntry& step : steps) entry(step);
  }

 private:
  void entry(const StepEntry& step) const {
    const auto refuse = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
      fail(ExitCode::usage, "{}: problem.steps: {}",
           step.place.empty() ? *place_of("problem.steps") : step.place,
           fmt::format(format, std::forward<Args>(args)...));
    };
    const bool counted = step.count > 0;
    bool numbered = false;
    for (const std::string& name :
         {step.file.string(), step.matrix, step.values, names_in(step.rhs)})
      numbered = numbered || name.find("{}") != std::string::npos;
    if (!step.values.empty() && !step.matrix.empty())
      refuse("an entry names values or matrix, not both");
    for (const std::string& name : {step.values, step.matrix})
      if (!name.empty() && !name.starts_with('/'))
        refuse("'{}' must begin with '/', such as /{}", name, name);
    const bool of_the_file = step.rhs && std::holds_alternative<Dataset>(*step.rhs);
    const bool dataset = !step.values.empty() || !step.matrix.empty() || of_the_file;
    if (!step.file.empty() && !dataset)
      refuse("an entry with file also says what to read: values, matrix or rhs");
    if (case_.problem.generated() && step.file.empty() && dataset)
      refuse("a generated problem has no file; the entry needs file");
    if (numbered && !counted) refuse("{{}} stands for a number, which needs count");
    const bool of_its_own = step.rhs && std::holds_alternative<VectorFile>(*step.rhs);
    if (counted && !dataset && !of_its_own)
      refuse("an entry with count also says what to read: values, matrix or rhs");
    if (counted && !step.matrix.empty() && !numbered)
      refuse("with count the matrix or the file needs {{}} in its name");
  }

  // The name of the dataset, or of the file and its dataset. Empty for a right-hand side that is
  // made.
  static std::string names_in(const std::optional<RightHandSide>& rhs) {
    if (!rhs || std::holds_alternative<MadeRhs>(*rhs)) return "";
    const auto* vectors = std::get_if<VectorFile>(&*rhs);
    return vectors ? vectors->file.string() + vectors->name : std::get<Dataset>(*rhs).name;
  }

  // Of the key, or of one under it; null: neither is given.
  const std::string* place_of(std::string_view key) const {
    const auto found = std::ranges::find_if(places_, [&](const auto& entry) {
      return (entry.first + ".").starts_with(fmt::format("{}.", key));
    });
    return found == places_.end() ? nullptr : &found->second;
  }
  bool given(std::string_view key) const { return place_of(key) != nullptr; }

  void must_be_dataset(const std::string& key, const std::string& name) const {
    if (!name.starts_with('/'))
      fail(ExitCode::usage, "{}: {} '{}' must begin with '/', such as /{}", places_.at(key), key,
           name, name);
  }

  const Case& case_;
  const Places& places_;
};

}  // namespace

void check_whole(const Case& c, const Places& places) {
  const Checker checker(c, places);
  checker.source();
  checker.companions();
  checker.datasets();
  checker.multigrid();
  checker.sequence();
}

void take_dependent_defaults(Case& c, const Places& places) {
  SolverSpec& solver = c.solver;
  if ((solver.is_direct() || solver.chooses_method()) && !places.contains("solver.preconditioner"))
    solver.preconditioner.reset();
  solver.measure_variant = !c.reproducible;
}

}  // namespace trireme
