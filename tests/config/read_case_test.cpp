// SPDX-License-Identifier: BSD-3-Clause
// case.yaml: what is read, and what every mistake is told.
#include "config/read_case.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string_view>

#include "case_texts.hpp"
#include "config/keys.hpp"
#include "config/steps.hpp"
#include "solvers/methods/list.hpp"
#include "solvers/preconditioners/list.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

using namespace test;

TEST(ReadCase, TakesEveryKey) {
  const Case c = read(R"(
problem: {file: data/cant.h5, matrix: /M, rhs: /b, x0: /x0, x_exact: /x}
solver:
  method: bicgstab
  engine: petsc
  preconditioner: ilu
  rtol: 1e-10
  atol: 1.5
  max_iterations: 1e4
  multigrid: {smoother: l1-jacobi, degree: 3, cycle: w, threshold: 0.1, precision: double,
    aggressive_levels: 1, smoothed_prolongator: false, fill: 0.4}
kernel: [csr, petsc-aij]
device: cpu
precision: [double, mixed]
repeat: 3
report: {directory: out, formats: [json, csv, html], solution: false}
petsc: {ksp: {monitor: null, gmres_restart: 50}, log_view: ":log.txt", pc_factor_levels: [1, 2]}
)");
  const auto& source = std::get<SystemFile>(c.problem.source);
  EXPECT_EQ(source.file, fs::path("folder/data/cant.h5"));
  EXPECT_EQ(source.matrix, "/M");
  EXPECT_EQ(c.problem.rhs, RightHandSide(Dataset{"/b"}));
  EXPECT_EQ(source.x0, InitialGuess(Dataset{"/x0"}));
  EXPECT_EQ(source.x_exact, "/x");
  EXPECT_EQ(c.solver.method, "bicgstab");
  EXPECT_EQ(c.solver.engine, Engine::petsc);
  EXPECT_EQ(c.solver.preconditioner, AnyPreconditioner("ilu"));
  EXPECT_EQ(c.solver.rtol, 1e-10);
  EXPECT_EQ(c.solver.atol, 1.5);
  EXPECT_EQ(c.solver.max_iterations, 10000);
  EXPECT_EQ(c.solver.multigrid, (MultigridSpec{.smoother = Smoother::l1_jacobi,
                                               .degree = 3,
                                               .cycle = CycleKind::w,
                                               .threshold = 0.1,
                                               .smoothed_prolongator = false,
                                               .fill = 0.4,
                                               .aggressive_levels = 1,
                                               .precision = Precision::full}));
  EXPECT_EQ(c.kernels, (std::vector<std::string>{"csr", "petsc-aij"}));
  EXPECT_EQ(c.device, Device::cpu);
  EXPECT_EQ(c.precisions,
            (std::vector<std::optional<Precision>>{Precision::full, Precision::mixed}));
  EXPECT_EQ(c.repeat, 3);
  EXPECT_EQ(c.report.directory, fs::path("out"));
  EXPECT_EQ(c.report.formats,
            (std::vector{ReportFormat::json, ReportFormat::csv, ReportFormat::html}));
  EXPECT_FALSE(c.report.solution);
  const std::vector<std::pair<std::string, std::string>> options = {{"ksp_monitor", ""},
                                                                    {"ksp_gmres_restart", "50"},
                                                                    {"log_view", ":log.txt"},
                                                                    {"pc_factor_levels", "1,2"}};
  EXPECT_EQ(c.petsc, options);
}

TEST(ReadCase, TakesNearNullspaceVectorsFromOneDatasetOfAFile) {
  const auto of = [](const std::string& keys) { return "problem: {file: a.h5, " + keys + "}\n"; };
  const Case c = read(of("coordinates: none, near_nullspace: /modes"));
  const auto& source = std::get<SystemFile>(c.problem.source);
  EXPECT_EQ(source.coordinates, kNoDataset);
  EXPECT_EQ(source.near_nullspace, "/modes");
  EXPECT_FALSE(c.problem.with_modes);
  EXPECT_NE(message(of("coordinates: /xyz, near_nullspace: /modes"))
                .find("problem.coordinates and problem.near_nullspace exclude each other"),
            std::string::npos);
  EXPECT_NE(message(of("coordinates: xyz")).find("problem.coordinates 'xyz' must begin with '/'"),
            std::string::npos);
  EXPECT_NE(message("problem: {generate: elasticity3d, n: 4, coordinates: /xyz}\n")
                .find("problem.coordinates goes with problem.file"),
            std::string::npos);
}

TEST(ReadCase, TakesARightHandSideFromAFileOfItsOwn) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("trireme-rhs-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "b.mtx") << "1\n";
  const auto rhs_of = [&](const std::string& rhs) {
    return parse_case("problem: {file: a.h5, rhs: \"" + rhs + "\"}\n", folder / "case.yaml")
        .problem.rhs;
  };
  EXPECT_EQ(rhs_of("b.mtx"), RightHandSide(VectorFile{.file = folder / "b.mtx"}));
  EXPECT_EQ(rhs_of("b.mtx:/c"), RightHandSide(VectorFile{.file = folder / "b.mtx", .name = "/c"}));
  EXPECT_EQ(rhs_of((folder / "b.mtx").string()),
            RightHandSide(VectorFile{.file = folder / "b.mtx"}));
  EXPECT_EQ(rhs_of((folder / "c.mtx").string()), RightHandSide(Dataset{folder / "c.mtx"}));
  EXPECT_EQ(rhs_of("auto"), std::nullopt);
  const Case counted = parse_case("problem: {file: a.h5, steps: {count: 2, rhs: 'b{}.mtx'}}\n",
                                  folder / "case.yaml");
  EXPECT_EQ(steps_of(counted.problem.steps)[1].rhs,
            RightHandSide(VectorFile{.file = folder / "b1.mtx"}));
  std::filesystem::remove_all(folder);
  const std::string lost = message("problem: {file: a.h5, rhs: c.mtx}\n");
  EXPECT_NE(lost.find("nor a file: there is no folder/c.mtx"), std::string::npos) << lost;
}

TEST(ReadCase, GivesDefaultsToTheSmallestCase) {
  const Case c = read(kSmallest);
  const auto& model = std::get<GenerateSpec>(c.problem.source);
  EXPECT_EQ(model.kind, "poisson3d");
  EXPECT_EQ(model.n, 8);
  EXPECT_EQ(model.seed, 1u);
  EXPECT_FALSE(c.problem.rhs) << "auto";
  EXPECT_FALSE(c.solver.engine) << "auto";
  EXPECT_FALSE(c.device) << "auto";
  EXPECT_EQ(c.precisions, std::vector<std::optional<Precision>>{std::nullopt});
  EXPECT_EQ(c.report.formats, std::vector{ReportFormat::json});
  EXPECT_EQ(c.solver.method, "auto");
  EXPECT_FALSE(c.solver.preconditioner) << "auto";
  EXPECT_EQ(c.kernels, std::vector<std::string>{"auto"});
  EXPECT_TRUE(c.petsc.empty());
}

// Each word of an enumeration, as it stands in a case, is the choice whose word it is.
TEST(ReadCase, TakesEveryWordOfAnEnumeration) {
  const auto read_word = [](const std::string& key, std::string_view word) {
    return read_set({fmt::format("{}={}", key, word)});
  };
  for (const auto& [word, device] : WordsOf<Device>::all)
    EXPECT_EQ(read_word("device", word).device, device);
  for (const auto& [word, engine] : WordsOf<Engine>::all)
    EXPECT_EQ(read_word("solver.engine", word).solver.engine, engine);
  for (const auto& [word, precision] : WordsOf<Precision>::all)
    EXPECT_EQ(read_word("precision", word).precisions,
              std::vector<std::optional<Precision>>{precision});
  for (const auto& [word, format] : WordsOf<ReportFormat>::all)
    EXPECT_EQ(read_word("report.formats", word).report.formats, std::vector{format});
  for (const auto& [word, rhs] : WordsOf<MadeRhs>::all)
    EXPECT_EQ(read_word("problem.rhs", word).problem.rhs, RightHandSide(rhs));
  for (const auto& [word, smoother] : WordsOf<Smoother>::all)
    EXPECT_EQ(read_word("solver.multigrid.smoother", word).solver.multigrid.smoother, smoother);
  for (const auto& [word, cycle] : WordsOf<CycleKind>::all)
    EXPECT_EQ(read_word("solver.multigrid.cycle", word).solver.multigrid.cycle, cycle);
  EXPECT_FALSE(read_set({"device=auto"}, kSmallest + "device: cuda\n").device);
  EXPECT_FALSE(
      read_set({"solver.engine=auto"}, kSmallest + "solver: {engine: petsc}\n").solver.engine);
}

TEST(ReadCase, GivesAPreconditionerOneName) {
  solvers::for_each_preconditioner_name(
      [](solvers::PreconditionerKind, const solvers::PreconditionerName& name) {
        for (const std::string_view word : {name.name, name.pc_type}) {
          const Case c = parse_case(fmt::format("problem: {{generate: poisson3d, n: 4}}\n"
                                                "solver: {{preconditioner: {}}}\n",
                                                word),
                                    "case.yaml");
          ASSERT_TRUE(c.solver.preconditioner && c.solver.preconditioner->own()) << word;
          EXPECT_EQ(c.solver.preconditioner->name(), name.name);
        }
      });
}

TEST(CaseKeys, DescribeEveryMethodAndPreconditionerOfTheLists) {
  const auto describes = [](std::string_view key, std::string_view name) {
    return find_key(key)->description.find(name) != std::string_view::npos;
  };
  solvers::for_each_method([&](auto entry) {
    const solvers::MethodInfo& info = decltype(entry)::type::info;
    EXPECT_TRUE(describes("solver.method", info.name)) << info.name;
    EXPECT_TRUE(describes("solver.engine", info.name)) << info.name;
    EXPECT_EQ(describes("solver.multigrid.smoother", info.name), info.symmetric) << info.name;
  });
  solvers::for_each_preconditioner_name(
      [&](solvers::PreconditionerKind, const solvers::PreconditionerName& name) {
        EXPECT_TRUE(describes("solver.preconditioner", name.name)) << name.name;
      });
}

TEST(ReadCase, RefusesMultigridOptionsThatAreNone) {
  const auto error = [](const std::string& option) {
    return message(kSmallest + "solver: {multigrid: {" + option + "}}\n");
  };
  const std::string place = "folder/case.yaml:2:22: ";
  EXPECT_EQ(error("smother: jacobi"), place +
                                          "unknown key 'solver.multigrid.smother'; did you mean "
                                          "'solver.multigrid.smoother'?");
  EXPECT_EQ(error("degree: 9"),
            "folder/case.yaml:2:30: solver.multigrid.degree must be a whole "
            "number from 1 to 8, not '9'");
  EXPECT_EQ(error("threshold: 1"),
            "folder/case.yaml:2:33: solver.multigrid.threshold must be a "
            "number from 0 to below 1, not '1'");
  EXPECT_NE(error("smoother: chebychev").find("did you mean 'chebyshev'?"), std::string::npos);
  EXPECT_EQ(error("smoother: chebyshev, degree: 5"),
            "folder/case.yaml:2:43: solver.multigrid.degree must be at most 4 with smoother "
            "chebyshev, not 5");
  EXPECT_EQ(read_set({}, kSmallest + "solver: {multigrid: {smoother: jacobi, degree: 8}}\n")
                .solver.multigrid.degree,
            8);
  EXPECT_EQ(message(kSmallest + "solver: {multigrid: yes}\n"),
            "folder/case.yaml:2:10: solver.multigrid must hold keys: smoother, degree, cycle, "
            "threshold, smoothed_prolongator, fill, aggressive_levels, precision");
}

TEST(ReadCase, TakesTimesInHoursMinutesAndSeconds) {
  const auto seconds = [](const std::string& time) {
    return read_set({"report.checkpoint=" + time}).report.checkpoint;
  };
  EXPECT_EQ(seconds("90s"), 90);
  EXPECT_EQ(seconds("10m"), 600);
  EXPECT_EQ(seconds("1h30m"), 5400);
  EXPECT_EQ(seconds("2h5s"), 7205);
  EXPECT_EQ(seconds("\"0.5s\""), 0.5);
  EXPECT_EQ(read(kSmallest).report.checkpoint, 0);
}

TEST(ReadCase, KeepsTheTextWithItsOverrides) {
  EXPECT_EQ(read_set({"repeat=2"}).text, kSmallest + "# --set repeat=2\n");
}

TEST(ReadCase, LeavesAnAbsoluteFileAlone) {
  EXPECT_EQ(std::get<SystemFile>(read("problem: {file: /data/a.h5}").problem.source).file,
            fs::path("/data/a.h5"));
}

TEST(ReadCase, NamesLineColumnAndNearestKey) {
  EXPECT_EQ(message(kSmallest + "solver:\n  method: cg\n  rtoll: 1e-8\n"),
            "folder/case.yaml:4:3: unknown key 'solver.rtoll'; did you mean 'solver.rtol'?");
  EXPECT_EQ(message(kSmallest + "slover: {rtol: 1}\n"),
            "folder/case.yaml:2:1: unknown key 'slover'; did you mean 'solver'?");
}

TEST(ReadCase, FindsAKeyThatStandsInAnotherSection) {
  EXPECT_EQ(message(kSmallest + "rtol: 1e-8\n"),
            "folder/case.yaml:2:1: unknown key 'rtol'; did you mean 'solver.rtol'?");
}

TEST(ReadCase, ListsTheValidKeysWhereNoneIsNear) {
  const std::string text = message(kSmallest + "report: {xyzzy: 1}\n");
  EXPECT_NE(text.find("valid keys under report: directory, formats, solution"), std::string::npos)
      << text;
}

TEST(ReadCase, RefusesDuplicateKeys) {
  EXPECT_EQ(message(kSmallest + "solver:\n  rtol: 1e-8\n  method: cg\n  rtol: 1e-9\n"),
            "folder/case.yaml:5:3: duplicate key 'solver.rtol', first given in line 3");
  EXPECT_EQ(message(kSmallest + "kernel: csr\nkernel: auto\n"),
            "folder/case.yaml:3:1: duplicate key 'kernel', first given in line 2");
  EXPECT_EQ(message(kSmallest + "petsc: {ksp_view: null, -ksp_view: null}\n"),
            "folder/case.yaml:2:25: duplicate PETSc option 'ksp_view'");
}

TEST(ReadCase, RefusesMistypedValues) {
  const std::pair<const char*, const char*> wrong[] = {
      {"solver: {rtol: small}",
       "2:16: solver.rtol must be a number from 0 to below 1, not 'small'"},
      {"solver: {rtol: '1e-8'}", "solver.rtol must be a number from 0 to below 1, not the text"},
      {"solver: {rtol: 1}", "not '1'"},
      {"solver: {rtol: -1e-8}", "not '-1e-8'"},
      {"solver: {rtol: nan}", "not 'nan'"},
      {"solver: {atol: inf}", "solver.atol must be a number, 0 or more, not 'inf'"},
      {"solver: {max_iterations: 1.5}", "solver.max_iterations must be a whole number"},
      {"solver: {max_iterations: -1}", "not '-1'"},
      {"solver: {max_iterations: 99999999999999999999}", "must be a whole number"},
      {"solver: {method: 3}", "solver.method must be a text"},
      {"solver: {method: [cg]}", "solver.method must be a text, not a list"},
      {"solver: {method: }", "solver.method has no value"},
      {"solver: cg", "solver must hold keys: method, engine"},
      {"repeat: 0", "repeat must be a whole number from 1"},
      {"report: {checkpoint: 10}", "report.checkpoint must be a time such as 90s, 10m or 1h30m"},
      {"report: {checkpoint: 5m1h}", "report.checkpoint must be a time such as"},
      {"report: {checkpoint: 0s}", "report.checkpoint must be a time such as"},
      {"report: {checkpoint: -5m}", "report.checkpoint must be a time such as"},
      {"report: {checkpoint: 1hm}", "report.checkpoint must be a time such as"},
      {"report: {checkpoint: [10m]}", "report.checkpoint must be a time such as"},
      {"report: {solution: yes}", "report.solution must be true or false, not 'yes'"},
      {"report: {formats: []}",
       "report.formats must be a name or a list of names, not an empty list"},
      {"report: {directory: ''}", "report.directory must be a path"},
      {"kernel: {csr: 1}", "kernel must be a name or a list of names, not a map"},
      {"kernel: [csr, csr]", "kernel lists 'csr' twice"},
      {"petsc: ksp_view", "petsc must be a map of PETSc options"},
  };
  for (const auto& [line, expected] : wrong) {
    const std::string text = message(kSmallest + line + "\n");
    EXPECT_NE(text.find(expected), std::string::npos) << line << " -> " << text;
    EXPECT_TRUE(text.starts_with("folder/case.yaml:2:")) << text;
  }
}

TEST(ReadCase, RefusesUnknownWordsWithTheKnownOnes) {
  const std::string kernel = message(kSmallest + "kernel: [csr, csrr]\n");
  EXPECT_TRUE(
      kernel.starts_with("folder/case.yaml:2:15: unknown kernel 'csrr'; did you mean 'csr'?"))
      << kernel;
  EXPECT_NE(kernel.find("petsc-aij"), std::string::npos) << kernel;
  const std::string kind = message("problem: {generate: poison3d, n: 4}\n");
  EXPECT_NE(kind.find("unknown problem.generate 'poison3d'; did you mean 'poisson3d'?"),
            std::string::npos)
      << kind;
  const std::string device = message(kSmallest + "device: gpu\n");
  EXPECT_TRUE(device.ends_with("unknown device 'gpu'; known: auto, cpu, cuda; a GPU is cuda"))
      << device;
}

TEST(ReadCase, RefusesContradictions) {
  const std::pair<const char*, const char*> wrong[] = {
      {"device: cpu", "case.yaml: problem needs a file"},
      {"problem: {rhs: ones}", "case.yaml:1:1: problem needs a file"},
      {"problem: {file: a.h5, generate: poisson2d, n: 4}",
       "1:23: problem.generate and problem.file"},
      {"problem: {generate: poisson2d}", "needs problem.n"},
      {"problem: {file: a.h5, n: 4}", "problem.n goes with problem.generate"},
      {"problem: {generate: poisson2d, n: 4, matrix: /A}", "problem.matrix goes with problem.file"},
      {"problem: {generate: poisson2d, n: 4, rhs: /b}", "a generated problem has no file"},
      {"problem: {file: a.h5, rhs: b}", "neither a dataset"},
      {"problem: {file: a.h5, matrix: A}", "must begin with '/', such as /A"},
  };
  for (const auto& [line, expected] : wrong) {
    const std::string text = message(std::string(line) + "\n");
    EXPECT_NE(text.find(expected), std::string::npos) << line << " -> " << text;
  }
}

TEST(ReadCase, SendsOwnedPetscOptionsToTheirKeys) {
  EXPECT_EQ(message(kSmallest + "petsc: {ksp: {type: gmres}}\n"),
            "folder/case.yaml:2:21: petsc.ksp_type is set by the key solver.method: use that");
  EXPECT_NE(message(kSmallest + "petsc: {-pc_type: ilu}\n").find("solver.preconditioner"),
            std::string::npos);
}

TEST(ReadCase, RefusesWhatIsNotOneYamlMap) {
  EXPECT_NE(message("").find("not a case"), std::string::npos);
  EXPECT_NE(message("- a\n- b\n").find("not a case"), std::string::npos);
  EXPECT_NE(message("problem: [\n").find("folder/case.yaml:2:1: not YAML"), std::string::npos);
  EXPECT_NE(message("a: 1\n---\nb: 2\n").find("more than one YAML document"), std::string::npos);
  EXPECT_NE(message("? [a]\n: 1\n").find("a key must be a plain word"), std::string::npos);
  EXPECT_NE(message(std::string("\0\x89HDF\r\n", 7)), "no error");
}

TEST(ReadCase, RefusesACyclicAlias) {
  EXPECT_EQ(
      message(kSmallest + "petsc: &a {x: *a}\n"),
      "folder/case.yaml:2:15: an alias stands within its own anchor; name a value outside it");
  EXPECT_NE(message("problem: &a [*a]\n").find("within its own anchor"), std::string::npos);
}

// Levels of lists, each of nine aliases of the one before: 9^levels nodes in a few lines.
std::string alias_bomb(const std::string& before, int levels) {
  std::string text = before + "{a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]";
  for (int level = 1; level <= levels; ++level) {
    const std::string alias = fmt::format("*a{}", level - 1);
    text += fmt::format(",\n a{0}: &a{0} {{", level);
    for (int k = 0; k < 9; ++k) text += fmt::format("{}k{}: {} ", k == 0 ? "" : ", ", k, alias);
    text += "}";
  }
  return text + "}\n";
}

TEST(ReadCase, RefusesAnAliasBombWhereverItStands) {
  for (const char* before : {"petsc: ", "solver: ", "kernel: ", "problem: "}) {
    const std::string text = message(kSmallest + alias_bomb(before, 8));
    EXPECT_NE(text.find("more than 10000 YAML nodes"), std::string::npos) << text;
  }
  const std::string flat = message_of([] { read_set({"petsc.x=" + alias_bomb("", 8)}); });
  EXPECT_NE(flat.find("more than 10000 YAML nodes"), std::string::npos) << flat;
}

TEST(ReadCase, TakesAliasesOfModestSize) {
  const Case c = read(kSmallest + alias_bomb("petsc: ", 2));
  EXPECT_EQ(c.petsc.size(), 1u + 9u + 81u);
  EXPECT_EQ(c.petsc.back().first, "a2_k8_k8");
  EXPECT_EQ(c.petsc.back().second, "1,2,3,4,5,6,7,8,9");
}

// Found by fuzzing: yaml-cpp gives endless empty documents for it.
TEST(ReadCase, EndsOnTextWithEndlessDocuments) {
  EXPECT_NE(message(", [a,0b]\n: |\n  text\n  tepti!nt \n...\n"), "no error");
}

TEST(ReadCase, SaysOneLineOfBoundedLengthAboutAnyName) {
  EXPECT_NE(message("\"a\\nb\": 1\n").find("unknown key 'a?b'"), std::string::npos);
  EXPECT_LT(message(std::string(500'000, 'a') + ": 1\n").size(), 5000u);
  EXPECT_LT(message("kernel: " + std::string(500'000, 'a') + "\n").size(), 5000u);
}

TEST(ReadCase, NamesABooleanValueAsSuch) {
  EXPECT_EQ(message(kSmallest + "kernel: true\n"),
            "folder/case.yaml:2:9: kernel must be a text (if you mean it, write \"true\"), not the "
            "boolean value true");
  EXPECT_EQ(message(kSmallest + "repeat: false\n"),
            "folder/case.yaml:2:9: repeat must be a whole number from 1 to 1000000000, not the "
            "boolean value false");
  EXPECT_EQ(
      message(kSmallest + "repeat: \"true\"\n"),
      "folder/case.yaml:2:9: repeat must be a whole number from 1 to 1000000000, not the text "
      "'true'");
}

TEST(ReadCase, RefusesPathsThatAreNoCase) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("trireme-read-case-{}", getpid());
  fs::create_directories(folder);
  std::ofstream(folder / "matrix.h5") << std::string(2 << 20, 'x');
  const auto error = [](const fs::path& path) { return message_of([&] { read_case(path); }); };
  EXPECT_NE(error(folder / "missing.yaml").find("no such case file"), std::string::npos);
  EXPECT_NE(error(folder).find("is a folder"), std::string::npos);
  EXPECT_NE(error(folder / "matrix.h5").find("too large for a case"), std::string::npos);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace trireme
