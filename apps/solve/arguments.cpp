// SPDX-License-Identifier: BSD-3-Clause
// CLI11 for what stands before "--"; the rest is PETSc's.
#include "arguments.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "command_line_error.hpp"
#include "explain_key.hpp"
#include "options.hpp"
#include "shorthands.hpp"

namespace trireme::solve {
namespace {

Override kernel_override(const std::vector<std::string>& kernels) {
  const std::string names = fmt::format("{}", fmt::join(kernels, ","));
  return {.key = "kernel",
          .value = fmt::format("[{}]", names),
          .origin = fmt::format("--kernel {}", names)};
}

// Throws Error{usage} for words that are not options with at most one value each.
void require_dashes(const std::vector<std::string>& petsc) {
  bool after_option = false;
  for (const std::string& word : petsc) {
    const bool option = word.starts_with('-');
    if (!option && !after_option)
      fail(ExitCode::usage,
           "after --: '{}' is no PETSc option, which begins with a dash, nor the value of one",
           word);
    after_option = option;
  }
}

void refuse_with_study(const Words& words, bool petsc) {
  const char* word = !words.presets.empty() ? "--preset"
                     : words.resume         ? "--resume"
                     : words.print_case     ? "--print-case"
                     : petsc                ? "--"
                                            : nullptr;
  if (word)
    fail(ExitCode::usage,
         "{} does not go with --study; the study has keys for it: see solve --help", word);
}

// A case comes from one place.
void require_one_source(const Words& words) {
  const std::vector<std::pair<const char*, bool>> sources = {{"--config", !words.config.empty()},
                                                             {"--study", !words.study.empty()}};
  if (!words.matrix.empty()) {
    for (const char* ending : {".yaml", ".yml"})
      if (words.matrix.ends_with(ending))
        fail(ExitCode::usage, "{} is a case, not a matrix: solve --config {}", words.matrix,
             words.matrix);
    for (const auto& [option, given] : sources)
      if (given)
        fail(ExitCode::usage,
             "the matrix {} and {} exclude each other; in a case, problem.file names the matrix",
             words.matrix, option);
  } else if (words.config.empty() == words.study.empty()) {
    fail(ExitCode::usage, "{}: solve matrix.mtx, or solve --config case.yaml; see solve --help",
         words.config.empty() ? "no matrix and no case given"
                              : "--config and --study exclude each other");
  }
}

// The word after --help; empty where there is none.
std::string help_topic(int words, const char* const* argv) {
  for (int i = 1; i < words; ++i) {
    const std::string_view word(argv[i]);
    if (word.starts_with("--help=")) return std::string(word.substr(word.find('=') + 1));
    if ((word == "--help" || word == "-h") && i + 1 < words && argv[i + 1][0] != '-')
      return argv[i + 1];
  }
  return "";
}

Changes changes_of(const Words& words) {
  Changes changes;
  changes.presets.assign(words.presets.begin(), words.presets.end());
  for (const std::string& assignment : words.sets)
    changes.overrides.push_back(parse_override(assignment));
  if (!words.kernels.empty()) changes.overrides.push_back(kernel_override(words.kernels));
  for (const Shorthand& shorthand : kShorthands) {
    const std::string& value = words.shorthands.at(shorthand.option);
    if (value.empty()) continue;
    const std::string key(shorthand.key), origin = fmt::format("{} {}", shorthand.option, value);
    Override change = shorthand.is_text ? text_override(key, value, origin)
                                        : Override{.key = key, .value = value, .origin = origin};
    if (shorthand.is_text) change.folder = std::filesystem::path();
    changes.overrides.push_back(std::move(change));
  }
  return changes;
}

}  // namespace

Arguments parse_arguments(int argc, const char* const* argv) {
  const char* const* end = argv + argc;
  const char* const* dashes =
      std::find_if(argv, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
  const int count = static_cast<int>(dashes - argv);

  Arguments result;
  if (const std::string topic = help_topic(count, argv); !topic.empty()) {
    result.action = Action::print_help;
    result.help = explain_key(topic);
    return result;
  }
  Words words;
  CLI::App app("", "solve");
  declare_options(app, words);
  try {
    app.parse(count, argv);
  } catch (const CLI::CallForHelp&) {
    result.action = Action::print_help;
    result.help = app.help();
    return result;
  } catch (const CLI::ParseError& e) {
    fail(ExitCode::usage, "{}; see solve --help", in_words(app, e));
  }

  if (dashes != end) result.petsc.assign(dashes + 1, end);
  require_dashes(result.petsc);
  if (!words.reports.empty()) {
    result.action = Action::compare;
    result.reports = words.reports;
    return result;
  }
  if (!words.figures.empty()) {
    result.action = Action::figures;
    result.reports = words.figures;
    return result;
  }
  if (words.version || words.schema || words.report_schema || words.list) {
    result.action = words.version         ? Action::print_version
                    : words.schema        ? Action::print_schema
                    : words.report_schema ? Action::print_report_schema
                                          : Action::list_kernels;
    return result;
  }
  require_one_source(words);
  if (words.again && words.study.empty()) fail(ExitCode::usage, "--again goes with --study");
  if (words.explain && (words.check || !words.study.empty()))
    fail(ExitCode::usage, "--explain goes with --config alone, without --check and --study");
  if (words.print_case && (words.check || words.explain))
    fail(ExitCode::usage, "--print-case goes without --check and --explain");
  if (words.print_case && !result.petsc.empty())
    fail(ExitCode::usage,
         "--print-case does not print PETSc options after --; give them as --set petsc.NAME=VALUE");
  if (!words.study.empty()) {
    refuse_with_study(words, !result.petsc.empty());
    result.action = words.check ? Action::list_study : Action::study;
  } else {
    result.action = words.check        ? Action::check
                    : words.explain    ? Action::explain
                    : words.print_case ? Action::print_case
                                       : Action::solve;
  }
  result.config = words.config.empty() ? words.study : words.config;
  result.matrix = words.matrix;
  result.changes = changes_of(words);
  if (!words.output.empty()) result.output = words.output;
  result.progress = choice_of<ProgressKind>(words.progress);
  result.quiet = words.quiet;
  result.resume = words.resume;
  result.again = words.again;
  result.cache = {.use = !words.no_cache, .directory = words.cache};
  return result;
}

}  // namespace trireme::solve
