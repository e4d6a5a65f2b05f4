// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 alone has standard input, and sends it to the others.
#include "given_case.hpp"

#include <iostream>
#include <utility>
#include <variant>
#include <vector>

#include "app/kept/solution_file.hpp"
#include "base/overwriting.hpp"
#include "config/case_text.hpp"
#include "config/steps.hpp"
#include "parallel/broadcast.hpp"
#include "parallel/collective.hpp"
#include "report/report.hpp"

namespace trireme::solve {
namespace {

struct Given {
  std::string text;
  std::filesystem::path path;  // for messages, and its folder is that of names of files
};

Given given(MPI_Comm comm, const Arguments& arguments) {
  Given given;
  const bool from_input = arguments.config == "-";
  collectively(comm, [&] {
    if (!arguments.matrix.empty())
      given = {case_of_matrix(arguments.matrix), "the case"};
    else if (!from_input)
      given = {read_case_text(arguments.config), arguments.config};
    else if (rank_of(comm) == 0)
      given.text = read_case_text(std::cin);
  });
  if (from_input) {
    given.text = broadcast(comm, std::move(given.text), 0);
    given.path = kStandardInput;
  }
  return given;
}

void refuse_to_replace_inputs(const Case& c, const Arguments& arguments) {
  std::vector<std::filesystem::path> inputs = arguments.changes.presets;
  if (!arguments.config.empty()) inputs.push_back(arguments.config);
  const auto add_file_of = [&](const auto& vectors) {
    if (const auto* file = vectors ? std::get_if<VectorFile>(&*vectors) : nullptr)
      inputs.push_back(file->file);
  };
  if (const auto* source = std::get_if<SystemFile>(&c.problem.source)) {
    inputs.push_back(source->file);
    add_file_of(source->x0);
  }
  add_file_of(c.problem.rhs);
  for (const Step& step : steps_of(c.problem.steps)) {
    if (!step.file.empty()) inputs.push_back(step.file);
    add_file_of(step.rhs);
  }
  std::vector<std::filesystem::path> outputs = files_of_run(c);
  for (auto& report : report_files(c.report.formats, c.report.directory))
    outputs.push_back(std::move(report));
  refuse_overwriting(inputs, outputs);
}

}  // namespace

Case given_case(MPI_Comm comm, const Arguments& arguments) {
  const Given from = given(comm, arguments);
  Case c;
  collectively(comm, [&] {
    c = parse_case(from.text, from.path, arguments.changes);
    if (arguments.output) c.report.directory = *arguments.output;
    c.report.resume = arguments.resume;
    c.cache = arguments.cache;
    if (rank_of(comm) != 0) return;
    check_writable(c.report.directory);
    refuse_to_replace_inputs(c, arguments);
  });
  return c;
}

std::string printed_case(MPI_Comm comm, const Arguments& arguments) {
  const Given from = given(comm, arguments);
  Changes changes = arguments.changes;
  if (arguments.output)
    changes.overrides.push_back(text_override("report.directory", arguments.output->string(),
                                              "--output " + arguments.output->string()));
  std::string text;
  collectively(comm, [&] { text = changed_case(from.text, from.path, changes); });
  return "# Names of files are relative to the folder of this case.\n" + text;
}

}  // namespace trireme::solve
