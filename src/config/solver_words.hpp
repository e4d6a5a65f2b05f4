// SPDX-License-Identifier: BSD-3-Clause
// What the descriptions of keys say about methods and preconditioners, made from their lists by the
// compiler.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/choices.hpp"
#include "config/case.hpp"
#include "solvers/methods/list.hpp"
#include "solvers/preconditioners/list.hpp"

namespace trireme::words {

// A text that does not fit does not compile.
class FixedText {
 public:
  constexpr FixedText& operator+=(std::string_view more) {
    std::copy(more.begin(), more.end(), chars_.begin() + size_);
    size_ += more.size();
    return *this;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a text is what its view shows
  constexpr operator std::string_view() const { return {chars_.data(), size_}; }

 private:
  std::array<char, 1200> chars_{};
  std::size_t size_ = 0;
};

// "cg, minres": the methods whose facts `want`s.
template <class Want>
constexpr FixedText method_names(const Want& want) {
  FixedText text;
  solvers::for_each_method([&](auto entry) {
    const solvers::MethodInfo& info = decltype(entry)::type::info;
    if (!want(info)) return;
    if (!std::string_view(text).empty()) text += ", ";
    text += info.name;
  });
  return text;
}

// Of solver.method.
inline constexpr FixedText kMethods = [] {
  FixedText text;
  text += kAuto;
  text += " (looks at the matrix, and goes on to another method where one fails), ";
  solvers::for_each_method([&](auto entry) {
    const solvers::MethodInfo& info = decltype(entry)::type::info;
    text += info.name;
    text += " (";
    text += info.remark.empty() ? info.matrices : info.remark;
    text += "), ";
  });
  text += kDirect;
  text += " (any square matrix: complete factors, then refinement), ";
  return text += "or a PETSc KSP name such as fgmres";
}();

// Of solver.engine.
inline constexpr FixedText kEngines = [] {
  FixedText text;
  text +=
      "whose Krylov loop solves. petsc: PETSc's own; resident: the resident engine, Trireme's own "
      "loop, which keeps vectors and scalars where the kernel runs and has ";
  text += method_names([](const solvers::MethodInfo&) { return true; });
  return text += "; auto: the resident engine where it has what the case asks for, else PETSc's";
}();

// Of solver.preconditioner.
inline constexpr FixedText kPreconditioners = [] {
  FixedText text;
  text += kAuto;
  text +=
      " (begins with jacobi and changes where another one pays; the default with method auto, "
      "where that of other methods is jacobi), ";
  solvers::for_each_preconditioner_name(
      [&](solvers::PreconditionerKind, const solvers::PreconditionerName& name) {
        text += name.name;
        if (!name.remark.empty()) {
          text += " (";
          text += name.remark;
          text += ")";
        }
        text += ", ";
      });
  return text += "or any other PETSc PC name such as bjacobi, gamg, hypre";
}();

// Of solver.multigrid.smoother.
inline constexpr FixedText kSmoothers = [] {
  FixedText text;
  text +=
      "what smooths the error on each level; auto: chebyshev with methods for symmetric matrices (";
  text += method_names([](const solvers::MethodInfo& info) { return info.symmetric; });
  return text += "), jacobi with other methods";
}();

}  // namespace trireme::words
