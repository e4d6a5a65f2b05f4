// SPDX-License-Identifier: BSD-3-Clause
// A valid value of any key that differs from the one in a case.
#pragma once

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "config/keys.hpp"

namespace trireme::test {

// Whether a key has a value: sections have none.
inline bool has_value(const Key& key) {
  return !std::holds_alternative<field::Section>(key.field) &&
         !std::holds_alternative<field::Sections>(key.field);
}

inline std::string other_word(field::KnownWords known, const std::string& now) {
  const std::vector<std::string> words = known();
  return words.back() != now ? words.back() : words.front();
}

struct SetOther {
  Case& c;

  void operator()(const field::Section&) const {}
  void operator()(const field::Sections&) const {}
  void operator()(const field::Text& f) const {
    f.at(c) = f.known ? other_word(f.known, f.at(c)) : "/another";
  }
  void operator()(const field::TextList& f) const { f.at(c) = {f.known().back()}; }
  void operator()(const field::Choice& f) const { f.assign(c, other_word(f.known, f.word(c))); }
  void operator()(const field::ChoiceList& f) const {
    f.assign(c, {other_word(f.known, f.words(c).front())});
  }
  void operator()(const field::Preconditioner& f) const { f.at(c).emplace("another"); }
  void operator()(const field::Rhs& f) const { f.at(c) = MadeRhs::random; }
  void operator()(const field::Guess& f) const { f.at(c) = Dataset{"/another"}; }
  void operator()(const field::File& f) const { f.at(c) = "another.h5"; }
  void operator()(const field::Directory& f) const { f.at(c) = "another"; }
  void operator()(const field::Integer& f) const { f.at(c) = std::max(f.at(c) + 1, f.min); }
  void operator()(const field::AutoInteger& f) const { f.at(c) = f.min + 1; }
  void operator()(const field::Seed& f) const { ++f.at(c); }
  void operator()(const field::Real& f) const { f.at(c) = 0.5 * f.at(c) + 0.1; }
  void operator()(const field::Duration& f) const { f.seconds(c) = 90; }
  void operator()(const field::Flag& f) const { f.at(c) = !f.at(c); }
  void operator()(const field::PetscOptions&) const { c.petsc.emplace_back("another", "7"); }
};

inline Case with_other_value(const Key& key, Case c) {
  std::visit(SetOther{c}, key.field);
  return c;
}

}  // namespace trireme::test
