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
std::string counted(std::int64_t count, const char* one, const char* several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string diagonal_in_short(const MatrixLook& look) {
  if (look.rows == 0) return "no rows";
  if (look.all_positive()) return "a positive diagonal";
  if (look.all_negative()) return "a negative diagonal";
  return look.zero_diagonal > 0 ? "zeros on the diagonal" : "both signs on the diagonal";
}

std::string symmetry_in_words(const MatrixLook& look) {
  if (look.symmetric_values) return "";
  if (look.nearly_symmetric) return "the values differ from those of A^T by rounding";
  return fmt::format("{}the skew part is about {:.1g} of A",
                     look.symmetric_pattern ? "the pattern is symmetric; " : "", look.skew);
}

std::vector<std::string> diagonal_in_words(const MatrixLook& look) {
  std::vector<std::string> parts;
  if (look.zero_diagonal > 0)
    parts.push_back(counted(look.zero_diagonal, "diagonal entry is zero or missing",
                            "diagonal entries are zero or missing"));
  const bool both = look.positive_diagonal > 0 && look.negative_diagonal > 0;
  if (both)
    parts.push_back(fmt::format("{} diagonal entries are positive, {} negative",
                                look.positive_diagonal, look.negative_diagonal));
  return parts;
}

// Empty where the sizes are alike.
std::string sizes_in_words(const std::string& what, const SizeSpan& sizes) {
  if (sizes.greatest < kLikeSizes * sizes.least || sizes.greatest == 0) return "";
  return fmt::format("{} differ in size by 2^{}", what, sizes.powers_of_two());
}

}  // namespace

std::string in_short(const MatrixLook& look) {
  return fmt::format("{}symmetric, with {}", look.symmetric() ? "" : "not ",
                     diagonal_in_short(look));
}

std::string words_of(const MatrixLook& look) {
  std::vector<std::string> parts = {in_short(look), symmetry_in_words(look)};
  for (std::string& words : diagonal_in_words(look)) parts.push_back(std::move(words));
  if (look.rows > 0 && look.dominant_rows == look.rows)
    parts.emplace_back("every row is diagonally dominant");
  if (look.constant_nullspace) parts.emplace_back("the rows add up to zero, so that A is singular");
  if (look.empty_rows > 0)
    parts.push_back(counted(look.empty_rows, "row has no nonzero", "rows have no nonzero"));
  parts.push_back(sizes_in_words("rows", look.row_sizes));
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string words_of(const CloserLook& look) {
  std::vector<std::string> parts;
  if (look.repeated_rows > 0)
    parts.push_back(counted(look.repeated_rows, "row repeats another one", "rows repeat others") +
                    ", so that A is singular");
  if (look.structural_rank && *look.structural_rank < look.rows)
    parts.push_back(fmt::format("its structural rank is {} of {}, so that A is singular",
                                *look.structural_rank, look.rows));
  if (!look.columns_as_rows && look.empty_columns > 0)
    parts.push_back(
        counted(look.empty_columns, "column has no nonzero", "columns have no nonzero"));
  if (!look.columns_as_rows) parts.push_back(sizes_in_words("columns", look.column_sizes));
  if (look.block_size > 1) parts.push_back(fmt::format("rows in blocks of {}", look.block_size));
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace trireme
