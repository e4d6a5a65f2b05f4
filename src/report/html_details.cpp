// SPDX-License-Identifier: BSD-3-Clause
// The matrix, and all that repeats the run: command, case, versions, hashes.
#include <fmt/format.h>

#include "report/html_parts.hpp"
#include "report/svg_charts.hpp"
#include "report/svg_frame.hpp"
#include "report/words.hpp"

namespace trireme::html {
namespace {

using svg::escape;

std::string fact(const char* name, const std::string& value) {
  if (value.empty()) return "";
  return fmt::format("<tr><th scope=\"row\" class=\"text\">{}</th><td>{}</td></tr>\n", name,
                     escape(value));
}

std::string rate(double gbytes_per_s) {
  return gbytes_per_s > 0 ? fmt::format("{:.1f} GB/s", gbytes_per_s) : "";
}

std::string facts(const CaseOutcome& outcome) {
  const MachineDescription& m = outcome.machine;
  return "<table class=\"facts\">\n<caption>machine, versions and hashes</caption>\n<tbody>\n" +
         fact("where", words::machine(m)) + fact("CPU memory, best", rate(m.best_gbytes_per_s)) +
         fact("arrays as large as the matrix", rate(m.in_cache_gbytes_per_s)) +
         fact("GPU memory", rate(m.gpu_gbytes_per_s)) +
         fact("arrays as large as the matrix, GPU", rate(m.gpu_in_cache_gbytes_per_s)) +
         fact("GPU driver", m.driver) + fact("begun", outcome.date) + fact("Trireme", m.trireme) +
         fact("commit", m.commit) + fact("compiler of C++", m.compiler) +
         fact("compiler of CUDA", m.cuda) + fact("PETSc", m.petsc) + fact("HDF5", m.hdf5) +
         fact("MPI", m.mpi) + fact("hash of the pattern", outcome.pattern_hash) +
         fact("hash of the values", outcome.values_hash) + "</tbody></table>\n";
}

std::string code(const std::string& content) {
  return content.empty() ? "" : "<pre tabindex=\"0\">" + escape(content) + "</pre>\n";
}

}  // namespace

std::string matrix(const CaseOutcome& outcome) {
  return section("matrix", "The matrix",
                 grid({figure("Pattern", svg::pattern(outcome), "Darker cells have more nonzeros."),
                       figure("Row lengths", svg::row_lengths(outcome))}));
}

std::string details(const CaseOutcome& outcome) {
  const std::string command =
      outcome.command.empty() ? "" : "<h3>Command</h3>\n" + code(outcome.command);
  return section("details", "To repeat this run",
                 command + fold("The case", code(outcome.case_text)) +
                     fold("Machine, versions and hashes", facts(outcome)) + "<h3>To cite</h3>\n" +
                     code(words::citation(outcome)));
}

}  // namespace trireme::html
