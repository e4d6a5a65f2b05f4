// SPDX-License-Identifier: BSD-3-Clause
// Parts of a time, from the tables of figures.
#include <algorithm>
#include <map>

#include "report/account_words.hpp"
#include "report/figures.hpp"
#include "report/multigrid_words.hpp"

namespace trireme::words {
namespace {

// What the run was doing; other figures have names that say it.
std::string_view doing(std::string_view figure) {
  static const std::map<std::string_view, std::string_view> words = {
      {"read", "reading"},   {"tune", "tuning"},    {"order", "ordering"}, {"scale", "scaling"},
      {"build", "building"}, {"setup", "set-up"},   {"renew", "renewing"}, {"solve", "iterating"},
      {"check", "checking"}, {"split", "splitting"}};
  const auto word = words.find(figure);
  return word == words.end() ? figure : word->second;
}

template <class Owner>
std::vector<Part> parts_of(const Owner& owner) {
  std::vector<Part> parts;
  double named = 0;
  for (const json::Figure<Owner>& figure : json::figures<Owner>()) {
    const auto seconds = figure.value(owner).template get<double>();
    if (std::string_view(figure.name) == "total") {
      parts.emplace_back("other", std::max(0.0, seconds - named));
      continue;
    }
    parts.emplace_back(doing(figure.name), seconds);
    named += seconds;
  }
  return parts;
}

}  // namespace

std::vector<Part> parts(const Seconds& s) { return parts_of(s); }
std::vector<Part> parts(const StartSeconds& s) { return parts_of(s); }
std::vector<Part> parts(const MultigridSetUp& s) { return parts_of(s); }

}  // namespace trireme::words
