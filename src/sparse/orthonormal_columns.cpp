// SPDX-License-Identifier: BSD-3-Clause
// Cholesky QR over rows that are stored one after another.
#include "sparse/orthonormal_columns.hpp"

#include <algorithm>
#include <cmath>

namespace trireme {
namespace {

constexpr std::int64_t kRowsPerGramPart = 4096;

std::int64_t rows_of(const Modes& modes) {
  return modes.width == 0 ? 0 : std::ssize(modes.values) / modes.width;
}

// The inner products of all pairs of columns, over all ranks. The rows are summed in chunks, which
// are added in their order, so that the number of threads does not change the sums.
std::vector<double> gram_matrix(const Modes& modes, const SumOverRanks& sum) {
  const std::int64_t rows = rows_of(modes), width = modes.width;
  const std::int64_t chunks = (rows + kRowsPerGramPart - 1) / kRowsPerGramPart;
  std::vector<double> parts(chunks * width * width, 0.0);
#pragma omp parallel for schedule(static)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    double* const part = parts.data() + chunk * width * width;
    const std::int64_t end = std::min((chunk + 1) * kRowsPerGramPart, rows);
    for (std::int64_t i = chunk * kRowsPerGramPart; i < end; ++i) {
      const double* const row = modes.values.data() + i * width;
      for (std::int64_t j = 0; j < width; ++j)
        for (std::int64_t k = j; k < width; ++k) part[j * width + k] += row[j] * row[k];
    }
  }
  std::vector<double> gram(width * width, 0.0);
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
    for (std::int64_t e = 0; e < width * width; ++e) gram[e] += parts[chunk * width * width + e];
  sum(gram);
  return gram;
}

// The columns that are independent, and the Cholesky factor of their Gram matrix.
struct Factor {
  std::vector<std::int32_t> kept;
  std::vector<double> r;  // kept x kept, upper triangle

  double& at(std::size_t row, std::size_t column) { return r[row * kept.size() + column]; }
  double at(std::size_t row, std::size_t column) const { return r[row * kept.size() + column]; }
};

Factor cholesky(const std::vector<double>& gram, std::int32_t width) {
  constexpr double kDependent = 1e-12;  // of the square of the longest column
  double longest = 0;
  for (std::int32_t j = 0; j < width; ++j) longest = std::max(longest, gram[j * width + j]);
  std::vector<std::vector<double>> columns;  // of r
  Factor factor;
  for (std::int32_t j = 0; j < width; ++j) {
    std::vector<double> column;
    double rest = gram[j * width + j];
    for (std::size_t k = 0; k < factor.kept.size(); ++k) {
      double product = gram[factor.kept[k] * width + j];
      for (std::size_t l = 0; l < k; ++l) product -= columns[k][l] * column[l];
      column.push_back(product / columns[k][k]);
      rest -= column[k] * column[k];
    }
    if (!(rest > kDependent * longest)) continue;
    column.push_back(std::sqrt(rest));
    columns.push_back(std::move(column));
    factor.kept.push_back(j);
  }
  factor.r.assign(factor.kept.size() * factor.kept.size(), 0.0);
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (std::size_t i = 0; i <= j; ++i) factor.at(i, j) = columns[j][i];
  return factor;
}

// The kept columns times the inverse of R, row by row.
Modes times_inverse(const Modes& modes, const Factor& factor) {
  const std::int64_t rows = rows_of(modes);
  const std::size_t width = factor.kept.size();
  Modes result{.values = Array<double>(rows * width),
               .width = static_cast<std::int32_t>(width),
               .block_size = modes.block_size};
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* const from = modes.values.data() + i * modes.width;
    double* const into = result.values.data() + i * width;
    for (std::size_t j = 0; j < width; ++j) {
      double value = from[factor.kept[j]];
      for (std::size_t k = 0; k < j; ++k) value -= into[k] * factor.at(k, j);
      into[j] = value / factor.at(j, j);
    }
  }
  return result;
}

}  // namespace

std::vector<double> normalise_columns(Modes& modes, const SumOverRanks& sum) {
  const std::int64_t rows = rows_of(modes), width = modes.width;
  const std::vector<double> gram = gram_matrix(modes, sum);
  std::vector<double> norms(width), scales(width, 1.0);
  for (std::int64_t j = 0; j < width; ++j) {
    norms[j] = std::sqrt(gram[j * width + j]);
    if (norms[j] > 0 && std::isfinite(norms[j])) scales[j] = 1 / norms[j];
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < width; ++j) modes.values[i * width + j] *= scales[j];
  return norms;
}

std::vector<std::int32_t> orthonormalise(Modes& modes, const SumOverRanks& sum) {
  std::vector<std::int32_t> left_out;
  const std::int32_t width = modes.width;
  const Factor first = cholesky(gram_matrix(modes, sum), width);
  for (std::int32_t j = 0; j < width; ++j)
    if (!std::ranges::binary_search(first.kept, j)) left_out.push_back(j);
  modes = times_inverse(modes, first);
  modes = times_inverse(modes, cholesky(gram_matrix(modes, sum), modes.width));
  return left_out;
}

}  // namespace trireme
