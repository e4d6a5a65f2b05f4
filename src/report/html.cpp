// SPDX-License-Identifier: BSD-3-Clause
// report.html: verdict, comparison, convergence, product times, where the time went, machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/report.hpp"
#include "report/svg.hpp"
#include "report/words.hpp"

namespace trireme {
namespace {

using svg::escape;

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --back: #fff; --text: #1b2430; --dim: #5b6675; --line: #d9dee5;
  --good: #1a7f4b; --bad: #b3261e;
  --s0: #0b62c4; --s1: #c2570c; --s2: #12805c; --s3: #9a2f9c; --s4: #8a6d00; --s5: #b0243f;
  --s6: #1b7f93; --s7: #5d5bd0; }
@media (prefers-color-scheme: dark) { :root { --back: #14181e; --text: #e4e9f0; --dim: #98a4b3;
  --line: #303945; --good: #5fd39b; --bad: #ff8a80;
  --s0: #6cb0ff; --s1: #ff9d5c; --s2: #5fd3a9; --s3: #e08be2; --s4: #e0c24f; --s5: #ff8296;
  --s6: #6fd0e3; --s7: #a9a7ff; } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif;
  max-width: 980px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .3rem 0; } .dim { color: var(--dim); } .good { color: var(--good); }
.bad { color: var(--bad); } .scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .45rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { color: var(--dim); font-weight: 500; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
.facts td { text-align: left; white-space: normal; } .facts td:first-child { color: var(--dim); }
svg { width: 100%; height: auto; } svg text { fill: var(--dim); font-size: 12px; }
.grid { stroke: var(--line); } .tolerance { stroke: var(--dim); stroke-dasharray: 2 4; }
.whisker { stroke: var(--text); } .curve { fill: none; stroke-width: 2; }
.key { display: inline-block; width: 1.6em; border-top: 3px solid; margin: 0 .4em .25em 1.2em; }
)css";

std::string series_styles() {
  std::string css;
  for (std::size_t i = 0; i < svg::kColours; ++i)
    css += fmt::format(
        ".curve.s{0} {{ stroke: var(--s{0}); }} .bar.s{0} {{ fill: var(--s{0}); }} "
        ".key.s{0} {{ border-color: var(--s{0}); }}\n",
        i);
  // Lines that lie upon each other stay visible: all but the first are dashed, each its own way.
  for (std::size_t i = 1; i < svg::kColours; ++i)
    css += fmt::format(
        ".curve.s{0} {{ stroke-dasharray: {1} {2}; }} .key.s{0} {{ border-top-style: "
        "dashed; }}\n",
        i, 4 + 2 * i, 3 + i);
  return css;
}

std::string fixed(double number, int digits) {
  return std::isfinite(number) ? fmt::format("{:.{}f}", number, digits) : "nan";
}

std::string cells(std::string_view tag, std::initializer_list<std::string> contents) {
  std::string row = "<tr>";
  for (const std::string& content : contents) row += fmt::format("<{0}>{1}</{0}>", tag, content);
  return row + "</tr>\n";
}

std::string fact(std::string_view name, const std::string& value) {
  return value.empty() ? "" : cells("td", {std::string(name), escape(value)});
}

std::string verdicts(const CaseOutcome& outcome) {
  std::string out;
  for (const RunOutcome& run : outcome.runs) {
    out += fmt::format("<p><b>{}</b> <span class=\"{}\">{}</span>", escape(label(run)),
                       run.converged ? "good" : "bad", escape(run.reason));
    if (!words::one_method(outcome)) out += "; " + escape(words::method(run));
    if (const auto paid = words::break_even(run); !paid.empty()) out += "; " + escape(paid);
    if (!run.deterministic) out += "; its sums are not the same bits from run to run";
    for (const std::string& note : words::own_notes(outcome, run)) out += "; " + escape(note);
    out += "</p>\n";
  }
  if (const auto left_out = words::not_run(outcome); !left_out.empty())
    out += fmt::format("<p class=\"bad\">{}</p>\n", escape(left_out));
  for (const std::string& note : words::common_notes(outcome))
    out += fmt::format("<p class=\"dim\">note: {}</p>\n", escape(note));
  return out;
}

std::string comparison(const CaseOutcome& outcome) {
  std::string out = "<h2>Kernels side by side</h2>\n<div class=\"scroll\"><table>\n";
  out += cells("th", {"kernel", "prepare", "one product,<br>median", "p95", "GFLOP/s", "GB/s",
                      "of memory<br>bandwidth", "padding", "iterations", "‖b−Ax‖ / ‖b‖", "error"});
  for (const RunOutcome& run : outcome.runs)
    out += cells("td", {escape(label(run)), words::seconds(words::preprocessing_seconds(run)),
                        words::seconds(run.kernel_us.median * 1e-6),
                        words::seconds(run.kernel_us.p95 * 1e-6), fixed(run.gflops, 2),
                        fixed(run.gbytes_per_s, 1),
                        run.bandwidth_fraction ? words::percent(*run.bandwidth_fraction) : "-",
                        words::percent(run.padding), std::to_string(run.iterations),
                        words::residual(run.relative_residual),
                        run.relative_error ? words::residual(*run.relative_error) : "-"});
  return out + "</table></div>\n";
}

std::string times(const CaseOutcome& outcome) {
  std::string out = "<h2>Where the time went</h2>\n<div class=\"scroll\"><table>\n";
  out += cells("th", {"kernel", "read", "build", "upload", "set-up", "solve", "one iteration",
                      "products", "layout", "peak memory<br>of a rank"});
  for (const RunOutcome& run : outcome.runs)
    out += cells(
        "td",
        {escape(label(run)), words::seconds(run.seconds.read), words::seconds(run.seconds.build),
         words::seconds(run.seconds.upload), words::seconds(run.seconds.setup),
         words::seconds(run.seconds.solve), words::seconds(run.iteration_us * 1e-6),
         std::to_string(run.kernel_us.count), words::bytes(static_cast<double>(run.bytes)),
         fmt::format("{} ({:.2f} x CSR)", words::bytes(static_cast<double>(run.peak_memory)),
                     run.peak_memory_over_csr)});
  return out + "</table></div>\n";
}

std::string charts(const CaseOutcome& outcome) {
  std::string out;
  if (const auto chart = svg::convergence(outcome); !chart.empty()) {
    out += "<h2>Convergence</h2>\n<p>residual relative to ‖b‖";
    for (std::size_t r = 0; r < outcome.runs.size(); ++r)
      out += fmt::format("<span class=\"key s{}\"></span>{}", r % svg::kColours,
                         escape(label(outcome.runs[r])));
    out += "</p>\n" + chart;
  }
  if (const auto chart = svg::kernel_times(outcome); !chart.empty())
    out +=
        "<h2>Time of one product</h2>\n<p class=\"dim\">bar: median; whisker: 95th percentile; "
        "slowest rank, with the halo</p>\n" +
        chart;
  return out;
}

std::string machine(const MachineDescription& m) {
  return "<h2>Machine</h2>\n<table class=\"facts\">\n" + fact("where", words::machine(m)) +
         fact("Trireme", m.trireme) + fact("PETSc", m.petsc) + fact("HDF5", m.hdf5) +
         fact("MPI", m.mpi) + "</table>\n";
}

std::string headline(const CaseOutcome& outcome) {
  const bool good = exit_code(outcome) == ExitCode::converged;
  std::string out = fmt::format("<h1>Solve report: <span class=\"{}\">{}</span></h1>\n",
                                good ? "good" : "bad", good ? "converged" : "not converged");
  out += fmt::format("<p>{}</p>\n", escape(words::problem(outcome.problem)));
  if (!outcome.runs.empty() && words::one_method(outcome))
    out += fmt::format("<p class=\"dim\">{}</p>\n", escape(words::method(outcome.runs.front())));
  return out;
}

}  // namespace

std::string html_report(const CaseOutcome& outcome) {
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width\">\n"
             "<title>Solve report: {}</title>\n<style>{}{}</style>\n</head>\n<body>\n",
             escape(outcome.problem.name), kStyle, series_styles()) +
         headline(outcome) + verdicts(outcome) + comparison(outcome) + charts(outcome) +
         times(outcome) + machine(outcome.machine) + "</body>\n</html>\n";
}

}  // namespace trireme
