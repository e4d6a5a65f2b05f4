// SPDX-License-Identifier: BSD-3-Clause
// Every key of case.yaml on one screen. To add a key: add its member to Case and its row here,
// which says which later runs depend on it.
#include "config/keys.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include "config/solver_words.hpp"
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

// The entry of problem.steps that is being read.
StepEntry& step_of(Case& c) {
  if (c.problem.steps.empty()) c.problem.steps.emplace_back();
  return c.problem.steps.back();
}
void clear_steps(Case& c) { c.problem.steps.clear(); }
void append_step(Case& c, const string& place) { c.problem.steps.emplace_back().place = place; }

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

constexpr PartOf kNothing = PartOf::nothing, kRun = PartOf::resumed_run;
constexpr PartOf kChoice = PartOf::kernel_choice, kIterations = PartOf::iterations;

// `preconditioner: auto` begins with another one, and may come to multigrid.
bool may_use_multigrid(const Case& c) {
  return !c.solver.preconditioner || c.solver.preconditioner->is_multigrid();
}

constexpr std::array kKeys = {
    Key{"problem", field::Section{}, kNothing, "", "the linear system A x = b"},
    Key{kFileKey, field::File{[](Case& c) -> decltype(auto) { return (file_of(c).file); }},
        kNothing, "",
        "file such as HDF5 (.h5), Matrix Market (.mtx, .mtx.gz) or PETSc binary (problem --help "
        "lists every format), relative to the folder of this case; or use problem.generate"},
    Key{kGenerateKey,
        field::Text{[](Case& c) -> string& { return generate_of(c).kind; }, generator_kinds},
        kNothing, "",
        "model problem that is made in memory, by each rank its own rows, in place of "
        "problem.file"},
    Key{"problem.n",
        field::Integer{[](Case& c) -> decltype(auto) { return (generate_of(c).n); }, 1, kMostRows},
        kNothing, "",
        "with generate: points, elements or cells per side, number of rows, or the scale of rmat"}
        .needing(kGenerateKey)
        .such_as("64"),
    Key{"problem.k",
        field::Integer{[](Case& c) -> decltype(auto) { return (generate_of(c).k); }, 1, kMaxRows},
        kNothing, "",
        "with generate: nonzeros per row (random), edge factor (rmat), columns on either side "
        "(bands)"}
        .needing(kGenerateKey),
    Key{"problem.seed",
        field::Seed{[](Case& c) -> decltype(auto) { return (generate_of(c).seed); }}, kNothing, "",
        "with generate: seed of everything that is random"}
        .needing(kGenerateKey),
    Key{"problem.rhs_count",
        field::Integer{[](Case& c) -> decltype(auto) { return (c.problem.rhs_count); }, 1, 4096},
        kIterations, "right-hand sides", "with rhs: random: so many of them, which differ"},
    Key{"problem.matrix", field::Text{[](Case& c) -> string& { return file_of(c).matrix; }},
        kNothing, "",
        "HDF5 group of the matrix: attributes format and shape, datasets indptr, indices, data; a "
        "file of another format holds one matrix and needs no name"}
        .needing(kFileKey),
    Key{"problem.rhs", field::Rhs{[](Case& c) -> decltype(auto) { return (c.problem.rhs); }, true},
        kNothing, "",
        "right-hand side b: a dataset such as /b, a file of its own relative to the folder of this "
        "case (b.mtx, other.h5:/b), or ones, random, from-ones (b = A 1, so the error is known); "
        "auto: /b of the file (of a PETSc binary file the vector after the matrix, of NAME.mtx the "
        "file NAME_b.mtx beside it), and from-ones where there is none"},
    Key{"problem.x0", field::Guess{[](Case& c) -> decltype(auto) { return (file_of(c).x0); }},
        kNothing, "",
        "initial guess: a dataset such as /x0, or a file of its own relative to the folder of this "
        "case (x0.mtx, other.h5:/x; /x0 of an HDF5 file without a name); default: /x0 where the "
        "file of the matrix has it; none: the solve starts from zero"}
        .needing(kFileKey),
    Key{"problem.x_exact", field::Text{[](Case& c) -> string& { return file_of(c).x_exact; }},
        kNothing, "",
        "dataset of the known solution, from which the error is computed; empty: it is unknown"}
        .needing(kFileKey)
        .excluding("problem.steps"),

    Key{"problem.coordinates",
        field::Text{[](Case& c) -> string& { return file_of(c).coordinates; }}, kRun | kIterations,
        "",
        "dataset [nodes, 2] or [nodes, 3] of the coordinates of the nodes, from which multigrid "
        "and gamg get the rigid-body modes of elasticity; default: /coordinates where the file has "
        "it; none: not used"}
        .needing(kFileKey),
    Key{"problem.near_nullspace",
        field::Text{[](Case& c) -> string& { return file_of(c).near_nullspace; }},
        kRun | kIterations, "",
        "dataset [rows, k] of k vectors that the matrix maps to almost zero, for multigrid and "
        "gamg; default: /near_nullspace where the file has it; none: not used"}
        .needing(kFileKey),

    Key{"problem.steps", field::Sections{clear_steps, append_step}, kNothing, "",
        "a sequence of systems, such as time steps: a list of entries, or one entry. The first "
        "entry is step 0. Each entry replaces what it names, and the rest stays as in the step "
        "before (before step 0: as in problem)"},
    Key{"problem.steps.file",
        field::File{[](Case& c) -> decltype(auto) { return (step_of(c).file); }}, kNothing, "",
        "file of what the entry names, relative to the folder of this case; default: problem.file"},
    Key{"problem.steps.values", field::Text{[](Case& c) -> string& { return step_of(c).values; }},
        kNothing, "",
        "dataset of new values of the nonzeros, in the order in which the matrix is stored: [nnz], "
        "or with count [steps, nnz], of which each step takes the row of its number"},
    Key{"problem.steps.matrix", field::Text{[](Case& c) -> string& { return step_of(c).matrix; }},
        kNothing, "",
        "group of a whole matrix, in place of values. Where its pattern is another one, everything "
        "is built anew"},
    Key{"problem.steps.rhs", field::Rhs{[](Case& c) -> decltype(auto) { return (step_of(c).rhs); }},
        kNothing, "",
        "new right-hand side: a dataset [rows], or with count [steps, rows]; a file of its own "
        "relative to the folder of this case; or ones, random, from-ones"},
    Key{"problem.steps.count",
        field::Integer{[](Case& c) -> decltype(auto) { return (step_of(c).count); }, 1, 1'000'000},
        kNothing, "steps",
        "the entry stands for this many steps, and {} in its names for their numbers"},
    Key{"problem.steps.from",
        field::Integer{[](Case& c) -> decltype(auto) { return (step_of(c).from); }, 0, kMaxRows},
        kNothing, "",
        "with count: number of the first step, which stands in place of {} and is the row of "
        "[steps, nnz] and [steps, rows]"},

    Key{"solver", field::Section{}, kNothing, "", "the Krylov method, and when it stops"},
    Key{"solver.method", field::Text{[](Case& c) -> string& { return c.solver.method; }},
        kRun | kChoice | kIterations, "", words::kMethods}
        .such_as(kFirstMethod),
    Key{"solver.engine", choice([](Case& c) -> decltype(auto) { return (c.solver.engine); }),
        kRun | kChoice, "", words::kEngines},
    Key{"solver.preconditioner",
        field::Preconditioner{[](Case& c) -> decltype(auto) { return (c.solver.preconditioner); }},
        kRun | kChoice | kIterations, "", words::kPreconditioners}
        .such_as("gamg"),
    Key{"solver.multigrid", field::Section{may_use_multigrid}, kNothing, "",
        "options of preconditioner: multigrid"},
    Key{"solver.multigrid.smoother",
        choice([](Case& c) -> decltype(auto) { return (c.solver.multigrid.smoother); }),
        kRun | kIterations, "", words::kSmoothers},
    Key{"solver.multigrid.degree",
        field::Integer{[](Case& c) -> decltype(auto) { return (c.solver.multigrid.degree); }, 1, 8},
        kRun | kIterations, "products",
        "products with the matrix of the level per smoothing; at most 4 with chebyshev"},
    Key{"solver.multigrid.cycle",
        choice([](Case& c) -> decltype(auto) { return (c.solver.multigrid.cycle); }),
        kRun | kIterations, "", "whether a level visits the coarser one once (v) or twice (w)"},
    Key{"solver.multigrid.threshold",
        field::Real{[](Case& c) -> double& { return c.solver.multigrid.threshold; }, 0, 1},
        kRun | kIterations, "",
        "entries that are weaker than this part of the strongest ones of their rows do not connect "
        "unknowns of an aggregate"},
    Key{"solver.multigrid.smoothed_prolongator",
        field::Flag{[](Case& c) -> bool& { return c.solver.multigrid.smoothed_prolongator; }},
        kRun | kIterations, "",
        "false: plain aggregation, which is safer for strongly nonsymmetric matrices and takes "
        "more iterations for others"},
    Key{"solver.multigrid.fill",
        field::Real{[](Case& c) -> double& { return c.solver.multigrid.fill; }}, kRun | kIterations,
        "of the nonzeros of the finer level",
        "a coarse matrix has at most so many nonzeros: where a smoothed prolongator leads to more, "
        "its small entries are left out, and where that does not suffice, aggregation is plain"},
    Key{"solver.multigrid.aggressive_levels",
        field::Integer{
            [](Case& c) -> decltype(auto) { return (c.solver.multigrid.aggressive_levels); }, 0,
            20},
        kRun | kIterations, "levels", "so many of the finest levels are coarsened twice at once"},
    Key{"solver.multigrid.precision",
        choice([](Case& c) -> decltype(auto) { return (c.solver.multigrid.precision); }),
        kRun | kIterations, "",
        "of the matrix values of all levels; the solution does not depend on it, because b - A x "
        "is checked in FP64"},
    Key{"solver.rtol", field::Real{[](Case& c) -> double& { return c.solver.rtol; }, 0, 1},
        kRun | kIterations, "of ||b||",
        "the solve stops when the residual norm ||b - A x|| falls below this part of ||b||, or of "
        "||A x0|| where b = 0"}
        .such_as("1e-10"),
    Key{"solver.atol", field::Real{[](Case& c) -> double& { return c.solver.atol; }},
        kRun | kIterations, "units of b",
        "the solve stops when the residual norm ||b - A x|| falls below this"},
    Key{"solver.norm", choice([](Case& c) -> decltype(auto) { return (c.solver.norm); }),
        kRun | kIterations, "",
        "which norm of b - A x must be small. residual: as it is; rows: with each row divided by "
        "its size, the largest magnitude in it; both: where sizes differ by less than 1000, as it "
        "is"},
    Key{"solver.scaling", choice([](Case& c) -> decltype(auto) { return (c.solver.scaling); }),
        kRun | kChoice | kIterations, "",
        "by which powers of two rows and columns are multiplied before the solve; solution, "
        "residual and errors are those of the system as it is read. diagonal: one over the square "
        "root of the diagonal; ruiz: until the largest entry of each row and column is near 1; "
        "matching: until one entry of each row and column is near 1 and no other one is larger, "
        "with columns in the order that makes these entries the diagonal where the matrix is not "
        "symmetric; none; auto: with method auto what its rungs need, else none"},
    Key{"solver.max_iterations",
        field::Integer{[](Case& c) -> decltype(auto) { return (c.solver.max_iterations); }, 0,
                       kMaxRows},
        kNothing, "iterations",
        "the solve stops unconverged after this many (exit code 5; the report is written)"},
    Key{"solver.restart",
        field::Integer{[](Case& c) -> decltype(auto) { return (c.solver.restart); }, 1, 10000},
        kRun | kIterations, "iterations",
        "gmres begins a new Krylov space after so many, and keeps a vector for each of them: more "
        "take fewer iterations, and more memory and time for each"},
    Key{"solver.block",
        field::AutoInteger{[](Case& c) -> decltype(auto) { return (c.solver.block); }, 1, 64},
        kIterations, "right-hand sides",
        "how many right-hand sides the resident engine solves at once, on CPUs and GPUs; auto: the "
        "number with the fastest product for each"},
    Key{"solver.guess", choice([](Case& c) -> decltype(auto) { return (c.solver.guess); }),
        kNothing, "",
        "with problem.steps: first guess of each step after the first. previous: the solution of "
        "the step before; extrapolate: the line through the last two solutions; zero"}
        .needing("problem.steps"),
    Key{"solver.renew", choice([](Case& c) -> decltype(auto) { return (c.solver.renew); }),
        kNothing, "",
        "with problem.steps: when the preconditioner takes new values of the matrix. always: in "
        "each step that has new values; never; adaptive: when the iterations beyond those of a new "
        "preconditioner have taken longer than renewing takes"}
        .needing("problem.steps"),

    Key{"kernel",
        field::TextList{[](Case& c) -> Strings& { return c.kernels; }, kernel_names,
                        left_out_kernels},
        kRun, "",
        "sparse matrix-vector product: auto, or a name that solve --list-kernels prints; a list of "
        "kernels is compared in one run"},
    Key{"device", choice([](Case& c) -> decltype(auto) { return (c.device); }), kNothing, "",
        "where the kernel runs; auto: on a GPU where every rank has one and the kernel can, else "
        "on the CPU",
        "a GPU is cuda"},
    Key{"precision", choices([](Case& c) -> decltype(auto) { return (c.precisions); }), kRun, "",
        "of the loop. mixed: the product reads the matrix in FP32, and on GPUs the loops of some "
        "methods have their vectors in FP32 too; x, sums and corrections of the residual are in "
        "FP64, so that rtol holds for b - A x (resident engine only). auto: mixed where it is "
        "expected to be faster, which the report says, else double. A list is compared in one run; "
        "a kernel without mixed precision then runs in double only",
        "float alone is not offered, because without corrections FP32 stagnates near 1e-6; use "
        "mixed"},
    Key{"repeat",
        field::Integer{[](Case& c) -> decltype(auto) { return (c.repeat); }, 1, 1'000'000'000},
        kRun, "solves",
        "number of solves with the same matrix, over which the preprocessing is amortised"},

    Key{"ordering", choice([](Case& c) -> decltype(auto) { return (c.ordering); }), kChoice, "",
        "order of the rows in which the resident engine works; results stay in the order of the "
        "file. given: that order; rcm: reverse Cuthill-McKee; cluster: rows that share columns "
        "together; auto: with kernel: auto what was measured to pay, else given"},
    Key{"distribution", choice([](Case& c) -> decltype(auto) { return (c.distribution); }),
        kNothing, "",
        "how the rows lie on the ranks; results stay in the order of the file. rows: in that "
        "order, cut by nonzeros; graph: by graph partitioning, so that few entries of vectors "
        "travel; auto: graph where the ranks exchange many entries and the solves ahead pay for "
        "the partitioning, else rows"},
    Key{"reproducible", field::Flag{[](Case& c) -> decltype(auto) { return (c.reproducible); }},
        kChoice, "",
        "kernel: auto leaves out kernels whose sums differ from run to run in the last bits, and "
        "the variant of CG follows a rule; with false, several CPU ranks time the variants"},

    Key{"report", field::Section{}, kNothing, "", "what is written, and where"},
    Key{"report.directory",
        field::Directory{[](Case& c) -> decltype(auto) { return (c.report.directory); }}, kNothing,
        "",
        "folder of the results, relative to the current directory; it is made when it is missing"},
    Key{"report.formats", choices([](Case& c) -> decltype(auto) { return (c.report.formats); }),
        kNothing, "", "files to write: report.json, history.csv, report.html, report.md"},
    Key{"report.solution", field::Flag{[](Case& c) -> bool& { return c.report.solution; }},
        kNothing, "",
        "whether solution.h5 is written (solution-<kernel>.h5 and solution-<kernel>-mixed.h5 where "
        "several runs are compared)"},
    Key{"report.checkpoint",
        field::Duration{[](Case& c) -> double& { return c.report.checkpoint; }}, kNothing,
        "hours, minutes, seconds",
        "minimum time between two writes of state.h5, from which solve --resume goes on, while a "
        "solve runs; the writes take at most 1 % of the time. By default state.h5 is written only "
        "at the end of a run that has not converged"}
        .excluding("problem.steps"),

    Key{"petsc", field::PetscOptions{}, kRun | kChoice | kIterations, "",
        "PETSc options without their dash, nested by '_': {ksp: {view: true}} is -ksp_view true"}
        .such_as("{ksp_view: true}"),
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

bool is_file_name(const Key& key, const std::string& text) {
  if (const auto* rhs = std::get_if<field::Rhs>(&key.field))
    return !(rhs->automatic && text == kAuto) &&
           std::holds_alternative<VectorFile>(parse_right_hand_side(text));
  if (std::holds_alternative<field::Guess>(key.field))
    return std::holds_alternative<VectorFile>(parse_initial_guess(text));
  return std::holds_alternative<field::File>(key.field);
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
