// SPDX-License-Identifier: BSD-3-Clause
// What a user chooses by one word, as enumerations, and the only table of those words.
#pragma once

#include <optional>
#include <string_view>

namespace trireme {

// Where a product is computed.
enum class Device { cpu, cuda };

// How a product in FP64 stores the matrix values: `full` in FP64, `mixed` in FP32. x, y and all
// sums are in FP64 either way.
enum class Precision { full, mixed };

// Whose Krylov loop solves: PETSc's, or Trireme's own, the resident engine, which keeps vectors and
// scalars where the kernel runs.
enum class Engine { petsc, resident };

// The order of rows in which a resident solver works: the caller's, reverse Cuthill-McKee, or rows
// clustered for locality.
enum class Ordering { given, rcm, cluster };

// How the rows of the system lie on the ranks: in the order of the file, cut by nonzeros, or by
// graph partitioning.
enum class Distribution { rows, graph };

// What reduces the oscillating part of the error on a level of multigrid.
//   chebyshev     a polynomial of D^-1 A of `degree` for the upper part of the spectrum
//   jacobi        `degree` steps of Jacobi with the weight 4/3 over the spectral radius of D^-1 A
//   l1_jacobi     `degree` steps of Jacobi with the row sums of |a_ij| in place of the diagonal
//   block_jacobi  `degree` steps of Jacobi with the dense diagonal blocks of the nodes
enum class Smoother { chebyshev, jacobi, l1_jacobi, block_jacobi };

// Whether a level of multigrid visits the coarser one once (v) or twice (w).
enum class CycleKind { v, w };

// By which powers of two the rows and columns of a system are multiplied before it is solved.
//   diagonal  one over the square root of the diagonal, in rows and columns
//   ruiz      until the largest entry of each row and of each column is near 1
//   matching  until one entry of each row and of each column, by which they are matched, is near 1
//             and no other one is larger; the columns change their places, so that these entries
//             are the diagonal
enum class Scaling { none, diagonal, ruiz, matching };

enum class ReportFormat { json, csv, html, markdown };

template <class Choice>
struct Word {
  std::string_view word;
  Choice choice;
};

// The words of an enumeration, in the order in which messages list them.
template <class Choice>
struct WordsOf;

template <>
struct WordsOf<Device> {
  static constexpr Word<Device> all[] = {{"cpu", Device::cpu}, {"cuda", Device::cuda}};
};
template <>
struct WordsOf<Precision> {
  static constexpr Word<Precision> all[] = {{"double", Precision::full},
                                            {"mixed", Precision::mixed}};
};
template <>
struct WordsOf<Engine> {
  static constexpr Word<Engine> all[] = {{"petsc", Engine::petsc}, {"resident", Engine::resident}};
};
template <>
struct WordsOf<Ordering> {
  static constexpr Word<Ordering> all[] = {
      {"given", Ordering::given}, {"rcm", Ordering::rcm}, {"cluster", Ordering::cluster}};
};
template <>
struct WordsOf<Distribution> {
  static constexpr Word<Distribution> all[] = {{"rows", Distribution::rows},
                                               {"graph", Distribution::graph}};
};
template <>
struct WordsOf<Smoother> {
  static constexpr Word<Smoother> all[] = {{"chebyshev", Smoother::chebyshev},
                                           {"jacobi", Smoother::jacobi},
                                           {"l1-jacobi", Smoother::l1_jacobi},
                                           {"block-jacobi", Smoother::block_jacobi}};
};
template <>
struct WordsOf<CycleKind> {
  static constexpr Word<CycleKind> all[] = {{"v", CycleKind::v}, {"w", CycleKind::w}};
};
template <>
struct WordsOf<Scaling> {
  static constexpr Word<Scaling> all[] = {{"none", Scaling::none},
                                          {"diagonal", Scaling::diagonal},
                                          {"ruiz", Scaling::ruiz},
                                          {"matching", Scaling::matching}};
};
template <>
struct WordsOf<ReportFormat> {
  static constexpr Word<ReportFormat> all[] = {{"json", ReportFormat::json},
                                               {"csv", ReportFormat::csv},
                                               {"html", ReportFormat::html},
                                               {"markdown", ReportFormat::markdown}};
};

// The word for a choice that is left to Trireme: an empty optional, and a kernel's name.
inline constexpr std::string_view kAuto = "auto";

// The method that factors the matrix and refines x by the factors.
inline constexpr std::string_view kDirect = "direct";

template <class Choice>
requires requires { WordsOf<Choice>::all; }
constexpr std::string_view to_string(Choice choice) {
  for (const auto& entry : WordsOf<Choice>::all)
    if (entry.choice == choice) return entry.word;
  return {};
}

template <class Choice>
requires requires { WordsOf<Choice>::all; }
constexpr std::string_view to_string(const std::optional<Choice>& choice) {
  return choice ? to_string(*choice) : kAuto;
}

// Empty for a word that the enumeration does not have.
template <class Choice>
constexpr std::optional<Choice> choice_of(std::string_view word) {
  for (const auto& entry : WordsOf<Choice>::all)
    if (entry.word == word) return entry.choice;
  return std::nullopt;
}

}  // namespace trireme
