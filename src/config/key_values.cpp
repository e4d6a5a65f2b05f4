// SPDX-License-Identifier: BSD-3-Clause
// The inverse of values.cpp.
#include "config/key_values.hpp"

#include <fmt/ranges.h>

#include <utility>

namespace trireme {
namespace {

struct Print {
  Case& c;

  std::string operator()(const field::Section&) const { return ""; }
  std::string operator()(const field::Sections&) const { return ""; }
  std::string operator()(const field::Text& f) const { return f.at(c); }
  std::string operator()(const field::TextList& f) const { return joined(f.at(c)); }
  std::string operator()(const field::Choice& f) const { return f.word(c); }
  std::string operator()(const field::ChoiceList& f) const { return joined(f.words(c)); }
  std::string operator()(const field::Preconditioner& f) const {
    return f.at(c) ? f.at(c)->name() : std::string(kAuto);
  }
  std::string operator()(const field::Rhs& f) const {
    const std::optional<RightHandSide>& rhs = f.at(c);
    if (!rhs) return std::string(f.automatic ? kAuto : "");
    const auto* const beside = std::get_if<VectorFile>(&*rhs);
    return beside ? in_words(*beside) : to_string(*rhs);
  }
  std::string operator()(const field::Guess& f) const {
    const std::optional<InitialGuess>& x0 = f.at(c);
    if (!x0) return "";
    const auto* const beside = std::get_if<VectorFile>(&*x0);
    return beside ? in_words(*beside) : std::get<Dataset>(*x0).name;
  }
  std::string operator()(const field::File& f) const { return f.at(c).string(); }
  std::string operator()(const field::Directory& f) const { return f.at(c).string(); }
  std::string operator()(const field::Integer& f) const { return fmt::to_string(f.at(c)); }
  std::string operator()(const field::AutoInteger& f) const {
    return f.at(c) ? fmt::to_string(*f.at(c)) : std::string(kAuto);
  }
  std::string operator()(const field::Seed& f) const { return fmt::to_string(f.at(c)); }
  std::string operator()(const field::Real& f) const { return fmt::to_string(f.at(c)); }
  std::string operator()(const field::Duration& f) const {
    return fmt::format("{}s", f.seconds(c));
  }
  std::string operator()(const field::Flag& f) const { return f.at(c) ? "true" : "false"; }
  std::string operator()(const field::PetscOptions&) const {
    std::vector<std::string> options;
    for (const auto& [name, value] : c.petsc) options.push_back(fmt::format("{} {}", name, value));
    return joined(options);
  }

  static std::string in_words(const VectorFile& beside) {
    return fmt::format("{}:{}", beside.file.string(), beside.name);
  }
  static std::string joined(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ", "));
  }
};

bool in_unused_section(const Key& key, const Case& c) {
  for (std::size_t dot = key.path.find('.'); dot != std::string_view::npos;
       dot = key.path.find('.', dot + 1)) {
    const Key* const around = find_key(key.path.substr(0, dot));
    const auto* const section = around ? std::get_if<field::Section>(&around->field) : nullptr;
    if (section && section->in_use && !section->in_use(c)) return true;
  }
  return false;
}

}  // namespace

std::string value_of(const Key& key, Case c) { return std::visit(Print{c}, key.field); }

std::vector<KeyValue> values_that_are(PartOf thing, const Case& c) {
  std::vector<KeyValue> values;
  for (const Key& key : case_keys())
    if (key.part_of.has(thing) && !in_unused_section(key, c))
      values.push_back({key.path, value_of(key, c)});
  return values;
}

}  // namespace trireme
