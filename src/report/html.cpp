// SPDX-License-Identifier: BSD-3-Clause
// report.html: one page without external parts and without scripts.
#include <fmt/format.h>

#include "report/html_parts.hpp"
#include "report/report.hpp"
#include "report/svg_frame.hpp"

namespace trireme {

std::string html_report(const CaseOutcome& outcome) {
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n"
             "<title>Solve report: {}</title>\n<style>{}</style>\n</head>\n<body>\n"
             "<a class=\"skip\" href=\"#content\">Skip to the figures</a>\n",
             svg::escape(outcome.problem.name), html::style()) +
         "<header>\n" + html::headline(outcome) + "</header>\n<main id=\"content\">\n" +
         html::kernels(outcome) + html::curves(outcome) + html::account(outcome) +
         html::times(outcome) + html::trials(outcome) + html::preconditioners(outcome) +
         html::multigrid(outcome) + html::steps(outcome) + html::columns(outcome) +
         html::matrix(outcome) + html::details(outcome) + "</main>\n</body>\n</html>\n";
}

}  // namespace trireme
