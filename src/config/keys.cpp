// SPDX-License-Identifier: BSD-3-Clause
// Every key of case.yaml on one screen. To add a key: add its member to Case and its line here.
#include "config/keys.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include "kernels/registry.hpp"

namespace trireme {
namespace {

using std::string;
using Strings = std::vector<string>;

Strings kernel_names() {
  Strings names = {string(kAuto), string(kPetscAij)};
  for (const KernelEntry& kernel : kernel_registry()) names.emplace_back(kernel.name);
  return names;
}

Strings generator_kinds() {
  const auto names = generator_names();
  return {names.begin(), names.end()};
}

// The alternative of the source that a key belongs to; keys of both are refused later.
template <class Source>
Source& source_as(Case& c) {
  if (auto* source = std::get_if<Source>(&c.problem.source)) return *source;
  return c.problem.source.emplace<Source>();
}
GenerateSpec& generate_of(Case& c) { return source_as<GenerateSpec>(c); }
SystemFile& file_of(Case& c) { return source_as<SystemFile>(c); }

// How an enumeration of base/choices.hpp is read and printed.
template <class Value>
struct Words {
  static Strings known() {
    Strings words;
    for (const auto& entry : WordsOf<Value>::all) words.emplace_back(entry.word);
    return words;
  }
  static Value value(std::string_view word) { return *choice_of<Value>(word); }
};
// Likewise where the choice may be left open: the empty value is auto.
template <class Value>
struct Words<std::optional<Value>> {
  static Strings known() {
    Strings words = Words<Value>::known();
    words.insert(words.begin(), string(kAuto));
    return words;
  }
  static std::optional<Value> value(std::string_view word) { return choice_of<Value>(word); }
};

// The field of one choice; `at` returns where it is in a Case.
template <class At>
constexpr field::Choice choice(At) {
  using Value = std::remove_reference_t<std::invoke_result_t<At, Case&>>;
  return {Words<Value>::known,
          [](Case& c, std::string_view word) { At{}(c) = Words<Value>::value(word); },
          [](Case& c) { return string(to_string(At{}(c))); }};
}

// Likewise for a list of choices.
template <class At>
constexpr field::ChoiceList choices(At) {
  using Value = typename std::remove_reference_t<std::invoke_result_t<At, Case&>>::value_type;
  return {Words<Value>::known,
          [](Case& c, const Strings& words) {
            At{}(c).clear();
            for (const string& word : words) At{}(c).push_back(Words<Value>::value(word));
          },
          [](Case& c) {
            Strings words;
            for (const Value value : At{}(c)) words.emplace_back(to_string(value));
            return words;
          }};
}

constexpr std::int64_t kMaxRows = std::numeric_limits<std::int32_t>::max();

constexpr std::array kKeys = {
    Key{"problem", field::Section{}, "", "where the linear system A x = b comes from"},
    Key{"problem.file", field::File{[](Case& c) -> decltype(auto) { return (file_of(c).file); }},
        "",
        "file such as HDF5 (.h5), Matrix Market (.mtx, .mtx.gz) or PETSc binary (problem --help "
        "lists every format), relative to the folder of this case; or use problem.generate"},
    Key{"problem.generate",
        field::Text{[](Case& c) -> string& { return generate_of(c).kind; }, generator_kinds}, "",
        "model problem made in memory, each rank its rows, in place of problem.file"},
    Key{"problem.n",
        field::Integer{[](Case& c) -> decltype(auto) { return (generate_of(c).n); }, 1, kMaxRows},
        "", "with generate: grid points a side, rows, or the scale of rmat"},
    Key{"problem.k",
        field::Integer{[](Case& c) -> decltype(auto) { return (generate_of(c).k); }, 1, kMaxRows},
        "", "with generate: nonzeros a row (random) or edge factor (rmat)"},
    Key{"problem.seed",
        field::Seed{[](Case& c) -> decltype(auto) { return (generate_of(c).seed); }}, "",
        "with generate: seed of everything random"},
    Key{"problem.matrix", field::Text{[](Case& c) -> string& { return file_of(c).matrix; }}, "",
        "HDF5 group of the matrix: attributes format and shape, datasets indptr, indices, data; a "
        "file of another format holds one matrix and needs no name"},
    Key{"problem.rhs", field::Rhs{[](Case& c) -> decltype(auto) { return (c.problem.rhs); }}, "",
        "right-hand side b: a dataset such as /b (in a PETSc binary file: the vector after the "
        "matrix), or ones, random, from-ones (b = A 1, so the "
        "error is known)"},
    Key{"problem.x0", field::Text{[](Case& c) -> string& { return file_of(c).x0; }}, "",
        "dataset of the initial guess; empty: start from zero"},
    Key{"problem.x_exact", field::Text{[](Case& c) -> string& { return file_of(c).x_exact; }}, "",
        "dataset of the known solution, to report the error; empty: unknown"},

    Key{"solver", field::Section{}, "", "the Krylov method and when it stops"},
    Key{"solver.method", field::Text{[](Case& c) -> string& { return c.solver.method; }}, "",
        "cg (symmetric positive definite), bicgstab (any), or a PETSc KSP name such as gmres"},
    Key{"solver.engine", choice([](Case& c) -> decltype(auto) { return (c.solver.engine); }), "",
        "petsc: PETSc's solver; resident: Trireme's fused loop (cg and bicgstab); auto: decide"},
    Key{"solver.preconditioner",
        field::Text{[](Case& c) -> string& { return c.solver.preconditioner; }}, "",
        "none, jacobi, pbjacobi, vpbjacobi, trireme_chebyshev (cg), or any other PETSc PC name "
        "such "
        "as ilu, icc, gamg, hypre"},
    Key{"solver.rtol", field::Real{[](Case& c) -> double& { return c.solver.rtol; }, 0, 1},
        "of ||b||",
        "stop when the residual norm ||b - A x|| falls below this part of ||b||; where b = 0, of "
        "||A x0||"},
    Key{"solver.atol", field::Real{[](Case& c) -> double& { return c.solver.atol; }}, "units of b",
        "stop when the residual norm ||b - A x|| falls below this"},
    Key{"solver.max_iterations",
        field::Integer{[](Case& c) -> decltype(auto) { return (c.solver.max_iterations); }, 0,
                       kMaxRows},
        "iterations", "stop unconverged (exit code 5, the report is written) after this many"},

    Key{"kernel", field::TextList{[](Case& c) -> Strings& { return c.kernels; }, kernel_names}, "",
        "sparse matrix-vector product: auto or a name of solve --list-kernels; a list compares "
        "them in one run"},
    Key{"device", choice([](Case& c) -> decltype(auto) { return (c.device); }), "",
        "where the kernel runs", "a GPU is cuda"},
    Key{"precision", choices([](Case& c) -> decltype(auto) { return (c.precisions); }), "",
        "of the matrix; mixed: the loop's product reads values in FP32, vectors, sums and "
        "corrections "
        "of the residual are FP64, so rtol holds for b - A x (resident engine). A list compares "
        "them in one run; what has no mixed kernel then runs in double only",
        "float alone is not offered, as vectors in FP32 stall near 1e-6; mixed has only the matrix "
        "in FP32"},
    Key{"repeat",
        field::Integer{[](Case& c) -> decltype(auto) { return (c.repeat); }, 1, 1'000'000'000},
        "solves", "solves on the same matrix, over which preprocessing is amortised"},

    Key{"report", field::Section{}, "", "what is written, and where"},
    Key{"report.directory",
        field::Directory{[](Case& c) -> decltype(auto) { return (c.report.directory); }}, "",
        "relative to the current directory; made when missing"},
    Key{"report.formats", choices([](Case& c) -> decltype(auto) { return (c.report.formats); }), "",
        "report.json, history.csv, report.html"},
    Key{"report.solution", field::Flag{[](Case& c) -> bool& { return c.report.solution; }}, "",
        "write solution.h5 (solution-<kernel>.h5, solution-<kernel>-mixed.h5 when several are "
        "compared)"},
    Key{"report.checkpoint",
        field::Duration{[](Case& c) -> double& { return c.report.checkpoint; }},
        "hours, minutes, seconds",
        "write state.h5, from which solve --resume goes on, at most that often while a solve runs, "
        "and no more often than costs 1 % of the time; by default only at the end of a run that "
        "has not converged"},

    Key{"petsc", field::PetscOptions{}, "",
        "PETSc options without their dash, nested by '_': {ksp: {view: true}} is -ksp_view true"},
};

constexpr std::array kOwned = {
    OwnedOption{"ksp_type", "solver.method"},
    OwnedOption{"ksp_rtol", "solver.rtol"},
    OwnedOption{"ksp_atol", "solver.atol"},
    OwnedOption{"ksp_max_it", "solver.max_iterations"},
    OwnedOption{"ksp_initial_guess_nonzero", "problem.x0"},
    OwnedOption{"pc_type", "solver.preconditioner"},
    OwnedOption{"mat_type", "kernel"},
    OwnedOption{"vec_type", "device"},
};

}  // namespace

std::span<const Key> case_keys() { return kKeys; }

const Key* find_key(std::string_view path) {
  const auto found = std::ranges::find(kKeys, path, &Key::path);
  return found == kKeys.end() ? nullptr : &*found;
}

std::vector<std::string> names_under(std::string_view section) {
  const std::string prefix = section.empty() ? "" : std::string(section) + ".";
  Strings names;
  for (const Key& key : kKeys) {
    if (!key.path.starts_with(prefix)) continue;
    const std::string_view rest = key.path.substr(prefix.size());
    if (!rest.empty() && rest.find('.') == std::string_view::npos) names.emplace_back(rest);
  }
  return names;
}

std::span<const OwnedOption> owned_petsc_options() { return kOwned; }

}  // namespace trireme
