// SPDX-License-Identifier: BSD-3-Clause
// A look at a matrix in words: what is as a solver likes it in few, what is not with its figures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "distributed/matrix_look.hpp"
#include "distributed/row_sizes.hpp"

namespace trireme {
namespace {

// "1 row", "2 rows"
std::string counted(std::int64_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string symmetry_in_words(const MatrixLook& look) {
  if (look.symmetric_values) return "symmetric";
  if (look.nearly_symmetric) return "symmetric but for rounding";
  return fmt::format("not symmetric{}: the skew part is about {:.1g} of A",
                     look.symmetric_pattern ? ", though the pattern is" : "", look.skew);
}

std::string diagonal_in_words(const MatrixLook& look) {
  if (look.rows == 0) return "no rows";
  if (look.all_positive()) return "positive diagonal";
  if (look.all_negative()) return "negative diagonal";
  std::vector<std::string> parts;
  if (look.zero_diagonal == look.rows)
    parts.emplace_back("no nonzero on the diagonal");
  else if (look.zero_diagonal > 0)
    parts.push_back(fmt::format("{} zero or missing diagonal {}", look.zero_diagonal,
                                look.zero_diagonal == 1 ? "entry" : "entries"));
  if (look.positive_diagonal > 0 && look.negative_diagonal > 0)
    parts.push_back(fmt::format("diagonal of both signs ({} positive, {} negative)",
                                look.positive_diagonal, look.negative_diagonal));
  else if (look.negative_diagonal > 0)
    parts.push_back(fmt::format("{} negative on the diagonal", look.negative_diagonal));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Empty where the sizes are alike.
std::string sizes_in_words(const std::string& what, const SizeSpan& sizes) {
  if (sizes.greatest < kLikeSizes * sizes.least || sizes.greatest == 0) return "";
  return fmt::format("{} differ in size by 2^{}", what, sizes.powers_of_two());
}

}  // namespace

std::string words_of(const MatrixLook& look) {
  const std::string symmetry = symmetry_in_words(look);
  const bool short_words = look.symmetric() && look.zero_diagonal == 0;
  std::vector<std::string> parts;
  if (short_words)
    parts.push_back(symmetry + ", " + diagonal_in_words(look));
  else
    parts = {symmetry, diagonal_in_words(look)};
  if (look.rows > 0 && look.dominant_rows == look.rows)
    parts.emplace_back("every row is diagonally dominant");
  if (look.constant_nullspace) parts.emplace_back("the rows add up to zero, so that A is singular");
  const bool as_rows = look.symmetric_values;
  if (look.empty_rows > 0) parts.push_back(counted(look.empty_rows, "row") + " without a nonzero");
  if (!as_rows && look.empty_columns > 0)
    parts.push_back(counted(look.empty_columns, "column") + " without a nonzero");
  parts.push_back(sizes_in_words("rows", look.row_sizes));
  if (!as_rows) parts.push_back(sizes_in_words("columns", look.column_sizes));
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string words_of(const CloserLook& look) {
  std::vector<std::string> parts;
  if (look.repeated_rows > 0)
    parts.push_back(look.repeated_rows == 1
                        ? "1 row repeats another one"
                        : fmt::format("{} rows repeat another one", look.repeated_rows));
  if (look.block_size > 1) parts.push_back(fmt::format("rows in blocks of {}", look.block_size));
  if (look.structural_rank)
    parts.push_back(fmt::format("structural rank {}", *look.structural_rank));
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace trireme
