// SPDX-License-Identifier: BSD-3-Clause
// Rules between keys.
#include "config/validate.hpp"

#include "base/error.hpp"

namespace trireme {
namespace {

class Checker {
 public:
  Checker(const Case& c, const Places& places) : case_(c), places_(places) {}

  void source() const {
    const bool file = given("problem.file"), generate = given("problem.generate");
    if (file && generate)
      fail(ExitCode::usage, "{}: problem.generate and problem.file exclude each other; keep one",
           places_.at("problem.generate"));
    if (!file && !generate)
      fail(ExitCode::usage,
           "{}: problem needs a file (file: matrix.h5) or a model problem "
           "(generate: poisson3d, n: 64)",
           given("problem") ? places_.at("problem") : case_.path.string());
    if (generate && !given("problem.n"))
      fail(ExitCode::usage, "{}: problem.generate needs problem.n, such as n: 64",
           places_.at("problem.generate"));
    for (const char* key : {"problem.n", "problem.k", "problem.seed"})
      if (file && given(key))
        fail(ExitCode::usage, "{}: {} goes with problem.generate, not with problem.file",
             places_.at(key), key);
    for (const char* key : {"problem.matrix", "problem.x0", "problem.x_exact"})
      if (generate && given(key))
        fail(ExitCode::usage, "{}: {} goes with problem.file, not with problem.generate",
             places_.at(key), key);
  }

  void datasets() const {
    const ProblemSpec& problem = case_.problem;
    const auto* b = std::get_if<Dataset>(&problem.rhs);
    if (b && problem.generated())
      fail(ExitCode::usage,
           "{}: problem.rhs '{}' is a dataset, but a generated problem has no "
           "file; use ones, random or from-ones",
           places_.at("problem.rhs"), b->name);
    const auto* source = std::get_if<SystemFile>(&problem.source);
    if (!source) return;
    must_be_dataset("problem.matrix", source->matrix);
    if (!source->x0.empty()) must_be_dataset("problem.x0", source->x0);
    if (!source->x_exact.empty()) must_be_dataset("problem.x_exact", source->x_exact);
  }

 private:
  bool given(const std::string& key) const { return places_.contains(key); }

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
  checker.datasets();
}

}  // namespace trireme
