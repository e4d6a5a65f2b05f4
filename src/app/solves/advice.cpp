// SPDX-License-Identifier: BSD-3-Clause
// The rules, by reason and matrix.
#include "app/solves/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "solvers/methods/list.hpp"

namespace trireme {
namespace {

constexpr int kAtLimit = -3, kDiverged = -4, kBreakdown = -5, kIndefinitePreconditioner = -8,
              kIndefiniteMatrix = -10;

bool is(solvers::Method method, const std::string& name) {
  const auto named = solvers::method_named(name);
  return named && named->method == method;
}
bool is_cg(const std::string& name) { return is(solvers::Method::cg, name); }
bool restarts(const std::string& name) {
  const auto named = solvers::method_named(name);
  return named && named->info.restarts;
}

bool needs_symmetry(const std::string& name) {
  const auto named = solvers::method_named(name);
  return named && named->info.symmetric;
}

std::string word_for(solvers::Method method) { return std::string(solvers::info_of(method).name); }
// The preconditioner for a matrix that Jacobi can or cannot divide by the diagonal of.
AnyPreconditioner simplest(bool divides) {
  return AnyPreconditioner(divides ? solvers::PreconditionerKind::jacobi
                                   : solvers::PreconditionerKind::none);
}

// The suggestions, the most promising one first, without what was tried.
class Suggestions {
 public:
  explicit Suggestions(const FailedSolve& failed) : failed_(failed) {}
  void method(const std::string& name) {
    if (name != failed_.method && !was_tried(name)) add("method " + name);
  }
  // A preconditioner that the case names would be that of all rungs of `method: auto`. Complete
  // factors are its last rung.
  void all_others() {
    if (!failed_.climbs)
      add(failed_.names_preconditioner ? "method auto with preconditioner auto" : "method auto");
    method(std::string(kDirect));
  }
  void preconditioner(const AnyPreconditioner& other) {
    const bool runs = failed_.preconditioner == other || failed_.block_preconditioner == other;
    if (!runs && std::ranges::find(failed_.left, other) == failed_.left.end())
      add("preconditioner " + other.name());
  }
  // For an indefinite matrix, for which few preconditioners are positive definite.
  void minres(bool divides) {
    const AnyPreconditioner serves = simplest(divides);
    const std::string minres = word_for(solvers::Method::minres);
    const bool runs = failed_.preconditioner == simplest(false) || failed_.preconditioner == serves;
    if (failed_.method != minres && !was_tried(minres))
      add("method " + minres + (runs ? "" : " with preconditioner " + serves.name()));
  }
  void add(const std::string& text) {
    constexpr std::size_t kMost = 4;
    if (texts_.size() < kMost) texts_.push_back(text);
  }
  std::string text() const {
    return texts_.empty() ? "" : fmt::format("; try {}", fmt::join(texts_, ", or "));
  }

 private:
  bool was_tried(const std::string& method) const {
    return std::ranges::find(failed_.tried, method) != failed_.tried.end();
  }

  const FailedSolve& failed_;
  std::vector<std::string> texts_;
};

}  // namespace

std::string advice(const FailedSolve& failed, const MatrixLook& matrix) {
  Suggestions suggestions(failed);
  const bool one_sign = matrix.all_positive() || matrix.all_negative();
  const bool divides = matrix.zero_diagonal == 0;  // by the diagonal
  std::string why;
  switch (failed.reason) {
    case kIndefinitePreconditioner:
      if (!matrix.symmetric()) {
        suggestions.method(word_for(solvers::Method::bicgstab));
      } else if (is_cg(failed.method)) {
        if (!one_sign) why = "; the diagonal has no one sign, so that the matrix is indefinite";
        suggestions.minres(divides);
      } else {
        suggestions.preconditioner(simplest(divides));
      }
      break;
    case kIndefiniteMatrix:
      if (!matrix.symmetric()) why = "; the matrix is not symmetric";
      if (matrix.symmetric())
        suggestions.minres(divides);
      else
        suggestions.method(word_for(solvers::Method::bicgstab));
      break;
    case kDiverged:
      why = fmt::format(
          "; the bound is {:.3g} times the larger of ||b|| and the first residual (petsc: "
          "{{ksp_divtol: {:.3g}}})",
          failed.divergence_bound, failed.divergence_bound);
      [[fallthrough]];
    default:
      if (failed.reason == kBreakdown && failed.resident && restarts(failed.method))
        why =
            fmt::format("; a cycle of {} iterations made the residual no smaller", failed.restart);
      if (!matrix.symmetric() && needs_symmetry(failed.method)) {
        why += "; the matrix is not symmetric, as the method needs it to be";
        suggestions.method(word_for(solvers::Method::bicgstab));
      } else if (is_cg(failed.method) && one_sign) {
        suggestions.preconditioner(AnyPreconditioner::multigrid());
      }
  }
  suggestions.all_others();
  if (restarts(failed.method))
    suggestions.add(fmt::format("solver.restart above {}", failed.restart));
  if (failed.reason == kAtLimit)
    suggestions.add(fmt::format("solver.max_iterations above {}", failed.max_iterations));
  return why + suggestions.text();
}

void add_clause(Verdict& verdict, const std::string& clause) {
  verdict.text.insert(std::min(verdict.text.rfind(" ("), verdict.text.size()), clause);
}

}  // namespace trireme
