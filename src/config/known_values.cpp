// SPDX-License-Identifier: BSD-3-Clause
// Most fields know their words; methods and preconditioners have lists of their own.
#include "config/known_values.hpp"

#include "config/solver_words.hpp"

namespace trireme {
namespace {

using KnownList = std::vector<std::string>;

KnownList own_methods() {
  KnownList words = {std::string(kAuto), std::string(kDirect)};
  solvers::for_each_method(
      [&](auto entry) { words.emplace_back(decltype(entry)::type::info.name); });
  return words;
}

KnownList own_preconditioners() {
  KnownList words = {std::string(kAuto), std::string(kLu), std::string(kCholesky)};
  solvers::for_each_preconditioner_name(
      [&](solvers::PreconditionerKind, const solvers::PreconditionerName& name) {
        words.emplace_back(name.name);
      });
  return words;
}

KnownList made_vectors() {
  KnownList words;
  for (const auto& entry : WordsOf<MadeRhs>::all) words.emplace_back(entry.word);
  return words;
}

struct Known {
  template <class Other>
  KnownList operator()(const Other&) const {
    return {};
  }
  KnownList operator()(const field::Text& f) const {
    Case c;
    if (&f.at(c) == &c.solver.method) return own_methods();
    return f.known ? f.known() : KnownList();
  }
  KnownList operator()(const field::TextList& f) const { return f.known(); }
  KnownList operator()(const field::Choice& f) const { return f.known(); }
  KnownList operator()(const field::ChoiceList& f) const { return f.known(); }
  KnownList operator()(const field::Preconditioner&) const { return own_preconditioners(); }
  KnownList operator()(const field::Rhs&) const { return made_vectors(); }
  KnownList operator()(const field::Guess&) const { return {std::string(kNoDataset)}; }
  KnownList operator()(const field::AutoInteger&) const { return {std::string(kAuto)}; }
  KnownList operator()(const field::Flag&) const { return {"true", "false"}; }
};

}  // namespace

std::vector<std::string> known_values(const Key& key) { return std::visit(Known(), key.field); }

}  // namespace trireme
