// SPDX-License-Identifier: BSD-3-Clause
// Everything is said by the table of keys.
#include "explain_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "base/wrap.hpp"
#include "config/key_values.hpp"
#include "config/keys.hpp"
#include "config/unknown_key.hpp"
#include "config/validate.hpp"
#include "shorthands.hpp"

namespace trireme::solve {
namespace {

constexpr std::size_t kWidth = 80;

template <class Integer>
std::string whole_number(const Integer& f) {
  const bool open = f.max == std::numeric_limits<std::int64_t>::max();
  return open ? fmt::format("a whole number, {} or more", f.min)
              : fmt::format("a whole number from {} to {}", f.min, f.max);
}

// The values that a key takes.
struct Allowed {
  std::string operator()(const field::Section&) const { return ""; }
  std::string operator()(const field::Sections&) const { return ""; }
  std::string operator()(const field::Text& f) const {
    return f.known ? "one of " + words(f.known) : "a name";
  }
  std::string operator()(const field::TextList& f) const {
    return "one or a list of " + words(f.known);
  }
  std::string operator()(const field::Choice& f) const { return "one of " + words(f.known); }
  std::string operator()(const field::ChoiceList& f) const {
    return "one or a list of " + words(f.known);
  }
  std::string operator()(const field::Preconditioner&) const { return "a name"; }
  std::string operator()(const field::Rhs&) const { return "a dataset, a file, or a word"; }
  std::string operator()(const field::Guess&) const { return "a dataset, a file, or none"; }
  std::string operator()(const field::File&) const { return "the name of a file"; }
  std::string operator()(const field::Directory&) const { return "the name of a folder"; }
  std::string operator()(const field::Integer& f) const { return whole_number(f); }
  std::string operator()(const field::AutoInteger& f) const {
    return "auto, or " + whole_number(f);
  }
  std::string operator()(const field::Seed&) const { return "a whole number, 0 or more"; }
  std::string operator()(const field::Real& f) const {
    return std::isinf(f.below) ? fmt::format("a number, {} or more", f.min)
                               : fmt::format("a number from {} to below {}", f.min, f.below);
  }
  std::string operator()(const field::Duration&) const { return "a time: 90s, 10m or 1h30m"; }
  std::string operator()(const field::Flag&) const { return "true or false"; }
  std::string operator()(const field::PetscOptions&) const { return "a map of options"; }

  static std::string words(field::KnownWords known) {
    return fmt::format("{}", fmt::join(known(), ", "));
  }
};

std::string default_of(const Key& key) {
  Case usual;
  take_dependent_defaults(usual, {});
  if (const auto* f = std::get_if<field::Integer>(&key.field)) {
    if (f->at(usual) < f->min) return "";
  }
  if (std::holds_alternative<field::Duration>(key.field)) return "";
  return value_of(key, usual);
}

// A valid value, where possible another one than the default.
std::string example_of(const Key& key) {
  if (!key.example.empty()) return std::string(key.example);
  const std::string usual = default_of(key);
  const auto another = [&](field::KnownWords known) {
    const auto words = known();
    return words.back() == usual ? words.front() : words.back();
  };
  if (const auto* f = std::get_if<field::Choice>(&key.field)) return another(f->known);
  if (const auto* f = std::get_if<field::ChoiceList>(&key.field)) return another(f->known);
  if (const auto* f = std::get_if<field::TextList>(&key.field)) return another(f->known);
  if (const auto* f = std::get_if<field::Text>(&key.field); f && f->known)
    return f->known().front();
  if (const auto* f = std::get_if<field::AutoInteger>(&key.field)) return fmt::to_string(f->max);
  if (const auto* f = std::get_if<field::Integer>(&key.field); f && usual.empty())
    return fmt::to_string(f->min);
  if (std::holds_alternative<field::Rhs>(key.field)) return "from-ones";
  if (std::holds_alternative<field::File>(key.field)) return "system.h5";
  if (std::holds_alternative<field::Duration>(key.field)) return "10m";
  if (std::holds_alternative<field::Flag>(key.field)) return usual == "true" ? "false" : "true";
  return usual.empty() ? fmt::format("/{}", key.path.substr(key.path.rfind('.') + 1)) : usual;
}

// "solver: {rtol: 1e-10}" for "solver.rtol".
std::string in_a_case(std::string_view path, const std::string& value) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return fmt::format("{}: {}", path, value);
  return fmt::format("{}: {{{}}}", path.substr(0, dot), in_a_case(path.substr(dot + 1), value));
}

std::string on_the_command_line(const Key& key, const std::string& value) {
  const bool has_blank = value.find(' ') != std::string::npos;
  const std::string word =
      has_blank ? fmt::format("'{}={}'", key.path, value) : fmt::format("{}={}", key.path, value);
  const std::string_view option = shorthand_of(key.path);
  return option.empty() ? fmt::format("--set {}", word)
                        : fmt::format("{} {}, or --set {}", option, value, word);
}

std::string row(std::string_view name, const std::string& text) {
  constexpr std::size_t column = 13;
  if (text.empty()) return "";
  return fmt::format("  {:<{}}", name, column - 2) + wrap(text, kWidth, column, column) + "\n";
}

std::string explain_value(const Key& key) {
  const std::string value = std::visit(Allowed{}, key.field);
  const std::string example = example_of(key);
  std::vector<std::string> beside;
  if (!key.needs.empty()) beside.push_back(fmt::format("goes with {}", key.needs));
  if (!key.excludes.empty()) beside.push_back(fmt::format("does not go with {}", key.excludes));
  return row("value", key.unit.empty() ? value : fmt::format("{} ({})", value, key.unit)) +
         row("default", default_of(key)) + row("keys", fmt::format("{}", fmt::join(beside, "; "))) +
         row("in a case", in_a_case(key.path, example)) +
         row("command", on_the_command_line(key, example));
}

bool is_section(const Key& key) {
  return std::holds_alternative<field::Section>(key.field) ||
         std::holds_alternative<field::Sections>(key.field);
}

std::string explain_section(const Key& section) {
  std::string text;
  for (const std::string& name : names_under(section.path)) {
    const Key& key = *find_key(fmt::format("{}.{}", section.path, name));
    const std::string usual = is_section(key) ? "" : default_of(key);
    text += fmt::format("\n  {}{}\n", key.path, usual.empty() ? "" : ", default " + usual) +
            std::string(6, ' ') + wrap(key.description, kWidth, 6, 6) + "\n";
  }
  return text + fmt::format("\nEach of them: solve --help {}.KEY\n", section.path);
}

}  // namespace

std::string explain_key(const std::string& path) {
  const Key* key = find_key(path.starts_with("petsc.") ? "petsc" : path);
  if (!key) refuse_unknown_key(path, "--help");
  const std::string head = wrap(fmt::format("{}: {}", key->path, key->description), kWidth, 0);
  return head + "\n" + (is_section(*key) ? explain_section(*key) : "\n" + explain_value(*key));
}

}  // namespace trireme::solve
